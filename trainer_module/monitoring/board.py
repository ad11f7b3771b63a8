"""The training's curves, samples and settings, as TensorBoard's event files."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorboard.plugins.hparams import api as hp
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams.summary import session_end_pb
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorflow.python.ops.summary_ops_v2 import import_event

from trainer_module.loop.events import Epoch, Listener, Update
from trainer_module.monitoring import graph, hyperparameters, projector, texts, weights
from trainer_module.monitoring.curves import Curves
from trainer_module.monitoring.notes import in_a_line, note, only_noted
from trainer_module.settings import TrainerSettings

_SECONDS_BETWEEN_FLUSHES = 10


class Board(Listener):
    """Writes what happens into `folder`, and never ends the training.

    A folder that cannot be written to is noted once; from then on nothing is written.

    Args:
      folder: of this training alone, the same one after a resume.
      settings: of the training.
      resumed_at: updates done by earlier processes. What these wrote of later ones,
        which are done again, is no longer shown.
      trial: what the table of hyperparameters calls this training, e.g. the run's id;
        trainings of the same name are one row. Defaults to a name of its own.
    """

    def __init__(
        self,
        folder: str,
        *,
        settings: TrainerSettings,
        resumed_at: int = 0,
        trial: str | None = None,
    ):
        self.folder = folder
        self._trial = trial or _own_name(folder)
        self._settings = settings.train.tensorboard
        self._updates = resumed_at
        self._curves = Curves()
        self._scalars: dict[str, Any] = {}
        self._writer: tf.summary.SummaryWriter | None = None
        try:
            self._writer = tf.summary.create_file_writer(
                folder, flush_millis=1000 * _SECONDS_BETWEEN_FLUSHES
            )
        except (tf.errors.OpError, OSError) as error:
            self._give_up(error)
        # The first start of all tells a reader that the next one is a resume.
        self._write(lambda: import_event(_start_after(resumed_at)))

    def started(self, nested: Mapping[str, Any]) -> None:
        """Writes the hyperparameters; see `hyperparameters.flat`."""
        flat = hyperparameters.flat(nested)
        self._write_summaries([hp.hparams_pb(flat, trial_id=self._trial)], step=0)
        self.flush()

    def updated(self, update: Update) -> None:
        self._updates = update.number
        self._write_scalars(self._curves.add(update))

    def saving(self) -> None:
        """What came before a checkpoint is on the disk with it."""
        self.flush()

    def validated(self, epoch: Epoch) -> None:
        self._updates = epoch.updates
        self._write_scalars({f"eval/{name}": v for name, v in epoch.metrics.items()})
        samples = epoch.samples[: self._settings.sample_outputs]
        if samples:
            best = ", the best so far" if epoch.best else ""
            title = f"Epoch {epoch.number} of {epoch.epochs}{best}"
            text = f"{title}\n\n{texts.table(samples)}"
            self._write_summaries([text_pb("samples", text)], step=epoch.updates)
        self.flush()

    def finished(self, metrics: Mapping[str, float]) -> None:
        """Writes the metrics of the exported weights, and that the training is over."""
        self._write_scalars(self._curves.rest())
        self._write_scalars({f"final/{name}": v for name, v in metrics.items()})
        over = session_end_pb(api_pb2.STATUS_SUCCESS)
        self._write_summaries([over], step=self._updates)
        self.flush()

    def flush(self) -> None:
        """Puts all that was written on the disk; call it before a checkpoint."""
        self._write(lambda: self._writer.flush())

    def close(self) -> None:
        self._write(lambda: self._writer.close())
        self._writer = None

    # --- what needs the model ---------------------------------------------------------

    def histograms(self, group: str, arrays: Iterable[tuple[str, Any]]) -> None:
        """Writes `weights.write` of (name, array) pairs; does nothing if they are off.

        Args:
          group: "weights" or "gradients".
          arrays: of which nothing is asked where they are off.
        """
        if self._settings.histograms:
            with only_noted(f"Histograms of the {group} were not written"):
                self._write(lambda: weights.write(group, arrays, step=self._updates))

    def graph(self, trace: Callable[[], tf.Graph]) -> None:
        """Writes the graph that `trace` gives; see `graph.write`."""
        with only_noted("The model's graph was not written for TensorBoard"):
            self._write(lambda: graph.write(trace()))

    def embeddings(self, embeddings: Sequence[projector.Embedding]) -> None:
        """Writes them for the projector, in place of earlier ones."""
        if self._writer is not None:
            with only_noted("Embeddings were not written for TensorBoard's projector"):
                projector.write(self.folder, embeddings)

    # --- writing ----------------------------------------------------------------------

    def _write_scalars(self, scalars: Mapping[str, float] | None) -> None:
        if scalars:
            pbs = [self._scalar(tag, value) for tag, value in scalars.items()]
            self._write_summaries(pbs, step=self._updates)

    def _scalar(self, tag: str, value: float) -> Any:
        # Making one takes ten times as long as filling in another value.
        made = self._scalars.get(tag) or scalar_pb(tag, 0.0)
        made.value[0].tensor.float_val[:] = [value]
        self._scalars[tag] = made
        return made

    def _write_summaries(self, summaries: Sequence[Any], *, step: int) -> None:
        # As one: a call costs more than what it writes.
        joined = b"".join(s.SerializeToString() for s in summaries)
        self._write(lambda: tf.summary.experimental.write_raw_pb(joined, step=step))

    def _write(self, write: Callable[[], Any]) -> None:
        if self._writer is None:
            return
        try:
            with self._writer.as_default():
                write()
        except (tf.errors.OpError, OSError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._writer = None
        note(
            f"TensorBoard's files in {self.folder} cannot be written: "
            f"{in_a_line(error)}. The training goes on, and is no longer shown there."
        )


def _own_name(folder: str) -> str:
    """Differs from that of a training with the same settings in another folder."""
    return hashlib.sha256(os.path.abspath(folder).encode()).hexdigest()[:12]


def _start_after(updates: int) -> bytes:
    """The event by which a reader drops what came after so many updates."""
    start = tf.compat.v1.SessionLog(status=tf.compat.v1.SessionLog.START)
    event = tf.compat.v1.Event(
        wall_time=time.time(), step=updates + 1, session_log=start
    )
    return event.SerializeToString()
