"""How commands end: the exit code, and words instead of a traceback."""

import signal
import subprocess
import sys
import tempfile
import time

import click
import pytest

from pipeline import cli
from pipeline.config import ConfigError
from tests.pipeline.conftest import ROOT
from trainer_module.progress import DataRefused


@pytest.fixture
def kept_in(tmp_path, monkeypatch):
    """Where tracebacks go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "error, code, said",
    [
        (ConfigError("data.train: no"), 2, "data.train: no"),
        (DataRefused("row 7 is bad"), 3, "row 7 is bad"),
        (click.UsageError("no such option"), 2, "no such option"),
        (KeyboardInterrupt(), 130, ""),
        (ModuleNotFoundError("x", name="tfx"), 1, "package 'tfx' is not installed"),
        (KeyError("x"), 1, "this should not happen: KeyError: 'x'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_error_ends_with_its_code_and_words(error, code, said, capsys, kept_in):
    @click.command()
    def command():
        raise error

    with pytest.raises(SystemExit) as ended:
        cli.exit_with(command, [])
    assert ended.value.code == code
    shown = capsys.readouterr().err
    assert said in shown and "Traceback" not in shown


def test_traceback_of_a_bug_is_kept_in_a_file(capsys, kept_in):
    @click.command()
    def command():
        raise KeyError("x")

    with pytest.raises(SystemExit):
        cli.exit_with(command, [])
    (kept,) = kept_in.iterdir()
    assert str(kept) in capsys.readouterr().err
    assert 'raise KeyError("x")' in kept.read_text()


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.6])
def test_interrupt_before_the_run_begins_leaves_no_traceback(tmp_path, seconds):
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "local_runner.py"), "--root", str(tmp_path / "r")],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode in (-signal.SIGINT, 130)
    assert "Traceback" not in shown


def test_other_python_is_told_what_to_do():
    # Without site-packages: as if the packages had not been installed.
    done = subprocess.run(
        [sys.executable, "-S", str(ROOT / "local_runner.py"), "--help"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "is not installed for" in done.stderr and "make setup" in done.stderr
    assert "Traceback" not in done.stderr
