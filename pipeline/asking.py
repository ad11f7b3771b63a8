"""Asks a SavedModel in this process."""

import os
from collections.abc import Sequence

from pipeline.config import ConfigError
from pipeline.quiet import quiet_stderr
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
      ConfigError: if `path` holds no model that can be loaded and asked, or a text
        came from bytes that are not UTF-8.
    """
    for text in texts:
        if any(0xDC80 <= ord(character) <= 0xDCFF for character in text):
            raise ConfigError(f"{text!r}: this is not UTF-8 text.")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet_stderr():
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
        # Whatever is wrong with a foreign folder; TensorFlow has no common error.
        except Exception as error:
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


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
