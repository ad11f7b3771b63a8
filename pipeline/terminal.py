"""What a person sees of a run: progress while it lasts, the verdict at its end."""

import contextlib
import os
import shlex
import shutil
import sys
import time
import unicodedata
from collections.abc import Mapping, Sequence
from typing import IO, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from pipeline import evaluation_shown
from pipeline import plan as plans
from pipeline.plan import Plan

Event = dict[str, Any]

_SECONDS_BETWEEN_PLAIN_LINES = 30.0
_RANDOM_WEIGHTS = (
    "This T5 was made here, with random weights. From a few hundred rows such a model "
    "learns little: its summaries are no measure of what T5 can do. Set "
    "`model.checkpoint` to a pretrained T5 for real use."
)


class Terminal:
    """Shows the events of one run.

    On a terminal a live line tells what runs now; elsewhere (CI, a pipe) plain lines
    do, one a node and one every half minute of training.
    """

    def __init__(self, file: IO[str] | None = None):
        self._console = Console(file=file, highlight=False, emoji=False, soft_wrap=True)
        self._live: Live | None = None
        self._running: dict[str, float] = {}
        self._training: Event | None = None
        self._rows_read: dict[int, int] = {}
        self._evaluated: dict[int, float] = {}  # When each batch was done.
        self._batches = 0
        self._told_plain = 0.0
        self._account: dict[str, Any] | None = None
        self._plan: Plan | None = None
        self._log: str | None = None

    def start(self, plan: Plan, run_id: str, run_dir: str) -> None:
        self._plan = plan
        self._log = os.path.join(run_dir, plans.LOG_FILE)
        job = plan.config
        self._say((job.name, "bold"), f" ({job.task}), run {run_id}")
        self._say((f"log: {short_path(self._log)}", "dim"))
        if job.model.checkpoint == "create":
            self._say((_RANDOM_WEIGHTS, "yellow"))
        self.spans(plan.span_notes)
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, refresh_per_second=8, transient=True
            )
            self._live.start()
        self._running["loading TensorFlow and TFX"] = time.monotonic()

    def show(self, event: dict[str, Any]) -> None:
        handler = getattr(self, f"_on_{event['kind']}", None)
        if handler:
            handler(event)
        if self._live:
            self._live.update(self._now())

    def stop(self) -> None:
        if self._live:
            self._live.stop()
            self._live = None

    # --- events -------------------------------------------------------------------

    def _on_running(self, event: Event) -> None:
        self._running.clear()

    def _on_checkpoint(self, event: Event) -> None:
        self._say(f"  {event['action']} the checkpoint in {short_path(event['path'])}")

    def _on_node_started(self, event: Event) -> None:
        self._running[event["node"]] = time.monotonic()
        self._training = None

    def _on_node_finished(self, event: Event) -> None:
        self._running.pop(event["node"], None)
        self._training = None
        how = "reused" if event["cached"] else "done"
        note = ""
        if event["node"] == "ExampleGen" and self._account:
            note = account_in_words(self._account)
        self._node_line(event["node"], how, event["seconds"], note)

    def _on_node_failed(self, event: Event) -> None:
        self._running.pop(event["node"], None)
        how = "refused" if event["refused"] else "failed"
        self._node_line(event["node"], how, event["seconds"], style="red")

    def _on_reading(self, event: Event) -> None:
        self._rows_read[event["portion"]] = event["rows"]

    def _on_evaluating(self, event: Event) -> None:
        self._evaluated[event["batch"]] = event["time"]
        self._batches = event["batches"]

    def _on_data(self, event: Event) -> None:
        self._account = event["account"]

    def _on_data_gate(self, event: Event) -> None:
        for note in event.get("notes", []):
            self._say("  ", ("note", "yellow"), f" {_message(note)}")

    def _on_note(self, event: Event) -> None:
        self._say("  ", ("note", "yellow"), f" {event['message']}")

    def _on_training(self, event: Event) -> None:
        done, updates = event["updates_before"], event["updates"]
        self._training = {"steps": updates, "step": done}
        if event["resumed"]:
            self._say(f"  going on at update {done} of {updates}")
        parameters, learning = event["parameters"], event["trainable_parameters"]
        if learning < parameters:
            share = f"{learning / parameters:.1%}"
            self._say(f"  {learning:,} of {parameters:,} parameters learn ({share})")
        # A time left that is told at once would be a guess.
        self._told_plain = time.monotonic()

    def _on_step(self, event: Event) -> None:
        self._training = event
        since_told = time.monotonic() - self._told_plain
        if self._live or since_told < _SECONDS_BETWEEN_PLAIN_LINES:
            return
        self._told_plain = time.monotonic()
        self._say(f"  Trainer            {_training_in_words(event)}")

    def _on_epoch(self, event: Event) -> None:
        metrics = "".join(
            f", {name} {value:.3f}"
            for name, value in event["metrics"].items()
            if name != "loss"
        )
        text = (
            f"  epoch {event['epoch']}/{event['epochs']}: loss {event['loss']:.3f}, "
            f"on the eval split {event['validation_loss']:.3f}{metrics}, "
            f"{event['seconds']:.0f} s"
        )
        self._say((text, "dim"))

    # --- the end ------------------------------------------------------------------

    def ending(self) -> None:
        """The run is being interrupted."""
        if self._training:
            self._say(("Interrupted: the training is being saved ...", "yellow"))

    def data_refused(self, findings: Sequence[str]) -> None:
        """The data was refused before a run began."""
        self._verdict("red", "Data refused. Nothing ran; production is unchanged.")
        self._list(findings)

    def spans(self, notes: Sequence[str]) -> None:
        """Which deliveries are read; a line in yellow for each that is not as usual."""
        for number, note in enumerate(notes):
            self._say("  data: ", (note, "yellow" if number else ""))

    def warn(self, text: str) -> None:
        self._say((text, "yellow"))

    def nothing_to_do(self, record: dict[str, Any]) -> None:
        version = record["push"]["pushed_version"]
        self._say(
            ("Nothing to do.", "bold green"),
            " Data, configuration, code and checkpoint are those of run "
            f"{record['run_id']}, whose model is version {version}.",
        )
        self._scores(record)
        self._ways_on(record)

    def finish(self, record: dict[str, Any]) -> None:
        """The verdict in words, the figures, and the ways on."""
        outcome, failure = record["outcome"], record["failure"]
        self._say("")
        if outcome == "pushed":
            version = record["push"]["pushed_version"]
            self._verdict(
                "green", f"Promoted: version {version} is the model to serve."
            )
            self._list(evaluation_shown.why(record))
        elif outcome == "not blessed":
            self._verdict("red", "Not promoted. Production is unchanged.")
            self._list(evaluation_shown.why_not(record))
        elif outcome == "data refused":
            where = failure["node"]
            self._verdict("red", f"Data refused by {where}. Production is unchanged.")
            self._list(failure["findings"])
        elif outcome == "done":
            self._verdict(
                "green",
                "Done: the chosen part of the DAG has run. Production is unchanged.",
            )
        else:
            where = f" in {failure['node']}" if failure["node"] else ""
            self._verdict("red", f"{outcome.capitalize()}{where}.")
            self._list(failure["findings"])
        self._scores(record)
        made_here = record["config"]["model"]["checkpoint"] == "create"
        if made_here and record["evaluation"]:
            self._say((_RANDOM_WEIGHTS, "yellow"))
        seconds, memory_mb = record["seconds"], record["peak_memory_mb"]
        self._say((f"{seconds:.0f} s, peak memory {memory_mb} MB", "dim"))
        self._ways_on(record)

    def _scores(self, record: dict[str, Any]) -> None:
        evaluation = record["evaluation"]
        if evaluation is None or not evaluation["metrics"]:
            return
        self._console.print(evaluation_shown.table(record))
        half = "Half of the interval is behind ±"
        self._say((f"{half} ({evaluation['confidence']:.0%} confidence).", "dim"))
        for line in evaluation_shown.comparisons(record):
            self._say(line)
        for note in evaluation_shown.notes(evaluation):
            self._say(("note", "yellow"), f" {note}")

    def _ways_on(self, record: dict[str, Any]) -> None:
        if record["push"] and record["push"].get("pushed") == 1:
            example = shlex.quote(_EXAMPLES[record["config"]["task"]])
            served = short_path(os.path.dirname(record["push"]["pushed_destination"]))
            ask = f"{texttune_command()} ask --model {shlex.quote(served)} {example}"
            self._say(f"Ask it:  {ask}")
        run_dir = os.path.dirname(record["log"])
        for label, name in (
            ("Rejected rows:", plans.REJECTED_FILE),
            ("Report:", plans.REPORT_FILE),
            ("Record:", "summary.json"),
        ):
            path = os.path.join(run_dir, name)
            if os.path.exists(path) and os.path.getsize(path):
                self._say(f"{label}  {short_path(path)}")
        if record["failure"] and record["outcome"] != "data refused":
            self._say(f"Log:     {short_path(record['log'])}")

    # --- pieces -------------------------------------------------------------------

    def _say(self, *parts: str | tuple[str, str]) -> None:
        """Prints one line of text and (text, style) as it is: data is no markup."""
        styled = [part if isinstance(part, tuple) else (part, "") for part in parts]
        text = Text.assemble(*((visible(text), style) for text, style in styled))
        text.rstrip()
        self._console.print(text)
        self._note(text.plain)

    def _note(self, text: str) -> None:
        """The log holds what was said too, among the libraries' lines."""
        if self._log is None or not text:
            return
        # A full disk stops the run itself; its verdict must still be told.
        with contextlib.suppress(OSError), open(self._log, "a", encoding="utf-8") as f:
            f.write(f"{time.strftime('%H:%M:%S')} texttune: {text.strip()}\n")

    def _verdict(self, colour: str, text: str) -> None:
        self._say((text, f"bold {colour}"))

    def _list(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            self._say(f"  - {sentence}")

    def _node_line(
        self, node: str, how: str, seconds: float, note: str = "", style: str = ""
    ) -> None:
        self._say(f"  {node:<18} ", (f"{how:<8}", style), f" {seconds:6.1f} s   {note}")

    def _now(self) -> Group:
        lines: list[Any] = []
        for node, since in self._running.items():
            seconds = time.monotonic() - since
            if node == "Trainer" and self._training:
                lines.append(_training_line(self._training))
            elif node == "ExampleGen" and self._rows_read:
                rows = sum(self._rows_read.values())
                lines.append(Spinner("dots", text=f"{node} {rows:,} rows read"))
            elif node == "Evaluator" and self._evaluated:
                lines.append(_evaluating_line(self._evaluated, self._batches))
            else:
                lines.append(Spinner("dots", text=f"{node} ({seconds:.0f} s)"))
        return Group(*lines)


_EXAMPLES = {
    "classification": "my card was stolen on the train",
    "summarization": "I sent 200 to my landlord on Monday and it has not arrived.",
}


def account_in_words(account: dict[str, Any]) -> str:
    """The row account in one line."""
    files = account["files"]
    read, kept = sum(f["rows_read"] for f in files), sum(f["kept"] for f in files)
    parts = [f"{read:,} rows read", f"{kept:,} kept"]
    parts += [f"{count:,} {split}" for split, count in account["splits"].items()]
    rejected: dict[str, int] = {}
    for file in files:
        for reason, count in file["rejected"].items():
            rejected[reason] = rejected.get(reason, 0) + count
    parts += [f"{n:,} rejected ({reason})" for reason, n in sorted(rejected.items())]
    left_out = sum(f["left_out"] for f in files)
    parts += [f"{left_out:,} left out"] if left_out else []
    if several := sum(f["rows_of_several_lines"] for f in files):
        most = max(f["most_lines"][0] for f in files if f["most_lines"])
        parts.append(f"{several:,} over several lines (at most {most})")
    return ", ".join(parts)


def _training_line(event: Event) -> Table:
    row = Table.grid(padding=(0, 1))
    row.add_row(
        Spinner("dots", text="Trainer"),
        ProgressBar(total=event["steps"], completed=event["step"], width=30),
        _training_in_words(event) if "loss" in event else "compiling the step",
    )
    return row


def _evaluating_line(done: Mapping[int, float], batches: int) -> Table:
    row = Table.grid(padding=(0, 1))
    times = sorted(done.values())
    left = ""
    if len(done) > 1:
        each = (times[-1] - times[0]) / (len(done) - 1)
        left = f", {_clock(each * (batches - len(done)))} left"
    row.add_row(
        Spinner("dots", text="Evaluator"),
        ProgressBar(total=batches, completed=len(done), width=30),
        f"batch {len(done)}/{batches}{left}",
    )
    return row


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


def _training_in_words(event: dict[str, Any]) -> str:
    return (
        f"epoch {event['epoch']}/{event['epochs']}, step {event['step']}/"
        f"{event['steps']}, loss {event['loss']:.3f}, "
        f"{event['examples_per_second']:.0f} examples/s, "
        f"{_clock(event['seconds_left'])} left"
    )


def texttune_command() -> str:
    """How to call `texttune` from here, also where no environment is active."""
    if shutil.which("texttune"):
        return "texttune"
    beside = os.path.join(os.path.dirname(sys.executable), "texttune")
    return shlex.quote(short_path(beside))


def _message(finding: Any) -> str:
    return finding["message"] if isinstance(finding, dict) else str(finding)


def visible(text: str) -> str:
    """Control characters of the data would control the terminal, or turn its lines."""
    return "".join(
        c.encode("unicode_escape").decode() if _controls(c) else c for c in text
    )


# What ends a line, and what turns the direction of all that follows.
_TURNING = frozenset(
    "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def _controls(character: str) -> bool:
    if character in "\n\t":
        return False
    return character in _TURNING or unicodedata.category(character) == "Cc"


def short_path(path: str) -> str:
    """Relative to the working directory where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
