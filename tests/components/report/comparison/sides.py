"""Two runs that are compared, from what they answered."""

from components.report.comparison import answered
from components.report.comparison.core import Side
from tests import evaluated


def side(run_id, rows, answers, *, kept=True, **changed):
    made = evaluated.record(rows, answers, run_id, **changed)
    if not kept:
        return Side(run_id, made, None, f"the answers of run {run_id} are gone.")
    return Side(run_id, made, answered.read(evaluated.lines(rows, answers)))


def of_labels(rows, one, other, **changed):
    """Two runs on the same rows, by their predictions."""
    return (
        side("1", rows, evaluated.labelled(one)),
        side("2", rows, evaluated.labelled(other), **changed),
    )
