"""The eval split as ExampleGen wrote it, and what a gate slices it by."""

from tfx import types

from components.evaluator.comparing import columns_seen
from components.evaluator.rows import Rows
from components.evaluator.settings import GateSettings
from components.example_gen.written import read_split

SPLIT, TRAIN_SPLIT = "eval", "train"


def read_rows(examples: types.Artifact, gate: GateSettings) -> Rows:
    """The rows of the eval split, in the files' order.

    Args:
      examples: Examples, raw.
      gate: its `seen` and `crosses` name columns that the rows have.
    """
    split = list(read_split(examples, SPLIT))
    # Sorted: the features of a tf.Example come in an order that changes.
    names = sorted(split[0].slices) if split else []
    columns = {name: [row.slices[name] for row in split] for name in names}
    in_train: dict[str, set[str]] = {column: set() for column in gate.seen}
    if in_train:
        for example in read_split(examples, TRAIN_SPLIT):
            for column, known in in_train.items():
                known.add(example.slices[column])
    return Rows(
        example_ids=[example.example_id for example in split],
        sources=[example.text for example in split],
        targets=[example.target for example in split],
        columns={**columns, **columns_seen(columns, in_train)},
        crosses=gate.crosses,
    )
