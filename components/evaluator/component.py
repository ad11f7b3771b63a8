"""Evaluator: asks the models about the eval split, scores them, and decides.

Its artifacts are those of TFX's own Evaluator, and hold what TFMA's readers open; the
scores are not TFMA's: see `tfma_files`.
"""

import json
import os
from typing import Any

from tfx import types
from tfx.components.evaluator import constants
from tfx.dsl.components.base import (
    base_beam_component,
    base_beam_executor,
    executor_spec,
)
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, component_spec, standard_artifacts
from tfx.utils import path_utils

from components.evaluator import core, predictions, tfma_files, untuned
from components.evaluator.asking import ask
from components.evaluator.comparing import Asked
from components.evaluator.gate import BASELINE, CANDIDATE
from components.evaluator.reading import read_rows
from components.evaluator.rows import Rows
from components.evaluator.settings import GateSettings

EVALUATION_FILE = "evaluation.json"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Blesses the candidate if every bound of the gate that can be judged holds."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the evaluation and the blessing.

        Args:
          input_dict: `examples` (Examples, raw), `model` (Model), `model_run` (ModelRun
            with the answers of the untuned checkpoint) and, if a model was ever
            blessed, `baseline_model` (Model).
          output_dict: `evaluation` (ModelEvaluation: evaluation.json,
            predictions.jsonl, and TFMA's files) and `blessing` (ModelBlessing).
          exec_properties: `gate` (JSON of `GateSettings`) and `task`. `code` only takes
            part in the cache key.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        gate = GateSettings.model_validate_json(exec_properties["gate"])
        task = exec_properties["task"]
        output = artifact_utils.get_single_instance(output_dict["evaluation"])
        (examples,) = input_dict["examples"]
        rows = read_rows(examples, gate)
        models = _models(input_dict, gate)
        asked = ask(
            self._make_beam_pipeline,
            rows.sources,
            {name: path_utils.serving_model_path(m.uri) for name, m in models.items()},
            task=task,
            folder=os.path.join(output.uri, "answers"),
        )
        (model_run,) = input_dict["model_run"]
        asked = untuned.join(asked, model_run.uri, rows.example_ids)
        found = core.evaluate(rows, asked, gate, task=task)
        _write(output.uri, found, rows, asked)
        tfma_files.write(
            found,
            output.uri,
            data_location=examples.uri,
            model_locations={name: model.uri for name, model in models.items()},
        )
        (blessing,) = output_dict["blessing"]
        _bless(blessing, found, models=models)


class _EvaluatorSpec(component_spec.ComponentSpec):
    INPUTS = {
        "examples": component_spec.ChannelParameter(type=standard_artifacts.Examples),
        "model": component_spec.ChannelParameter(type=standard_artifacts.Model),
        "model_run": component_spec.ChannelParameter(type=standard_artifacts.ModelRun),
        "baseline_model": component_spec.ChannelParameter(
            type=standard_artifacts.Model, optional=True
        ),
    }
    OUTPUTS = {
        "evaluation": component_spec.ChannelParameter(
            type=standard_artifacts.ModelEvaluation
        ),
        "blessing": component_spec.ChannelParameter(
            type=standard_artifacts.ModelBlessing
        ),
    }
    PARAMETERS = {
        name: component_spec.ExecutionParameter(type=str)
        for name in ("gate", "task", "code")
    }


class Evaluator(base_beam_component.BaseBeamComponent):
    """Decides whether a model is good enough.

    Args:
      examples: channel of Examples, raw; the eval split is asked about.
      model: channel of Model, the candidate.
      model_run: channel of ModelRun, the Trainer's.
      baseline_model: channel of Model, the one blessed last; it may be empty.
      gate: JSON of `GateSettings`.
      task: "classification" or "summarization".
      code: fingerprint of this project's code; a part of the cache key, not read.
    """

    SPEC_CLASS = _EvaluatorSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self,
        *,
        examples: types.BaseChannel,
        model: types.BaseChannel,
        model_run: types.BaseChannel,
        baseline_model: types.BaseChannel,
        gate: str,
        task: str,
        code: str,
    ):
        spec = _EvaluatorSpec(
            examples=examples,
            model=model,
            model_run=model_run,
            baseline_model=baseline_model,
            gate=gate,
            task=task,
            code=code,
            evaluation=types.Channel(type=standard_artifacts.ModelEvaluation),
            blessing=types.Channel(type=standard_artifacts.ModelBlessing),
        )
        super().__init__(spec=spec)


def _models(
    input_dict: dict[str, list[types.Artifact]], gate: GateSettings
) -> dict[str, types.Artifact]:
    models = {CANDIDATE: artifact_utils.get_single_instance(input_dict["model"])}
    baseline = input_dict.get("baseline_model")
    if baseline and gate.baseline == "compare":
        models[BASELINE] = artifact_utils.get_single_instance(baseline)
    return models


def _write(folder: str, found: dict[str, Any], rows: Rows, asked: Asked) -> None:
    with fileio.open(os.path.join(folder, EVALUATION_FILE), "w") as file:
        file.write(json.dumps(found, indent=1))
    path = os.path.join(folder, predictions.PREDICTIONS_FILE)
    with fileio.open(path, "w") as file:
        for line in predictions.lines(rows, asked.answers):
            file.write(line)


def _bless(
    blessing: types.Artifact,
    found: dict[str, Any],
    *,
    models: dict[str, types.Artifact],
) -> None:
    """As TFX's own Evaluator does it, for those who read its blessings.

    Its file is empty; here it holds why: a line for each check, failed ones first.
    """
    blessed = found["blessed"]
    candidate, baseline = models[CANDIDATE], models.get(BASELINE)
    keys = constants
    blessing.set_string_custom_property(
        keys.ARTIFACT_PROPERTY_CURRENT_MODEL_URI_KEY, candidate.uri
    )
    blessing.set_int_custom_property(
        keys.ARTIFACT_PROPERTY_CURRENT_MODEL_ID_KEY, candidate.id
    )
    if baseline is not None:
        blessing.set_string_custom_property(
            keys.ARTIFACT_PROPERTY_BASELINE_MODEL_URI_KEY, baseline.uri
        )
        blessing.set_int_custom_property(
            keys.ARTIFACT_PROPERTY_BASELINE_MODEL_ID_KEY, baseline.id
        )
    name = keys.BLESSED_FILE_NAME if blessed else keys.NOT_BLESSED_FILE_NAME
    with fileio.open(os.path.join(blessing.uri, name), "w") as file:
        for sentence in core.reasons(found):
            # Lone surrogates stand for bytes that are not UTF-8.
            file.write(sentence.encode("utf-8", "replace").decode("utf-8") + "\n")
    blessing.set_int_custom_property(keys.ARTIFACT_PROPERTY_BLESSED_KEY, int(blessed))
