"""The configurations that ship with the package."""

import os


def shipped_config(name: str) -> str:
    """The path of a config that ships: `configs/` in a checkout, or in the package."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(os.path.dirname(here), "configs"), f"{here}/configs"):
        path = os.path.join(folder, f"{name}.yaml")
        if os.path.exists(path):
            return os.path.relpath(path)
    raise FileNotFoundError(f"The package ships no config {name!r}.")
