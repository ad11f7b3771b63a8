"""What the metrics are: for configurations and reports, which load no NumPy. Pure."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Literal

Best = Literal["high", "low", "neither"]


@dataclasses.dataclass(frozen=True)
class Facts:
    """Of one metric.

    Attributes:
      meaning: in a few words, with its settings.
      best: whether more of it is better, less of it, or neither.
      most: the largest value that it can have; inf for none.
    """

    meaning: str
    best: Best = "high"
    most: float = 1.0


_MACRO = "mean over the labels that occur"
_CLASSIFICATION = {
    "accuracy": Facts("share of right labels"),
    "macro_f1": Facts(f"F1, {_MACRO}"),
    "macro_precision": Facts(f"precision, {_MACRO}"),
    "macro_recall": Facts(f"recall, {_MACRO}"),
    "top3_accuracy": Facts("share with the right label among the three likeliest"),
    "auc": Facts(f"area under the ROC curve of one label against others, {_MACRO}"),
    "log_loss": Facts("mean surprise at the right label, in nats", "low", math.inf),
    "calibration_error": Facts("gap of confidence and rightness, 15 bins", "low"),
}

_TOKENS = "Porter stems; characters where words are not parted; best reference"
_ROUGE = {
    "rouge_l": "ROUGE-L",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rouge_lsum": "ROUGE-Lsum",
}
_SUMMARIZATION = {
    **{name: Facts(f"{title} F1 ({_TOKENS})") for name, title in _ROUGE.items()},
    **{
        f"{name}_{part}": Facts(f"{title} {part} (as its F1)")
        for name, title in _ROUGE.items()
        for part in ("precision", "recall")
    },
    "bleu": Facts("sacreBLEU (13a; characters where words are not parted)", most=100.0),
    "chrf": Facts("sacreBLEU's chrF2", most=100.0),
    "exact_match": Facts("share equal to a reference"),
    "empty": Facts("share without a word", "low"),
    "truncated": Facts("share without the final mark of a reference", "low"),
    "copied": Facts("share that are one run of the source's words", "low"),
    "repetition": Facts("share of the word triples that were written before", "low"),
    "unseen_numbers": Facts("share with a number that the source lacks", "low"),
    "unseen_names": Facts("share with a name that the source lacks", "low"),
    "length_ratio": Facts(
        "words for each word of the reference nearest in length", "neither", math.inf
    ),
}

# Of each label of a classifier, apart.
OF_LABEL: Mapping[str, Facts] = {
    "precision": Facts("share that has the label, of what was given it"),
    "recall": Facts("share that was given the label, of what has it"),
    "f1": Facts("harmonic mean of the two"),
}
OF_TASK: Mapping[str, Mapping[str, Facts]] = {
    "classification": _CLASSIFICATION,
    "summarization": _SUMMARIZATION,
}
