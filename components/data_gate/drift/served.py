"""The data profile of the model that is being served. Pure, and quick to import.

TensorFlow Serving loads the newest version of a model's folder and leaves
`assets.extra` in it alone, so the profile travels with the model wherever that goes.
"""

import dataclasses
import hashlib
import os

from serving import promotion

# Below the folder of a version.
PROFILE_PATH = "assets.extra/data_profile.json"
_MAX_BYTES = 50_000_000


@dataclasses.dataclass(frozen=True)
class Served:
    """The newest version of a model.

    Attributes:
      folder: of the version.
      version: its number.
      profile: the bytes of its data profile; None if there is none to read.
      problem: why there is none.
    """

    folder: str
    version: int
    profile: bytes | None
    problem: str = ""


def newest(serving_dir: str) -> Served | None:
    """The newest version in a model's folder; None if it has none yet.

    Args:
      serving_dir: on a mounted file system; nothing is read from elsewhere.
    """
    for version in reversed(promotion.versions(serving_dir)):
        folder = os.path.join(serving_dir, str(version))
        if version and os.path.isfile(os.path.join(folder, promotion.SAVED_MODEL_FILE)):
            return _read(folder, version)
    return None


def _read(folder: str, version: int) -> Served:
    path = os.path.join(folder, *PROFILE_PATH.split("/"))
    try:
        with open(path, "rb") as file:
            profile = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        problem = (
            f"it has no {PROFILE_PATH}, for it was promoted by hand or by an earlier "
            "release"
        )
        return Served(folder, version, None, problem)
    except OSError as error:
        problem = f"its {PROFILE_PATH} cannot be read ({error.strerror})"
        return Served(folder, version, None, problem)
    if len(profile) > _MAX_BYTES:
        problem = f"its {PROFILE_PATH} is larger than {_MAX_BYTES // 10**6} MB"
        return Served(folder, version, None, problem)
    return Served(folder, version, profile)


def fingerprint(serving_dir: str) -> str:
    """SHA-256 of what `newest` finds, "" if it finds no version."""
    found = newest(serving_dir)
    if found is None:
        return ""
    digest = hashlib.sha256(f"{found.version}\0{found.problem}\0".encode())
    digest.update(found.profile or b"")
    return digest.hexdigest()
