"""Asks a SavedModel in this process."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence

from pipeline.config import ConfigError
from serving import promotion


def version_dir(path: str) -> str:
    """`path` if it is a version, else the newest version in it.

    Raises:
      ConfigError: if there is neither.
    """
    if os.path.exists(os.path.join(path, "saved_model.pb")):
        return path
    versions = promotion.versions(path)
    if not versions:
        raise ConfigError(
            f"--model {path}: there is no version in this folder. A run that promotes "
            "a model says where it put it."
        )
    return os.path.join(path, str(versions[-1]))


def answers(path: str, texts: Sequence[str]) -> list[str]:
    """One line for each text: the label with its probability, or the written text.

    Raises:
      ConfigError: if `path` holds no model that can be loaded and asked.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with _quiet_stderr():
        import tensorflow as tf
        import tensorflow_text  # noqa: F401  Registers the ops of the tokenizer.

        from trainer_module import signatures

        try:
            model = tf.saved_model.load(path)
            ask = model.signatures[signatures.SERVING_DEFAULT]
            outputs = {
                name: value.numpy().tolist()
                for name, value in ask(text=tf.constant(list(texts))).items()
            }
        except (OSError, KeyError, TypeError, ValueError, tf.errors.OpError) as error:
            raise ConfigError(
                f"--model {path}: this is not a model of texttune that can be asked: "
                f"{_first_line(error)}"
            ) from error
    if signatures.LABEL not in outputs:
        return [_text(written) for written in outputs[signatures.OUTPUT_TEXT]]
    labels, scores = outputs[signatures.LABEL], outputs[signatures.SCORE]
    return [
        f"{_text(label)}  {score:.3f}"
        for label, score in zip(labels, scores, strict=True)
    ]


@contextlib.contextmanager
def _quiet_stderr() -> Iterator[None]:
    """TensorFlow's C++ parts write notes there that no setting turns off."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
