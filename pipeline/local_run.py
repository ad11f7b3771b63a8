"""One run on this machine: checks, lock, worker process, verdict, exit code.

Imports nothing heavy: the answer to a mistake comes within a second.
"""

import dataclasses
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from components.example_gen import reading
from pipeline import checkpoints, fingerprints, nodes, place, run_record
from pipeline import plan as plans
from pipeline.config import Config, ConfigError
from pipeline.lock import Held, RootLock
from pipeline.plan import Plan
from pipeline.terminal import Terminal
from trainer_module.progress import EVENTS_VARIABLE, DataRefused

OK, NODE_FAILED, USAGE, DATA_REFUSED, NOT_BLESSED, INTERRUPTED = 0, 1, 2, 3, 4, 130
_MIN_FREE_MB = 500
_POLL_SECONDS = 0.2


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command line says beyond the configuration."""

    from_node: str | None = None
    to_node: str | None = None
    use_cache: bool = True
    wait: bool = False


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
    try:
        done = None
        if options == Options(wait=options.wait):
            done = run_record.unchanged_since(plan)
        if done:
            terminal.nothing_to_do(done)
            return OK
        return _run_worker(plan, terminal, lock)
    finally:
        lock.release()


def prepare(config: Config, options: Options) -> Plan:
    """Checks all that can be checked cheaply, and says what the run will be.

    Raises:
      ConfigError: for a path, node or folder that cannot be used.
      DataRefused: for a data file that cannot be read or lacks a column.
    """
    for key in ("train", "eval"):
        path = getattr(config.data, key)
        if path is None or "://" in path:
            continue
        if not os.path.exists(path):
            raise ConfigError(f"data.{key}: there is no file {path}.")
        reading.check_columns(path, config.data)
    here = place.local(config, checkpoints.locate(config))
    _check_nodes(config, options)
    _prepare_root(config)
    here = here.model_copy(
        update={"schema_file": _keep_schema(config, here.schema_file)}
    )
    return Plan(
        config=config,
        place=here,
        fingerprints=place.fingerprint(config, here),
        from_node=options.from_node,
        to_node=options.to_node,
        enable_cache=options.use_cache and options.from_node is None,
    )


def _check_nodes(config: Config, options: Options) -> None:
    known = nodes.of_dag(reviewed_schema=config.data.reviewed_schema is not None)
    for flag, node in (("--from", options.from_node), ("--to", options.to_node)):
        if node is not None and node not in known:
            raise ConfigError(
                f"{flag} {node}: there is no such node. Allowed: {', '.join(known)}."
            )
    if options.from_node and not os.path.exists(plans.metadata_path(config)):
        raise ConfigError(
            f"--from {options.from_node}: there is no earlier run in "
            f"{config.runner.root} to take the nodes before it from. Run without "
            "--from."
        )


def _prepare_root(config: Config) -> None:
    for key, folder in (
        ("runner.root", str(config.runner.root)),
        ("serving.dir", str(config.serving.dir)),
    ):
        try:
            os.makedirs(folder, exist_ok=True)
            probe = os.path.join(folder, f".probe-{os.getpid()}")
            with open(probe, "w", encoding="utf-8") as f:
                f.write("x")
            os.remove(probe)
        except OSError as error:
            raise ConfigError(
                f"{key}: {folder} cannot be written to: {error.strerror}. Choose "
                "another folder with --root."
            ) from error
        free_mb = shutil.disk_usage(folder).free // 2**20
        if free_mb < _MIN_FREE_MB:
            raise ConfigError(
                f"{key}: {folder} has {free_mb} MB of free space; a run needs at least "
                f"{_MIN_FREE_MB} MB. Make room, or choose another folder with --root."
            )


def _keep_schema(config: Config, path: str | None) -> str | None:
    """A copy named by its content: ImportSchemaGen's cache key is the path alone."""
    if path is None:
        return None
    name = f"{fingerprints.of_file(path)[:16]}.pbtxt"
    kept = os.path.join(str(config.runner.root), "schemas", name)
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        shutil.copyfile(path, f"{kept}.incomplete")
        os.replace(f"{kept}.incomplete", kept)
    return kept


def _run_worker(plan: Plan, terminal: Terminal, lock: RootLock) -> int:
    started = time.time()
    run_id = datetime.datetime.now().strftime("%Y%m%d-%H%M%S-%f")[:-3]
    run_dir = os.path.join(plans.runs_dir(plan.config), run_id)
    os.makedirs(run_dir)
    plan.write(run_dir)
    terminal.start(plan, run_id, run_dir)
    process = _start(run_dir, lock)
    memory = run_record.PeakMemory(process.pid)
    interrupted = False
    try:
        for event in _events(process, run_dir, memory):
            terminal.show(event)
    except KeyboardInterrupt:
        interrupted = True
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
    terminal.finish(record)
    return int(record["exit_code"])


# glibc gives every large block back to the system and fetches it again, zeroed, at
# the next step: a fifth of a training's time on a CPU. Kept blocks cost no memory,
# since the next step needs them again.
_KEEP_LARGE_BLOCKS = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(4 * 10**9),
    "MALLOC_TOP_PAD_": str(256 * 2**20),
}


def _start(run_dir: str, lock: RootLock) -> subprocess.Popen:
    environment = {
        **_KEEP_LARGE_BLOCKS,
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
        yield from map(json.loads, lines)
        if ended:
            return
        memory.sample()
        yield {"kind": "tick"}
        time.sleep(_POLL_SECONDS)


def _end(process: subprocess.Popen) -> None:
    """Ends the worker and all that it started."""
    for sign, patience_seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience_seconds)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
