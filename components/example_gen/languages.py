"""The language of short texts, as far as py3langid is sure of it. Pure."""

import functools
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

UNSURE = "unsure"
NOT_INSTALLED = "the package py3langid is not installed: run `make setup`"
# At this confidence no customer message was given a wrong language, and one in
# thirty is unsure; see `tests/components/example_gen/test_languages.py`.
_MIN_CONFIDENCE = 0.5
_MAX_CHARACTERS = 1000  # The time grows with them, and the certainty does not.

Detect = Callable[[Sequence[str]], list[str]]


def is_installed() -> bool:
    """Whether there is a `detector`, without loading anything."""
    return importlib.util.find_spec("py3langid") is not None


def detector() -> Detect | None:
    """Loads the model, in a second; None where the package is not installed.

    Returns:
      A function from texts to ISO 639 codes, with `UNSURE` for a text that is too
      short or too mixed to tell.
    """
    if not is_installed():
        return None
    identifier = _identifier()

    def detect(texts: Sequence[str]) -> list[str]:
        found = (identifier.classify(text[:_MAX_CHARACTERS]) for text in texts)
        return [name if sure >= _MIN_CONFIDENCE else UNSURE for name, sure in found]

    return detect


@functools.cache
def _identifier() -> Any:
    import numpy as np
    from py3langid import langid

    found = langid.LanguageIdentifier.from_model_file(
        langid.MODEL_FILE, norm_probs=True
    )
    # The file's half precision is widened at each text otherwise: the same values, in
    # half as much time again.
    found.nb_ptc = found.nb_ptc.astype(np.float32)
    return found
