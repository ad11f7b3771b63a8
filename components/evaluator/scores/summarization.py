"""The metrics of written texts."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from components.evaluator.scores.sheet import Metric, Sheet, mean
from trainer_module.scoring import behaviour, corpus, rouge
from trainer_module.scoring.texts import exact_match, split_references

_ROUGE = {
    "rouge_l": "ROUGE-L",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rouge_lsum": "ROUGE-Lsum",
}
_SIGNS = {
    "empty": "share without a word",
    "truncated": "share without the final mark of a reference",
    "copied": "share that are one run of the source's words",
    "repetition": "share of the word triples that were written before",
    "unseen_numbers": "share with a number of neither source nor reference",
    "unseen_names": "share with a name of neither source nor reference",
}


def sheet(
    sources: Sequence[str], targets: Sequence[str], predictions: Sequence[str]
) -> Sheet:
    """What each row adds to the sums of `METRICS`.

    Args:
      targets: each one reference or several; see `texts.split_references`.
    """
    rows = zip(sources, targets, predictions, strict=True)
    lines = [_line(source, split_references(t), p) for source, t, p in rows]
    widths = {name: len(values) for name, values in _line("", [""], "").items()}
    return Sheet.of(
        {
            name: np.array([line[name] for line in lines]).reshape(len(lines), width)
            for name, width in widths.items()
        }
    )


def _line(
    source: str, references: Sequence[str], prediction: str
) -> dict[str, Sequence[float]]:
    line: dict[str, Sequence[float]] = {}
    for name, score in rouge.scores(references, prediction).items():
        line[name] = [score.f1]
        line[f"{name}_precision"] = [score.precision]
        line[f"{name}_recall"] = [score.recall]
    line["bleu"] = corpus.bleu_counts(references, prediction)
    line["chrf"] = corpus.chrf_counts(references, prediction)
    line["exact_match"] = [float(exact_match(references, prediction))]
    signs = behaviour.signs(source, references, prediction)
    return line | {name: [value] for name, value in signs.items()}


def _rouge_metrics() -> Iterator[Metric]:
    tokens = "Porter stems; characters where words are not parted; best reference"
    for name, title in _ROUGE.items():
        yield Metric(name, f"{title} F1 ({tokens})", "high", 1, name, mean)
        for part in ("precision", "recall"):
            key = f"{name}_{part}"
            yield Metric(key, f"{title} {part} (as its F1)", "high", 1, key, mean)


def _of_corpus(score: Callable[[Iterable[float]], float]) -> Callable:
    """A score of one vector of sums, for many of them."""

    def value(sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
        scores = np.apply_along_axis(score, -1, sums)
        return np.where(np.asarray(rows) > 0, scores, np.nan)

    return value


METRICS: tuple[Metric, ...] = (
    *_rouge_metrics(),
    Metric("bleu", "sacreBLEU, 13a", "high", 100, "bleu", _of_corpus(corpus.bleu)),
    Metric("chrf", "sacreBLEU, chrF2", "high", 100, "chrf", _of_corpus(corpus.chrf)),
    Metric("exact_match", "share equal to a reference", "high", 1, "exact_match", mean),
    *(Metric(name, words, "low", 1, name, mean) for name, words in _SIGNS.items()),
    Metric(
        "length_ratio",
        "words for each word of the reference nearest in length",
        "neither",
        np.inf,
        "length_ratio",
        mean,
    ),
)
