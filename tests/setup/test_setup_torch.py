"""How set-up gets PyTorch, with made-up machines: no network, no install."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "sh dirname timeout sed tail rm cat cut df awk date grep mkdir chmod touch"
    " sha256sum flock"
).split()
OTHER_VERSION = "#!/bin/sh\nexit 1\n"  # What the probe answers under Python 3.12.
WITHOUT_PYTORCH = "going on without PyTorch: the parity test will be skipped"

# A Python 3.11 whose venv has a pip that writes down what it is asked for.
WORKS = """#!/bin/sh
case "$*" in
'-m venv '*)
    mkdir -p "$3/bin"
    cat "$0" >"$3/bin/python"
    chmod +x "$3/bin/python" ;;
'-m pip '*)
    echo "$*" >>pip-calls
    [ ! -e offline ] || { echo "ERROR: No wheel"; exit 1; } ;;
'-c import torch'*)
    [ ! -e broken ] || { echo "ImportError: libc"; exit 1; } ;;
esac
"""


class Machine:
    """A PATH that holds nothing but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.repo, self.bin = folder / "repo", folder / "bin"
        (self.repo / "scripts").mkdir(parents=True)
        self.bin.mkdir()
        shutil.copy(ROOT / "scripts/setup-torch.sh", self.repo / "scripts")
        shutil.copy(ROOT / "requirements-torch.lock", self.repo)
        for name in NEEDED:
            tool = shutil.which(name)
            assert tool, f"the machine has no {name}"
            (self.bin / name).symlink_to(tool)
        self.environment = {"PATH": str(self.bin)}

    def put(self, name: str, script: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "scripts/setup-torch.sh", *arguments],
            cwd=self.repo,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def pip_calls(self) -> list[str]:
        calls = self.repo / "pip-calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.put("python3.11", WORKS)
    return machine


def test_lock_is_installed_with_its_hashes_and_nothing_else(machine):
    result = machine.run()
    assert result.returncode == 0, result.stderr
    (call,) = machine.pip_calls()
    assert "--no-deps --require-hashes" in call
    assert call.endswith("-r requirements-torch.lock")
    assert "PyTorch is ready after" in result.stderr


def test_second_call_does_and_says_nothing(machine):
    machine.run()
    machine.pip_calls()
    result = machine.run()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert machine.pip_calls() == []


def test_changed_lock_is_installed_anew(machine):
    machine.run()
    with (machine.repo / "requirements-torch.lock").open("a") as lock:
        lock.write("# changed\n")
    (machine.repo / ".venv-torch" / "old").touch()
    assert machine.run().returncode == 0
    assert len(machine.pip_calls()) == 2
    assert not (machine.repo / ".venv-torch" / "old").exists()


def test_python3_of_the_right_version_is_taken(machine):
    machine.put("python3.11", OTHER_VERSION)
    machine.put("python3", WORKS)
    assert machine.run().returncode == 0


def test_no_python_gives_one_line_that_says_what_to_install(machine):
    machine.put("python3.11", OTHER_VERSION)
    result = machine.run()
    (line,) = result.stderr.splitlines()
    assert result.returncode == 1
    assert "needs a Python 3.11 with venv" in line
    assert "uv python install 3.11" in line


def test_named_python_that_is_another_is_refused(machine):
    machine.put("mine", OTHER_VERSION)
    machine.environment["PYTHON311"] = str(machine.bin / "mine")
    result = machine.run()
    assert result.returncode == 1
    assert f"PYTHON311={machine.bin / 'mine'} is not a CPython 3.11" in result.stderr


@pytest.mark.parametrize(
    ("fault", "reason"), [("offline", "No wheel"), ("broken", "ImportError: libc")]
)
def test_failed_install_says_why_and_is_tried_again(machine, fault, reason):
    (machine.repo / fault).touch()
    result = machine.run()
    assert result.returncode == 1
    assert reason in result.stderr.splitlines()[-1]
    assert "PIP_EXTRA_INDEX_URL" in result.stderr
    (machine.repo / fault).unlink()
    assert machine.run().returncode == 0


def test_optional_goes_on_without_pytorch_and_says_so(machine):
    (machine.repo / "offline").touch()
    result = machine.run("--optional")
    assert result.returncode == 0
    assert "No wheel" in result.stderr
    assert result.stderr.splitlines()[-1] == f"texttune: {WITHOUT_PYTORCH}"


def test_little_disk_is_said_before_anything_is_installed(machine):
    machine.put("df", "#!/bin/sh\necho header\necho /dev/x 9 9 1048576 9% /\n")
    result = machine.run()
    assert result.returncode == 1
    assert "has 1 GB" in result.stderr
    assert machine.pip_calls() == []


def test_both_environments_have_the_same_release_of_transformers():
    found = [
        re.search(r"^transformers==(\S+)", (ROOT / name).read_text(), re.MULTILINE)[1]
        for name in ("requirements.lock", "requirements-torch.lock")
    ]
    assert found[0] == found[1]
