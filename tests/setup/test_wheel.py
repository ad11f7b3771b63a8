"""The wheel holds what workers and the container need, and nothing else."""

import configparser
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pipeline", "components", "trainer_module", "schemas", "serving")
DATA = (".pbtxt", ".yaml", ".yml", ".html", ".j2", ".conf", ".css")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """Builds the wheel offline, from a copy, so that nothing is left in the tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("setup.py", "pyproject.toml", "requirements.in"):
        shutil.copy(ROOT / name, source)
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in (*PACKAGES, "configs", "tests", "kubeflow"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    options = ["--no-index", "--no-cache-dir", "--wheel-dir", str(folder), str(source)]
    result = subprocess.run([*build, *options], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    (path,) = folder.glob("texttune-*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_all_code_and_data(wheel):
    expected = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in (".py", *DATA)
    }
    assert expected - set(wheel.namelist()) == set()


def test_wheel_holds_the_configs(wheel):
    expected = {f"pipeline/configs/{path.name}" for path in ROOT.glob("configs/*.yaml")}
    assert expected - set(wheel.namelist()) == set()


def test_wheel_holds_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} <= set(PACKAGES)


def test_wheel_names_the_command_and_the_python(wheel):
    def read(name: str) -> str:
        (path,) = (n for n in wheel.namelist() if n.endswith(f".dist-info/{name}"))
        return wheel.read(path).decode()

    commands = configparser.ConfigParser()
    commands.read_string(read("entry_points.txt"))
    assert commands["console_scripts"]["texttune"] == "pipeline.cli:main"
    metadata = read("METADATA").splitlines()
    assert "Requires-Python: >=3.10,<3.11" in metadata
    assert "Requires-Dist: apache-beam==2.60.*" in metadata


def test_unpacked_wheel_imports_on_its_own(wheel, tmp_path):
    wheel.extractall(tmp_path)
    installed = [p for p in PACKAGES if (tmp_path / p / "__init__.py").is_file()]
    code = f"""
import importlib, sys
for name in {installed}:
    module = importlib.import_module(name)
    assert module.__file__.startswith({str(tmp_path)!r}), module.__file__
"""
    subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'){code}"],
        cwd=tmp_path,
        check=True,
    )
