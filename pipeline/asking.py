"""Asks a SavedModel in this process."""

import os
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


def answers(path: str, texts: Sequence[str]) -> Iterator[str]:
    """One line for each text: the label with its probability, or the written text."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  Registers the ops of the tokenizer.

    from trainer_module import signatures

    model = tf.saved_model.load(path)
    outputs = model.signatures[signatures.SERVING_DEFAULT](tf.constant(list(texts)))
    if signatures.LABEL not in outputs:
        for text in outputs[signatures.OUTPUT_TEXT].numpy():
            yield text.decode("utf-8", "replace")
        return
    labels, scores = outputs[signatures.LABEL], outputs[signatures.SCORE]
    for label, score in zip(labels.numpy(), scores.numpy(), strict=True):
        yield f"{label.decode('utf-8', 'replace')}  {score:.3f}"
