"""The texts of both splits, keyed once for all rules that ask which are equal. Pure."""

import dataclasses
from collections.abc import Mapping, Sequence

from components.data_gate.findings import Splits
from components.example_gen.normalisation import text_key


@dataclasses.dataclass(frozen=True)
class TextKeys:
    """What texts are equal but for case, width and white space.

    Attributes:
      train: the `text_key` of each train row, in their order.
      held: likewise of the eval rows.
      first: text_key -> the first train row that has it.
    """

    train: Sequence[bytes]
    held: Sequence[bytes]
    first: Mapping[bytes, int]


def keys_of(splits: Splits) -> TextKeys:
    train = [text_key(example.text) for example in splits["train"]]
    held = [text_key(example.text) for example in splits["eval"]]
    first: dict[bytes, int] = {}
    for number, key in enumerate(train):
        first.setdefault(key, number)
    return TextKeys(train, held, first)
