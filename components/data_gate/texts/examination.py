"""The DataGate's look at the texts: statistics for the record, notes and limits."""

import json
import os
from collections.abc import Mapping

from tfx.dsl.io import fileio

from components.data_gate.findings import Finding
from components.data_gate.texts import text_notes, text_statistics, token_counts
from components.example_gen import languages
from components.example_gen.settings import DataSettings
from trainer_module import progress
from trainer_module.settings import ModelSettings

STATISTICS_FILE = "text_statistics.json"


def look_at(
    splits: text_notes.Splits,
    *,
    task: str,
    settings: DataSettings,
    checkpoint_dir: str,
    model: ModelSettings,
    limits: Mapping[str, int],
    verdict,
) -> list[Finding]:
    """Writes text_statistics.json, and returns what is to be told of the texts.

    Args:
      splits: the examples of each split.
      task: "classification" or "summarization".
      settings: the `data` section.
      checkpoint_dir: whose tokenizer counts.
      model: where texts are cut off.
      limits: feature -> how many tokens the schema allows.
      verdict: the artifact that gets the file.
    """
    count_tokens = token_counts.counter(checkpoint_dir, model)
    counts = text_statistics.count_all(splits, task, count_tokens)
    statistics = text_statistics.summarise(
        splits, counts, model=model, detect=languages.detector()
    )
    with fileio.open(os.path.join(verdict.uri, STATISTICS_FILE), "w") as file:
        file.write(json.dumps(statistics, indent=1, ensure_ascii=False))
    # TFX removes what a node that fails has written; the event stays.
    progress.report("text_statistics", statistics=statistics)
    positions = token_counts.max_positions(checkpoint_dir)
    return [
        *text_notes.too_long(splits, counts, limits=limits, settings=settings),
        *text_notes.notes(statistics, positions=positions),
    ]
