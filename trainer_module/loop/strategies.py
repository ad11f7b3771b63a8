"""From `runner.strategy` to a tf.distribute strategy."""

import contextlib

import tensorflow as tf

from trainer_module.settings import Strategy


def build(name: Strategy) -> tf.distribute.Strategy:
    """`auto` takes every GPU there is, and the default strategy without one."""
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        # An earlier node of the same process may have started it already.
        with contextlib.suppress(RuntimeError):
            tf.config.experimental.set_memory_growth(gpu, True)
    if name == "tpu":
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.TPUStrategy(resolver)
    if name == "mirrored" or (name == "auto" and len(gpus) > 1):
        return tf.distribute.MirroredStrategy()
    return tf.distribute.get_strategy()


def on_cpu() -> bool:
    """Whether no accelerator is there: then nothing is compiled for each shape."""
    return not any(tf.config.list_logical_devices(kind) for kind in ("GPU", "TPU"))
