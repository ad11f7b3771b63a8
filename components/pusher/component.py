"""Pusher: puts a blessed model where TensorFlow Serving finds it, or says why not.

TFX's own Pusher with another executor. The stock one pushes what nobody checked, copies
straight into the folder that the server watches, and numbers versions by the clock.
"""

import json
import os
from typing import Any

from tfx import types
from tfx.components.pusher import component as stock_component
from tfx.components.pusher import executor as stock_executor
from tfx.dsl.components.base import base_component, executor_spec
from tfx.dsl.io import fileio
from tfx.proto import pusher_pb2
from tfx.types import (
    artifact_utils,
    component_spec,
    standard_artifacts,
    standard_component_specs,
)
from tfx.utils import json_utils, proto_utils

from components import artifacts
from components.data_gate.drift.profile import PROFILE_FILE
from components.data_gate.drift.served import PROFILE_PATH
from components.pusher import run_facts
from serving import promotion
from trainer_module import progress

PUSHED_FILE = "pushed.json"
VERDICT_KEY = "verdict"
EVALUATION_KEY, ACCOUNT_KEY = "evaluation", "account"
TITLE_KEY, FACTS_KEY = "title", "facts"

_REQUIRED_BLESSINGS = {
    standard_component_specs.MODEL_BLESSING_KEY: "the gate (Evaluator)",
    standard_component_specs.INFRA_BLESSING_KEY: "the check of the export (ModelCheck)",
}


