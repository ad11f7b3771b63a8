"""Measures, before the training, whether its largest batch fits.

On a CPU the kernel kills a process that takes too much, without a word: there the
memory of a few rows is measured and extended. An accelerator raises an error: there
the batch is tried.
"""

import contextlib
import ctypes
import dataclasses
import threading
from collections.abc import Callable, Iterator

import tensorflow as tf

from trainer_module.loop import free_memory, memory
from trainer_module.loop.memory import Batch, Shape

# (rows of each replica, widths) -> nothing: the gradient of such a batch, forgotten.
# It must not touch weights, optimizer or any state of random numbers.
Run = Callable[[int, tuple[int, ...]], None]

# From here on activations outweigh what a step takes for any number of rows.
_ENOUGH_BYTES = 512 * 2**20
_SECONDS_BETWEEN_SAMPLES = 0.002


def check(
    run: Run, batch: Batch, shape: Shape, *, on_cpu: bool, update_bytes: int = 0
) -> str:
    """Refuses a batch that does not fit.

    Args:
      run: see `Run`; it takes the memory of all replicas on a CPU.
      shape: for a bound that spares the measurement.
      update_bytes: what the training will allocate beside `run`, such as sums of
        gradients.

    Returns:
      How it is known that the batch fits, a sentence for the log.

    Raises:
      Refusal: with the settings that fit.
    """
    if not on_cpu:
        return _try(run, batch)
    free = free_memory.read()
    if free is None:
        return "The memory of a batch was not checked: this system has no /proc."
    bound = memory.bound_bytes(shape, batch.rows * batch.replicas, batch.widths)
    if bound + update_bytes <= free.bytes_free:
        return (
            f"Memory: {batch} needs less than {(bound + update_bytes) / 1e9:.1f} GB by "
            f"the shape of the model; {free.bytes_free / 1e9:.1f} GB of {free.source} "
            "are free."
        )
    found = measure(run, batch, limit_bytes=free.bytes_free // 2)
    free = free_memory.read() or free  # Now that the step is traced.
    free = dataclasses.replace(free, bytes_free=free.bytes_free + found.kept_bytes)
    line = memory.fit(found.points)
    line = memory.Line(line.fixed + update_bytes, line.per_row)
    memory.check(batch, line, free)
    return (
        f"Memory: {batch} needs about {line.at(batch.rows) / 1e9:.1f} GB, as measured "
        f"with up to {found.points[-1][0]} rows; {free.bytes_free / 1e9:.1f} GB of "
        f"{free.source} are free."
    )


@dataclasses.dataclass(frozen=True)
class Measured:
    """What steps of few rows took.

    Attributes:
      points: (rows, bytes at the peak beyond what was held before).
      kept_bytes: what the allocator keeps of it for the next step. oneDNN's gives
        nothing back.
    """

    points: list[tuple[int, int]]
    kept_bytes: int


def measure(run: Run, batch: Batch, *, limit_bytes: int) -> Measured:
    """Runs steps of 1, 2, 4... rows.

    It ends where the activations outweigh the rest, at the batch's own rows, and
    before the next number of rows might take more than `limit_bytes`.
    """
    run(1, batch.widths)  # Traces the step, and allocates what stays.
    _give_back()
    held = _status_bytes("VmRSS")
    points: list[tuple[int, int]] = []
    rows = 1
    while True:
        with _peak() as peak:
            run(rows, batch.widths)
        # Where nothing is given back, the heap keeps what fewer rows left in it.
        points.append((rows, max(0, peak[0] - held)))
        _give_back()
        now = _status_bytes("VmRSS")
        held = min(held, now)
        used = points[-1][1]
        if used >= _ENOUGH_BYTES or rows >= batch.rows or 3 * used > limit_bytes:
            return Measured(points, kept_bytes=now - held)
        rows = min(2 * rows, batch.rows)


def _try(run: Run, batch: Batch) -> str:
    """Runs the batch itself, and halves of it until one fits."""
    rows, why = batch.rows, ""
    while rows:
        try:
            run(rows, batch.widths)
            break
        except tf.errors.ResourceExhaustedError as error:
            why = why or memory.too_large(batch, error)
        rows = -(-rows // 2) if rows > 1 else 0
    if why:
        memory.refuse(batch, why, fits=rows, about="at least ")
    return f"Memory: {batch} was tried, and fits."


@contextlib.contextmanager
def _peak() -> Iterator[list[int]]:
    """Gives a list whose one number is, at the end, the most that was resident."""
    found = [0]
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")  # The high-water mark starts anew; see proc(5).
    except OSError:
        with _sampled(found):  # Some sandboxes have no such file.
            yield found
        return
    yield found
    found[0] = _status_bytes("VmHWM")


@contextlib.contextmanager
def _sampled(found: list[int]) -> Iterator[None]:
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(_SECONDS_BETWEEN_SAMPLES):
            found[0] = max(found[0], _status_bytes("VmRSS"))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _status_bytes(key: str) -> int:
    with open("/proc/self/status", encoding="utf-8") as f:
        for line in f:
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {key}.")


def _give_back() -> None:
    """Makes glibc return freed blocks, which a worker is told to keep otherwise.

    A measurement would find them and take nothing new.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
