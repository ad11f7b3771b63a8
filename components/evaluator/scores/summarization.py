"""The metrics of written texts."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from components.evaluator.scores.facts import OF_TASK
from components.evaluator.scores.sheet import Sheet, Value, mean, metrics_of
from trainer_module.scoring import behaviour, corpus, rouge
from trainer_module.scoring.texts import exact_match, split_references


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


def _of_corpus(score: Callable[[Iterable[float]], float]) -> Value:
    """A score of one vector of sums, for many of them."""

    def value(sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
        scores = np.apply_along_axis(score, -1, sums)
        return np.where(np.asarray(rows) > 0, scores, np.nan)

    return value


_OF_CORPUS: dict[str, Value] = {
    "bleu": _of_corpus(corpus.bleu),
    "chrf": _of_corpus(corpus.chrf),
}
METRICS = metrics_of(
    "summarization",
    {name: (name, _OF_CORPUS.get(name, mean)) for name in OF_TASK["summarization"]},
)
