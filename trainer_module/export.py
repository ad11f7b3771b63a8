"""The trained task -> a SavedModel that needs nothing outside its own folder."""

import os

import tensorflow as tf

from trainer_module import features, signatures
from trainer_module.tasks.base import Task

ROWS_PER_CHUNK = 32  # Callers may send any batch; memory is bounded by this one.


def save(task: Task, path: str) -> None:
    """Writes the SavedModel with its two signatures.

    `serving_default(text: string[None])` and `serving_examples(examples: string[None])`
    give the same answers. Only these functions are traced: a Keras model as an
    attribute would drag all of its call functions into the file.
    """
    module = task.serving_module()

    def serve(text):
        text = tf.ensure_shape(text, [None])  # A loaded signature takes any shape.
        return in_chunks(task.answer, text, rows_per_chunk=ROWS_PER_CHUNK)

    def serve_examples(examples):
        spec = {features.TEXT: tf.io.FixedLenFeature([], tf.string)}
        return by_text(tf.io.parse_example(examples, spec)[features.TEXT])

    # AutoGraph would triple the time of tracing and change nothing: no task branches
    # on a tensor in Python.
    by_text = tf.function(
        serve,
        input_signature=[tf.TensorSpec([None], tf.string, name=features.TEXT)],
        autograph=False,
    )
    by_example = tf.function(
        serve_examples,
        input_signature=[
            tf.TensorSpec([None], tf.string, name=signatures.EXAMPLES_INPUT)
        ],
        autograph=False,
    )
    # For checks of the tokenisation; no signature, so no client can depend on it.
    module.encode = tf.function(
        task.encode,
        input_signature=[tf.TensorSpec([None], tf.string, name=features.TEXT)],
        autograph=False,
    )
    tf.saved_model.save(
        module,
        path,
        signatures={
            signatures.SERVING_DEFAULT: by_text,
            signatures.SERVING_EXAMPLES: by_example,
        },
    )


def in_chunks(answer, text: tf.Tensor, *, rows_per_chunk: int) -> dict[str, tf.Tensor]:
    """Calls `answer` on a few rows at a time and joins what it returns.

    An empty batch is answered too: one blank row is run and dropped, since a model
    cannot be run on none.

    Args:
      answer: string [rows] -> {name: [rows, ...]}, for one row or more.
      text: string [batch].
    """
    rows = tf.shape(text)[0]
    blank = tf.fill([tf.cast(tf.equal(rows, 0), tf.int32)], "")
    filled = tf.concat([text, blank], axis=0)
    answer = tf.function(
        answer, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
    ).get_concrete_function()
    chunks = {
        name: tf.TensorArray(
            spec.dtype,
            size=0,
            dynamic_size=True,
            infer_shape=False,
            element_shape=spec.shape,
        )
        for name, spec in answer.structured_outputs.items()
    }
    total = tf.shape(filled)[0]

    def body(start, index, chunks):
        part = answer(filled[start : start + rows_per_chunk])
        written = {n: a.write(index, part[n]) for n, a in chunks.items()}
        return start + rows_per_chunk, index + 1, written

    _, _, chunks = tf.while_loop(
        lambda start, *_: start < total, body, (0, 0, chunks), parallel_iterations=1
    )
    return {name: array.concat()[:rows] for name, array in chunks.items()}


def save_hugging_face(task: Task, checkpoint_dir: str, path: str) -> None:
    """Writes weights as safetensors, the configuration, and the tokenizer's files."""
    task.save_pretrained(path)
    for name in tf.io.gfile.listdir(checkpoint_dir):
        if name.startswith(("vocab", "spiece", "tokenizer", "special_tokens")):
            tf.io.gfile.copy(
                os.path.join(checkpoint_dir, name),
                os.path.join(path, name),
                overwrite=True,
            )
