"""The model's graph, small enough for a browser."""

import itertools

import tensorflow as tf

MOST_BYTES = 30 * 2**20
_SHOWN_BYTES = 1024  # TensorBoard shows no attribute that is larger.


def write(graph: tf.Graph) -> None:
    """Writes the graph with the default writer, without the values of its constants.

    Raises:
      ValueError: if it has more than `MOST_BYTES` even so.
    """
    slim = without_large_values(graph.as_graph_def(add_shapes=False))
    if slim.ByteSize() > MOST_BYTES:
        raise ValueError(
            f"It has {slim.ByteSize() / 2**20:.0f} MB, and a browser shows at most "
            f"{MOST_BYTES / 2**20:.0f} MB"
        )
    tf.summary.graph(slim)


def without_large_values(definition: tf.compat.v1.GraphDef) -> tf.compat.v1.GraphDef:
    """Empties attributes of nodes that are too large to be shown; changes its input."""
    functions = (f.node_def for f in definition.library.function)
    for node in itertools.chain(definition.node, *functions):
        for name in [
            n for n, value in node.attr.items() if value.ByteSize() > _SHOWN_BYTES
        ]:
            del node.attr[name]
    return definition
