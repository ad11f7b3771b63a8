"""What a person sees of a search: a line for each trial, and what was found."""

from collections.abc import Mapping, Sequence
from typing import IO, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from pipeline.terminal import Terminal, short_path, texttune_command
from pipeline.tuning.space import Space, Values, in_short, shown
from pipeline.tuning.trials import Trial, best_first

_TOP = 5


class TrialTerminal(Terminal):
    """One trial's run: quiet but for a live line; what it tells goes to its log.

    Attributes:
      record: of the run; None if none ended.
      refused: what is wrong with the data, where no run began.
    """

    def __init__(self, title: str, file: IO[str] | None = None):
        super().__init__(file)
        self._title = title
        self.record: dict[str, Any] | None = None
        self.refused: tuple[str, ...] = ()

    def finish(self, record: dict[str, Any]) -> None:
        self.record = record

    def data_refused(self, findings: Sequence[str]) -> None:
        self.refused = tuple(findings)

    def warn(self, text: str) -> None:
        super()._say((text, "yellow"))

    def ending(self) -> None:
        if self._training:
            text = "Interrupted: the trial's training is being saved ..."
            super()._say((text, "yellow"))

    def _say(self, *parts: str | tuple[str, str]) -> None:
        self._note(
            "".join(part if isinstance(part, str) else part[0] for part in parts)
        )

    def _now(self) -> Group:
        return Group(Text(self._title, style="dim"), super()._now())


class SearchTerminal(Terminal):
    """The search as a whole.

    Args:
      metric: that the trials are compared by.
      direction: "min" or "max".
      file: where it is written. Defaults to standard output.
    """

    def __init__(self, *, metric: str, direction: str, file: IO[str] | None = None):
        super().__init__(file)
        self._metric, self._direction = metric, direction

    def header(
        self, study: str, space: Space, trials: Sequence[Trial], total: int
    ) -> None:
        better = {"min": "lower", "max": "higher"}[self._direction]
        self._say(
            (study, "bold"),
            f": {total} trials, compared by {self._metric} of the eval split "
            f"({better} is better)",
        )
        width = max(map(len, space.keys))
        for setting in space.settings:
            self._say(f"  {setting.key:<{width}}  {setting.in_words}")
        for key in (key for key in space.keys if key.startswith("model.")):
            self.note(f"{key}: DataGate and Transform run for each of its values.")
        if done := sum(trial.counts for trial in trials):
            best = best_first(trials, direction=self._direction)
            told = f"; the best so far is {shown(best[0].value)}" if best else ""
            self._say(f"{done} of {total} are done already{told}.")

    def note(self, text: str) -> None:
        self._say("  ", ("note", "yellow"), f" {text}")

    def trial(self, trials: Sequence[Trial], last: Trial) -> None:
        """One trial has ended; `trials` are all of them, with it."""
        best = best_first(trials, direction=self._direction)
        best_text = f"best {shown(best[0].value)}" if best else ""
        is_best = bool(best) and best[0].number == last.number
        if last.value is None:
            outcome = ("failed", "red")
        else:
            told = f"{self._metric} {shown(last.value)}"
            outcome = (told, "green" if is_best else "")
        width = len(self._metric) + 8
        self._say(
            f"  trial {last.number:<4}",
            (f"{outcome[0]:<{width}}", outcome[1]),
            f" {best_text:<12} {last.seconds or 0:5.0f} s  {in_short(last.settings)}",
            _as_before(trials, last),
        )
        if last.reason:
            where = f" (run {last.run_id})" if last.run_id else ""
            self._say((f"    {last.reason}{where}", "dim"))

    def ended(
        self,
        best: Sequence[Trial],
        *,
        why: str,
        importances: Mapping[str, float],
        way_on: str,
        table: str,
    ) -> None:
        """What was found.

        Args:
          best: the trials with a value, the best first.
          why: a sentence, where the search ended before all trials were done.
          importances: by key; may be empty.
          way_on: the words after `texttune` that train with the best settings.
          table: the file of all trials.
        """
        self._say("")
        if why:
            self._say((why, "yellow"))
        if best:
            self._best(best, importances)
        else:
            self._verdict(
                "red", "No trial ended with a value, so no settings are told."
            )
        self._say(f"All trials:  {short_path(table)}")
        if best:
            self._say(f"Use it:      {texttune_command()} {way_on}")

    def interrupted(self, command: str) -> None:
        self._say(("Interrupted. The trials that ended are kept.", "yellow"))
        self._say(f"Go on with:  {texttune_command()} {command}")

    def _best(self, best: Sequence[Trial], importances: Mapping[str, float]) -> None:
        first = best[0]
        self._verdict(
            "green",
            f"Best: {self._metric} {shown(first.value)} in trial {first.number}, after "
            f"epoch {first.epoch}.",
        )
        self._console.print(_table(best[:_TOP], self._metric))
        if importances:
            shares = (f"{key} {share:.0%}" for key, share in importances.items())
            self._say(f"Importance:  {', '.join(shares)}")
        self._say(
            (
                "The eval split has chosen these settings, so their value on it is a "
                "little flattered.",
                "dim",
            )
        )


def _as_before(trials: Sequence[Trial], last: Trial) -> str:
    """Says where a trial has its value from, if not from a training."""
    for trial in trials:
        same = trial.settings == last.settings and trial.run_id == last.run_id
        if trial.number < last.number and same and trial.value is not None:
            return f" (as trial {trial.number})"
    return ""


def _table(trials: Sequence[Trial], metric: str) -> Table:
    keys = list(trials[0].settings)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("trial", metric, *keys):
        table.add_column(name, justify="right")
    table.add_column("run")
    for trial in trials:
        table.add_row(
            str(trial.number),
            shown(trial.value),
            *(Text(_cell(trial.settings, key)) for key in keys),
            trial.run_id or "",
        )
    return table


def _cell(settings: Values, key: str) -> str:
    return shown(settings[key]) if key in settings else ""
