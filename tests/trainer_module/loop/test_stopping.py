"""SIGTERM while a training runs, and while none does."""

import os
import signal
import subprocess
import sys
import threading

from trainer_module.loop import stopping


def test_sigterm_during_a_training_asks_and_the_old_handler_comes_back():
    before = signal.getsignal(signal.SIGTERM)
    with stopping.listening():
        assert not stopping.requested()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.requested()
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_was_asked_of_one_training_is_not_asked_of_the_next():
    with stopping.listening():
        stopping.request()
    with stopping.listening():
        assert not stopping.requested()


def test_request_tells_whether_there_is_a_training():
    assert stopping.request() is False
    with stopping.listening():
        assert stopping.request() is True
    assert stopping.request() is False


def test_training_in_another_thread_is_asked_by_the_process_own_handler():
    asked = []

    def train():
        with stopping.listening():
            inside.set()
            go_on.wait(5)
            asked.append(stopping.requested())

    inside, go_on = threading.Event(), threading.Event()
    before = signal.signal(signal.SIGTERM, stopping.end_process_unless_training)
    try:
        thread = threading.Thread(target=train)
        thread.start()
        inside.wait(5)
        os.kill(os.getpid(), signal.SIGTERM)
        go_on.set()
        thread.join(5)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert asked == [True]


def test_process_without_a_training_ends_at_once():
    code = (
        "import os, signal; from trainer_module.loop import stopping; "
        "signal.signal(signal.SIGTERM, stopping.end_process_unless_training); "
        "os.kill(os.getpid(), signal.SIGTERM); print('still here')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "")
