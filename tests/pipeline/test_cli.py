"""How commands end: the exit code, and words instead of a traceback."""

import signal
import subprocess
import sys
import tempfile

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


INTERRUPT_AT_IMPORT = """
import builtins, os, runpy, signal, sys
wanted, runner = sys.argv.pop(1), sys.argv.pop(1)
real = builtins.__import__
def importing(name, *rest, **more):
    if name.split(".")[0] == wanted:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest, **more)
builtins.__import__ = importing
runpy.run_path(runner, run_name="__main__")
"""


@pytest.mark.parametrize("module", ["click", "pydantic", "rich"])
def test_interrupt_while_modules_are_imported_leaves_no_traceback(tmp_path, module):
    runner = str(ROOT / "local_runner.py")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT_AT_IMPORT, module, runner, "--root", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in (-signal.SIGINT, 130)
    assert done.stderr == ""


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
