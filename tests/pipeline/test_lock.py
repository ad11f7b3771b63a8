"""One run at a time for a root."""

import os
import signal
import subprocess
import sys

import pytest

from pipeline.lock import Held, RootLock

HOLD = (
    "import sys, time; from pipeline.lock import RootLock; "
    "lock = RootLock(sys.argv[1]); lock.acquire(); print('held', flush=True); "
    "time.sleep(60)"
)


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_second_run_is_refused_with_the_holders_pid(tmp_path, holder):
    with pytest.raises(Held, match=rf"pid {holder.pid}\).*--wait"):
        RootLock(str(tmp_path)).acquire()


def test_lock_of_a_killed_holder_is_taken_over(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    lock = RootLock(str(tmp_path))
    lock.acquire()
    assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
    lock.release()


def test_waiting_ends_when_the_holder_lets_go(tmp_path, holder):
    waiter = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pipeline.lock import RootLock; "
            "print('asking', flush=True); RootLock(sys.argv[1]).acquire(wait=True); "
            "print('got it', flush=True)",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert waiter.stdout.readline() == "asking\n"
    with pytest.raises(subprocess.TimeoutExpired):
        waiter.wait(0.5)
    holder.kill()
    assert waiter.communicate(timeout=10)[0] == "got it\n"
