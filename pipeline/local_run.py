"""One run on this machine: lock, worker process, verdict, exit code.

Imports nothing heavy: the answer to a mistake comes within a second.
"""

import contextlib
import datetime
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from pipeline import fingerprints, place, run_record, stopped_page
from pipeline import plan as plans
from pipeline.config import Config, ConfigError
from pipeline.lock import Held, RootLock
from pipeline.plan import Plan
from pipeline.preparing import Options, prepare, unusable
from pipeline.terminal import Terminal
from trainer_module.progress import EVENTS_VARIABLE, DataRefused

OK, NODE_FAILED, USAGE, DATA_REFUSED, NOT_BLESSED, INTERRUPTED = 0, 1, 2, 3, 4, 130
_POLL_SECONDS = 0.2


def run(config: Config, options: Options, terminal: Terminal) -> int:
    """Runs the DAG as far as `options` say, and returns the exit code of the design.

    Raises:
      ConfigError: before anything ran.
    """
    try:
        plan = prepare(config, options)
    except DataRefused as refusal:
        terminal.data_refused(refusal.findings)
        return DATA_REFUSED
    lock = RootLock(str(config.runner.root))
    try:
        lock.acquire(wait=options.wait)
    except Held as held:
        raise ConfigError(str(held)) from held
    except OSError as error:
        raise unusable(error) from error
    try:
        # While this run waited for the lock, another may have promoted a model.
        contents = place.with_served(plan.fingerprints, plan.place)
        plan = plan.model_copy(update={"fingerprints": contents})
        done = None
        if options == Options(wait=options.wait):
            done = run_record.unchanged_since(plan)
        if done:
            terminal.spans(plan.span_notes)
            terminal.nothing_to_do(done)
            return OK
        return _run_worker(plan, terminal, lock)
    finally:
        lock.release()


def _run_worker(plan: Plan, terminal: Terminal, lock: RootLock) -> int:
    started = time.time()
    run_id = datetime.datetime.now().strftime("%Y%m%d-%H%M%S-%f")[:-3]
    run_dir = os.path.join(plans.runs_dir(plan.config), run_id)
    os.makedirs(run_dir)
    plan.write(run_dir)
    interrupted = False
    with signals_interrupt():
        process = _start(run_dir, lock)
        memory = run_record.PeakMemory(process.pid)
        try:
            terminal.start(plan, run_id, run_dir)
            for event in _events(process, run_dir, memory):
                terminal.show(event)
        except KeyboardInterrupt:
            interrupted = True
            terminal.ending()
            _end(process)
        finally:
            terminal.stop()
            if process.stdin:
                process.stdin.close()
    record = run_record.make(
        plan,
        run_id=run_id,
        run_dir=run_dir,
        seconds=time.time() - started,
        peak_memory_mb=memory.megabytes,
        worker_exit_code=process.returncode,
        interrupted=interrupted,
    )
    try:
        run_record.write(record, run_dir)
    except OSError as error:
        terminal.warn(f"summary.json could not be written: {error}.")
    try:
        stopped_page.write_if_missing(record, plan, run_dir)
    except Exception as error:  # The verdict is told, whatever the page is made of.
        terminal.warn(f"report.html could not be written: {error}.")
    terminal.finish(record)
    return int(record["exit_code"])


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """Ctrl-C, an orderly kill and a closed terminal all end the run in order.

    What the caller ignores, as `nohup` does a closed terminal, stays ignored.
    """

    def interrupt(number: int, frame: object) -> None:
        for sign in before:  # The end takes seconds, and is not to be cut short.
            signal.signal(sign, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {
        sign: signal.signal(sign, interrupt)
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(sign) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


# glibc gives every large block back to the system and fetches it again, zeroed, at
# the next step: a fifth of a training's time on a CPU. Kept blocks cost no memory,
# since the next step needs them again. TensorFlow takes oneDNN by itself on newer
# processors of Intel alone; elsewhere it is worth a sixth of a gradient's time.
_FAST_ON_CPU = {
    "TF_ENABLE_ONEDNN_OPTS": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(4 * 10**9),
    "MALLOC_TOP_PAD_": str(256 * 2**20),
}


def _start(run_dir: str, lock: RootLock) -> subprocess.Popen:
    environment = {
        **_FAST_ON_CPU,
        **os.environ,
        "TF_USE_LEGACY_KERAS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(
            filter(None, [fingerprints.project_dir(), os.environ.get("PYTHONPATH")])
        ),
        EVENTS_VARIABLE: os.path.join(run_dir, plans.EVENTS_FILE),
    }
    with open(os.path.join(run_dir, plans.LOG_FILE), "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "pipeline.worker", run_dir],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            pass_fds=[lock.fileno],
            # Ctrl-C reaches this process alone, which then ends the other in order.
            start_new_session=True,
        )


def _events(
    process: subprocess.Popen, run_dir: str, memory: run_record.PeakMemory
) -> Iterator[dict]:
    """Yields the events as they come, until the worker has ended."""
    path = os.path.join(run_dir, plans.EVENTS_FILE)
    position, rest = 0, b""
    while True:
        ended = process.poll() is not None
        if os.path.exists(path):
            with open(path, "rb") as f:
                f.seek(position)
                rest += f.read()
                position = f.tell()
        *lines, rest = rest.split(b"\n")
        yield from run_record.events_of(lines)
        if ended:
            return
        memory.sample()
        yield {"kind": "tick"}
        time.sleep(_POLL_SECONDS)


# A training saves within 30 seconds; whatever else runs ends at once.
_PATIENCE_SECONDS = 30


def _end(process: subprocess.Popen) -> None:
    """Ends the worker and all that it started."""
    for sign, patience_seconds in (
        (signal.SIGTERM, _PATIENCE_SECONDS),
        (signal.SIGKILL, 5),
    ):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience_seconds)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
