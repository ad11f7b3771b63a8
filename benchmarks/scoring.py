"""ROUGE of many summaries: the project's scorer against rouge-score's.

    python benchmarks/scoring.py --rows 10000 --pairs 3

Both score the same (reference, summary) pairs in one process, each measurement in a
process of its own: ROUGE-1, -2, -L and -Lsum with stems. The references are SciTLDR's,
the summaries the beginnings of its sources; one sentence a line, as rouge-score wants
it. The bound is what no scorer of tokens can avoid: to find the words of both texts.
Exit code 1 if a score differs, or the speed is below the target. A pair with a word of
another script, Greek mostly, is not compared: rouge-score leaves such words out.
"""

import itertools
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import click  # noqa: E402

DATA = os.path.join(os.path.dirname(ROOT), "shared/data/scitldr/train.clean.jsonl")
_SHORTEST, _LONGER_BY = 150, 30  # Characters of a summary, in each round of the rows.
_LARGEST_GAP, _LEAST_RATIO = 1e-9, 3.0

Pair = tuple[str, str]


def read(path: str, rows: int) -> list[Pair]:
    """(reference, summary); the rows come again with longer summaries."""
    from trainer_module.scoring.tokens import sentences

    with open(path, encoding="utf-8") as file:
        texts = [(row["target"], row["source"]) for row in map(json.loads, file)]
    rounds = range(math.ceil(rows / len(texts)))
    cuts = (_SHORTEST + _LONGER_BY * number for number in rounds)
    pairs = ((t, s[:cut]) for cut in cuts for t, s in texts)
    lines = (tuple("\n".join(sentences(x)) for x in pair) for pair in pairs)
    return list(itertools.islice(lines, rows))


def texttune(pairs: list[Pair]) -> list[list[float]]:
    from trainer_module.scoring import rouge

    found = (rouge.scores([target], text) for target, text in pairs)
    names = ("rouge1", "rouge2", "rouge_l", "rouge_lsum")
    return [[scores[name].f1 for name in names] for scores in found]


def rouge_score(pairs: list[Pair]) -> list[list[float]]:
    from rouge_score import rouge_scorer

    names = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    scorer = rouge_scorer.RougeScorer(names, use_stemmer=True)
    found = (scorer.score(target, text) for target, text in pairs)
    return [[scores[name].fmeasure for name in names] for scores in found]


def words(pairs: list[Pair]) -> list[list[float]]:
    word = re.compile("[a-z0-9]+")
    return [[len(word.findall(text.lower())) for text in pair] for pair in pairs]


SIDES: dict[str, Callable[[list[Pair]], list[list[float]]]] = {
    "texttune": texttune,
    "rouge-score": rouge_score,
    "bound": words,
}


def measure(side: str, path: str, rows: int) -> dict:
    """Runs one side in a process of its own."""
    command = [sys.executable, __file__, "--doing", side, "--data", path]
    done = subprocess.run(
        [*command, "--rows", str(rows)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{side} failed:\n{done.stderr}")
    return json.loads(done.stdout)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", default=DATA, help="JSON Lines with source and target")
@click.option("--rows", default=10000, show_default=True)
@click.option("--pairs", default=3, show_default=True)
@click.option("--doing", type=click.Choice(list(SIDES)), hidden=True)
def main(data: str, rows: int, pairs: int, doing: str | None) -> None:
    """Compares our ROUGE with rouge-score's, in speed and in values."""
    if not os.path.exists(data):
        sys.exit(f"There is no {data}: name the data with --data.")
    if doing:
        texts = read(data, rows)
        SIDES[doing](texts[:1])  # Imports what it needs.
        started = time.perf_counter()
        found = SIDES[doing](texts)
        seconds = time.perf_counter() - started
        peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        facts = {"seconds": seconds, "scores": found, "peak_mb": peak_kb / 1024}
        print(json.dumps(facts))
        return
    runs: dict[str, list[dict]] = {side: [] for side in SIDES}
    for _, side in itertools.product(range(pairs), SIDES):
        runs[side].append(measure(side, data, rows))
    tell(runs, rows)
    latin = [all(map(_is_latin, pair)) for pair in read(data, rows)]
    sys.exit(verdict(runs, latin))


def tell(runs: dict[str, list[dict]], rows: int) -> None:
    for side, found in runs.items():
        seconds = statistics.median(run["seconds"] for run in found)
        peak = max(run["peak_mb"] for run in found)
        print(f"{side:<12} {seconds:7.2f} s  {rows / seconds:8,.0f} pairs/s", end="  ")
        print(f"peak {peak:,.0f} MB")


def verdict(runs: dict[str, list[dict]], latin: list[bool]) -> int:
    """Says whether the values are the same and the speed is reached: the exit code."""
    both = list(zip(runs["texttune"], runs["rouge-score"], strict=True))
    ratios = [theirs["seconds"] / ours["seconds"] for ours, theirs in both]
    ratio = statistics.median(ratios)
    gap = max(_gap(ours["scores"], theirs["scores"], latin) for ours, theirs in both)
    print(
        f"texttune is {ratio:.1f} times faster ({min(ratios):.1f} to "
        f"{max(ratios):.1f}; target {_LEAST_RATIO:.0f})\n"
        f"No score of the {sum(latin):,} pairs in Latin letters differs by more than "
        f"{gap:.0e} (allowed {_LARGEST_GAP:.0e})"
    )
    return int(gap > _LARGEST_GAP or ratio < _LEAST_RATIO)


def _gap(ours: list[list[float]], theirs: list[list[float]], of: list[bool]) -> float:
    """The largest difference between two scores of the same pair."""
    rows = itertools.compress(zip(ours, theirs, strict=True), of)
    return max(abs(a - b) for x, y in rows for a, b in zip(x, y, strict=True))


def _is_latin(text: str) -> bool:
    letters = filter(str.isalpha, text)
    return all(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)


if __name__ == "__main__":
    main()
