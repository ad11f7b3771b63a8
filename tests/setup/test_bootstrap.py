"""How set-up finds Python 3.10, with made-up machines: no network, no install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "sh dirname timeout sed tr sort mkdir rm cat cut df awk date grep ls uname"
    " sha256sum flock touch tail"
).split()

WORKS = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
REFUSES = "#!/bin/sh\necho 'pyenv: python3.10: command not found' >&2\nexit 127\n"
OTHER_VERSION = "#!/bin/sh\nexit 2\n"  # What the probe answers under Python 3.12.
NO_HEADERS = "#!/bin/sh\nexit 3\n"
HANGS = "#!/bin/sh\nexec sleep 300\n"


class Machine:
    """A home and a PATH that hold nothing but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.repo = folder / "repo"
        self.home = folder / "home of someone"
        self.bin = folder / "bin"
        for path in (self.repo / "scripts", self.home, self.bin):
            path.mkdir(parents=True)
        for name in ("bootstrap.sh", "uv.lock", "zig.lock"):
            shutil.copy(ROOT / "scripts" / name, self.repo / "scripts")
        for name in ("requirements.in", "requirements.lock", "setup.py"):
            shutil.copy(ROOT / name, self.repo)
        for name in NEEDED:
            tool = shutil.which(name)
            assert tool, f"the machine has no {name}"
            (self.bin / name).symlink_to(tool)
        self.environment = {"PATH": str(self.bin), "HOME": str(self.home)}

    def put(self, path: Path, script: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
        return path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "scripts/bootstrap.sh", *arguments],
            cwd=self.repo,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def found(self) -> str:
        result = self.run("--find-python")
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""
        return result.stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def uv_that(find: str = "exit 2", install: str = "exit 2") -> str:
    """Returns a uv whose `python find` and `python install` do as told."""
    return f"""#!/bin/sh
case "$*" in
--version) echo 'uv 0.9.1' ;;
'python find --managed-python 3.10') cat "$0.installed" ;;
'python find'*) {find} ;;
'python install'*) {install} ;;
esac
"""


