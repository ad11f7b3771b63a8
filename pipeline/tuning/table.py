"""The trials of a study as a table for people: CSV, one line a trial. Pure."""

import csv
import io
from collections.abc import Sequence

from pipeline import whole_file
from pipeline.tuning.space import typed
from pipeline.tuning.trials import Trial


def write(path: str, trials: Sequence[Trial], *, keys: Sequence[str]) -> None:
    """Writes the table, whole or not at all.

    Args:
      path: of the file.
      trials: in the order of the lines.
      keys: of the settings, one column each.

    Raises:
      OSError: if the disk does not take it.
    """
    names = ["trial", "state", "value", "best_epoch", *keys, "seconds", "run", "reason"]
    written = io.StringIO(newline="")
    lines = csv.writer(written)
    lines.writerow(names)
    for trial in trials:
        settings = [
            typed(trial.settings[key]) if key in trial.settings else "" for key in keys
        ]
        lines.writerow(
            [
                trial.number,
                trial.state,
                trial.value,
                trial.epoch,
                *settings,
                None if trial.seconds is None else round(trial.seconds, 1),
                trial.run_id,
                trial.reason,
            ]
        )
    whole_file.write(path, written.getvalue())