class Executor(stock_executor.Executor):
    """Publishes the model if, and only if, both blessings are there and say yes."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes, or marks the model as not pushed; both are a success of the node.

        Args:
          input_dict: `model` (Model), `model_blessing` (ModelBlessing),
            `infra_blessing` (InfraBlessing), and `verdict` (DataVerdict) with the
            profile of the train split, which is published with the model; `evaluation`
            (ModelEvaluation) and `account` (DataAccount) for the run's facts, which
            are published too.
          output_dict: `pushed_model` (PushedModel). Gets the custom properties
            `pushed`, `pushed_version` and `pushed_destination`, and pushed.json;
            not a copy of the model, which the pipeline keeps as `model` anyway.
          exec_properties: `push_destination` (JSON of a PushDestination), `title` and
            `facts` of the job, and `custom_config`, which only takes part in the cache
            key.

        Raises:
          promotion.PromotionError: blessed, but it could not be published.
          RuntimeError: blessed, but there is no profile of its data.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        pushed_model = artifact_utils.get_single_instance(
            output_dict[standard_component_specs.PUSHED_MODEL_KEY]
        )
        reasons = self._reasons_not_to_push(input_dict)
        if reasons:
            self._MarkNotPushed(pushed_model)
            _record(pushed_model, pushed=False, reasons=reasons)
            return
        base_dir = _base_directory(exec_properties)
        publication = promotion.publish(
            self.GetModelPath(input_dict),
            base_dir,
            extra_files={PROFILE_PATH: _profile(input_dict)},
            notes={run_facts.FACTS_PATH: self._facts(input_dict, exec_properties)},
        )
        destination = os.path.join(base_dir, str(publication.version))
        self._MarkPushed(
            pushed_model,
            pushed_destination=destination,
            pushed_version=str(publication.version),
        )
        _record(
            pushed_model,
            pushed=True,
            reasons=[],
            version=publication.version,
            created=publication.created,
            destination=destination,
        )

    def _facts(
        self,
        input_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> bytes:
        # Of a cluster's run the orchestrator's id is the only one that there is.
        of_pipeline = self._context and self._context.pipeline_run_id
        return run_facts.make(
            title=exec_properties[TITLE_KEY],
            run_id=progress.run_id() or of_pipeline,
            facts=json.loads(exec_properties[FACTS_KEY]),
            account=_json(input_dict[ACCOUNT_KEY], "account.json"),
            evaluation=_json(input_dict[EVALUATION_KEY], "evaluation.json"),
            model_check=_json(
                input_dict[standard_component_specs.INFRA_BLESSING_KEY], "check.json"
            ),
        )

    def _reasons_not_to_push(
        self, input_dict: dict[str, list[types.Artifact]]
    ) -> list[str]:
        """Fails closed: a verdict that is absent is a refusal, not a yes."""
        reasons = []
        for key, judge in _REQUIRED_BLESSINGS.items():
            blessing = input_dict.get(key)
            if not blessing:
                reasons.append(f"no verdict of {judge}: `{key}` is missing")
            elif not self.CheckBlessing({key: blessing}):
                reasons.append(f"not blessed by {judge}")
        return reasons


class PusherSpec(standard_component_specs.PusherSpec):
    """The stock one, and what is published about the model."""

    INPUTS = {
        **standard_component_specs.PusherSpec.INPUTS,
        VERDICT_KEY: component_spec.ChannelParameter(type=artifacts.DataVerdict),
        EVALUATION_KEY: component_spec.ChannelParameter(
            type=standard_artifacts.ModelEvaluation
        ),
        ACCOUNT_KEY: component_spec.ChannelParameter(type=artifacts.DataAccount),
    }
    PARAMETERS = {
        **standard_component_specs.PusherSpec.PARAMETERS,
        TITLE_KEY: component_spec.ExecutionParameter(type=str),
        FACTS_KEY: component_spec.ExecutionParameter(type=str),
    }


class Pusher(stock_component.Pusher):
    """Publishes the model as the next version, once both checks have blessed it.

    Args:
      model: channel of Model; its SavedModel is published.
      model_blessing: channel of ModelBlessing, the gate's verdict.
      infra_blessing: channel of InfraBlessing, the verdict of the check of the export.
      verdict: channel of DataVerdict, DataGate's; its profile goes with the model.
      evaluation: channel of ModelEvaluation, for the facts that go with the model.
      account: channel of DataAccount, likewise.
      push_destination: PushDestination with `filesystem.base_directory`, the folder
        that the server watches. Its `versioning` is not read: versions count up.
      title: name of the job.
      facts: JSON with task, checkpoint, hashes and config; see `run_facts.make`.
      custom_config: plain values for the cache key, like {"code": hash}.
    """

    SPEC_CLASS = PusherSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        model: types.BaseChannel,
        model_blessing: types.BaseChannel,
        infra_blessing: types.BaseChannel,
        verdict: types.BaseChannel,
        evaluation: types.BaseChannel,
        account: types.BaseChannel,
        push_destination: pusher_pb2.PushDestination,
        title: str,
        facts: str,
        custom_config: dict[str, Any] | None = None,
    ):
        inputs = {
            "model": model,
            "model_blessing": model_blessing,
            "infra_blessing": infra_blessing,
            VERDICT_KEY: verdict,
            EVALUATION_KEY: evaluation,
            ACCOUNT_KEY: account,
            "push_destination": push_destination,
        }
        missing = sorted(name for name, value in inputs.items() if value is None)
        if missing:
            raise ValueError(
                f"Pusher needs all of {sorted(inputs)}: it pushes nothing that was "
                f"not checked. Missing: {missing}."
            )
        spec = PusherSpec(
            **inputs,
            title=title,
            facts=facts,
            custom_config=json_utils.dumps(custom_config),
            pushed_model=types.Channel(type=standard_artifacts.PushedModel),
        )
        # Past the stock constructor, which makes a spec without the verdict.
        base_component.BaseComponent.__init__(self, spec=spec)


def _profile(input_dict: dict[str, list[types.Artifact]]) -> bytes:
    verdict = artifact_utils.get_single_instance(input_dict[VERDICT_KEY])
    path = os.path.join(verdict.uri, PROFILE_FILE)
    if not fileio.exists(path):
        raise RuntimeError(
            f"There is no {path}, so the next run could not tell whether its data has "
            "drifted from this model's: an earlier release has made this verdict. Run "
            "again from DataGate: `--from DataGate`."
        )
    with fileio.open(path, "rb") as file:
        return file.read()


def _json(channel: list[types.Artifact], name: str) -> Any:
    """The JSON in a file of an artifact; None if it was never written."""
    path = os.path.join(artifact_utils.get_single_instance(channel).uri, name)
    if not fileio.exists(path):
        return None
    with fileio.open(path) as file:
        return json.loads(file.read())


def _base_directory(exec_properties: dict[str, Any]) -> str:
    received = exec_properties[standard_component_specs.PUSH_DESTINATION_KEY]
    destination = pusher_pb2.PushDestination()
    proto_utils.json_to_proto(received, destination)
    if not destination.filesystem.base_directory:
        raise ValueError(
            "`push_destination` must have a `filesystem.base_directory`. "
            f"Received: {received!r}."
        )
    return destination.filesystem.base_directory


def _record(pushed_model: types.Artifact, **fields: Any) -> None:
    with fileio.open(os.path.join(pushed_model.uri, PUSHED_FILE), "w") as file:
        file.write(json.dumps(fields, indent=2))
    progress.report("push", **fields)