def only_line(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 1
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_python_on_path_is_found(machine):
    python = machine.put(machine.bin / "python3.10", WORKS)
    assert machine.found() == str(python)


def test_shim_that_refuses_is_passed_over_for_the_next_on_path(machine, tmp_path):
    machine.put(machine.bin / "python3.10", REFUSES)
    real = machine.put(tmp_path / "usr" / "python3.10", WORKS)
    machine.environment["PATH"] += f":{real.parent}"
    assert machine.found() == str(real)


def test_shim_that_refuses_is_passed_over_for_pyenvs_newest(machine):
    machine.put(machine.bin / "python3.10", REFUSES)
    versions = machine.home / ".pyenv" / "versions"
    for version in ("3.9.18", "3.10.2", "3.10.13", "3.11.7"):
        machine.put(versions / version / "bin" / "python", WORKS)
    assert machine.found() == str(versions / "3.10.13" / "bin" / "python")


def test_pyenv_root_is_respected(machine, tmp_path):
    python = machine.put(tmp_path / "p" / "versions/3.10.1/bin/python", WORKS)
    machine.environment["PYENV_ROOT"] = str(tmp_path / "p")
    assert machine.found() == str(python)


def test_python_that_uv_knows_is_found(machine, tmp_path):
    python = machine.put(tmp_path / "managed" / "python3.10", WORKS)
    machine.put(machine.bin / "uv", uv_that(find=f'echo "{python}"'))
    assert machine.found() == str(python)


def test_uv_installs_a_python_when_it_knows_none(machine, tmp_path):
    python = machine.put(tmp_path / "managed" / "python3.10", WORKS)
    uv = uv_that(install=f'echo "{python}" > "$0.installed"')
    machine.put(machine.bin / "uv", uv)
    assert machine.found() == str(python)


def test_uv_is_fetched_with_any_python_when_there_is_none(machine, tmp_path):
    python = machine.put(tmp_path / "managed" / "python3.10", WORKS)
    uv = machine.put(tmp_path / "uv", uv_that(find=f'echo "{python}"'))
    # A Python of another version, whose pip "installs" the uv above.
    pip = f"""#!/bin/sh
case "$2" in
install)
    while [ "$1" != --target ]; do shift; done
    mkdir -p "$2/bin" && cat "{uv}" > "$2/bin/uv" && chmod +x "$2/bin/uv" ;;
*) echo /its/pip ;;
esac
"""
    (machine.bin / "chmod").symlink_to(shutil.which("chmod"))
    machine.put(machine.bin / "python3", pip)
    assert machine.found() == str(python)


def test_python_without_headers_is_passed_over_when_there_is_another(machine):
    machine.put(machine.bin / "python3.10", NO_HEADERS)
    python = machine.put(machine.home / ".pyenv/versions/3.10.1/bin/python", WORKS)
    assert machine.found() == str(python)


def test_named_python_goes_before_all_others(machine, tmp_path):
    machine.put(machine.bin / "python3.10", WORKS)
    named = machine.put(tmp_path / "mine" / "python", WORKS)
    machine.environment["PYTHON310"] = str(named)
    assert machine.found() == str(named)


def test_named_python_of_another_version_is_refused_in_one_line(machine, tmp_path):
    machine.put(machine.bin / "python3.10", WORKS)
    named = machine.put(tmp_path / "mine" / "python", OTHER_VERSION)
    machine.environment["PYTHON310"] = str(named)
    assert str(named) in only_line(machine.run("--find-python"))


@pytest.mark.parametrize("arguments", [(), ("--find-python",)])
def test_no_python_gives_one_line_that_says_what_to_install(machine, arguments):
    machine.put(machine.bin / "python3.10", REFUSES)
    machine.put(machine.bin / "uv", uv_that())
    line = only_line(machine.run(*arguments))
    assert "no Python 3.10 found" in line
    assert "uv python install 3.10" in line


def test_python_without_headers_alone_gives_one_line_that_names_the_package(machine):
    python = machine.put(machine.bin / "python3.10", NO_HEADERS)
    line = only_line(machine.run())
    assert str(python) in line
    assert "apt-get install python3.10-dev" in line


def test_little_disk_is_said_before_anything_is_installed(machine):
    machine.put(machine.bin / "python3.10", WORKS)
    (machine.bin / "df").unlink()
    machine.put(
        machine.bin / "df", "#!/bin/sh\necho header\necho /dev/x 9 9 1048576 9% /\n"
    )
    line = only_line(machine.run())
    assert "GB of free disk" in line
    assert line.endswith("has 1 GB")


class TestInstall:
    """The steps of the install, with a uv that writes them down instead."""

    @pytest.fixture
    def machine(self, tmp_path: Path) -> Machine:
        machine = Machine(tmp_path)
        machine.put(machine.bin / "python3.10", WORKS)
        for name in ("cc", "c++"):
            machine.put(machine.bin / name, "#!/bin/sh\n")
        (machine.bin / "ln").symlink_to(shutil.which("ln"))
        self.calls = tmp_path / "calls"
        python = "#!/bin/sh\ncase $2 in compileall) exit 1 ;; esac\n"
        machine.put(tmp_path / "venv-python", python)
        machine.put(
            machine.bin / "uv",
            f"""#!/bin/sh
case "$*" in
--version) echo 'uv 0.9.1' ;;
venv*) mkdir -p .venv/bin && ln -s "{tmp_path}/venv-python" .venv/bin/python ;;
'pip sync'*) echo "$*" >>"{self.calls}"; [ ! -e "{tmp_path}/offline" ] || exit 1 ;;
*) echo "$*" >>"{self.calls}" ;;
esac
""",
        )
        self.offline = tmp_path / "offline"
        return machine

    def steps(self) -> list[str]:
        steps = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return steps

    def test_installs_the_lock_then_the_project(self, machine):
        result = machine.run()
        assert result.returncode == 0, result.stderr
        sync, project = self.steps()
        assert sync.startswith("pip sync")
        assert "--require-hashes" in sync
        assert "--no-deps" in project
        assert project.endswith("--editable .")
        assert "ready after" in result.stderr

    def test_second_call_does_and_says_nothing(self, machine):
        machine.run()
        self.steps()
        result = machine.run()
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert self.steps() == []

    def test_changed_lock_is_installed_without_linking_all_again(self, machine):
        machine.run()
        self.steps()
        with (machine.repo / "requirements.lock").open("a") as lock:
            lock.write("# changed\n")
        assert machine.run().returncode == 0
        assert "--reinstall" not in self.steps()[0]

    def test_failed_install_is_shown_and_resumed(self, machine):
        self.offline.touch()
        result = machine.run()
        assert result.returncode == 1
        assert ".tools/setup.log" in result.stderr
        self.steps()
        self.offline.unlink()
        assert machine.run().returncode == 0
        assert "--reinstall" in self.steps()[0]

    def test_unusable_environment_is_made_anew(self, machine):
        machine.run()
        self.steps()
        python = machine.repo / ".venv" / "bin" / "python"
        python.unlink()
        machine.put(python, OTHER_VERSION)
        (machine.repo / ".venv" / "old").touch()
        with (machine.repo / "setup.py").open("a") as project:
            project.write("# changed\n")
        assert machine.run().returncode == 0
        assert not (machine.repo / ".venv" / "old").exists()

    def test_moved_checkout_is_set_up_again(self, machine, tmp_path):
        machine.run()
        self.steps()
        machine.repo = machine.repo.rename(tmp_path / "elsewhere")
        assert machine.run().returncode == 0
        assert len(self.steps()) == 2


def test_ready_environment_starts_at_once():
    """The real checkout's .venv, when these tests run in it."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("looks at .venv, and these tests run in another environment")
    result = subprocess.run(
        ["sh", "scripts/bootstrap.sh"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=10,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
