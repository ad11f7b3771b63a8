"""Builds the wheel that Beam workers and the container image install.

The version has its one place here; code reads it with importlib.metadata.
"""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
PACKAGES = ("pipeline", "components", "trainer_module", "schemas", "serving")

# Files that the packages read beside their code.
DATA = ["*.pbtxt", "*.yaml", "*.yml", "*.html", "*.j2", "*.conf", "*.css", "py.typed"]
DATA += ["templates/*", "templates/*/*"]


def requirements() -> list[str]:
    """Returns the lines of requirements.in without comments."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_if_there(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


setup(
    name="texttune",
    version="0.1.0",
    description="Fine-tunes T5 and BERT on a team's own text, as a TFX pipeline.",
    long_description=read_if_there("README.md"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.11",
    install_requires=requirements(),
    packages=[
        *find_packages(include=[p for name in PACKAGES for p in (name, f"{name}.*")]),
        "pipeline.configs",
    ],
    # In the checkout the configs lie at the top, where people edit them; installed
    # they lie in pipeline/configs. pipeline looks in both places.
    package_dir={"pipeline.configs": "configs"},
    package_data={"": DATA},
    entry_points={"console_scripts": ["texttune = pipeline.cli:main"]},
    zip_safe=False,
)
