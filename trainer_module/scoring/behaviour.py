"""What ROUGE does not see in a written text: signs that a reader would stumble over.

Each sign is a number for one text, so that its mean over rows is a share or a ratio:

  empty           1 if the text holds no letter and no digit
  truncated       1 if it ends without a final mark, where a reference has one
  copied          1 if it is one verbatim run of the source's words, five or more
  repetition      the share of its word triples that it had written before
  length_ratio    its words for each word of the reference that is nearest in length
  unseen_numbers  1 if it has a number that neither source nor a reference has
  unseen_names    1 if it has a capitalised word, past a sentence's first, that neither
                  source nor a reference has; German nouns are all capitalised, and
                  scripts without capitals have none

Words are `tokens.tokenize`'s, so "cards" is seen where the source has "card", and
Chinese goes by characters. Numbers are compared by their digits: 1,250.50 is 1.250,50.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from trainer_module.scoring import tokens

_FEWEST_COPIED = 5
_FINAL_MARK = re.compile(r"""[.!?…。！？؟।]["'”’»)\]]*\s*\Z""")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")


def signs(source: str, references: Sequence[str], prediction: str) -> dict[str, float]:
    """Each of the signs above, for one text.

    Args:
      source: what the model read.
      references: one or more texts.
      prediction: what it wrote.
    """
    words = tokens.tokenize(prediction)
    source_words = tokens.tokenize(source)
    references_words = [tokens.tokenize(reference) for reference in references]
    known_words = set(source_words).union(*references_words)
    known_numbers = set(_numbers(source)).union(*map(_numbers, references))
    return {
        "empty": float(not words),
        "truncated": float(_is_truncated(references, prediction)),
        "copied": float(_is_copied(source_words, words)),
        "repetition": _repetition(words),
        "length_ratio": _length_ratio(map(len, references_words), len(words)),
        "unseen_numbers": float(not known_numbers.issuperset(_numbers(prediction))),
        "unseen_names": float(not known_words.issuperset(_name_tokens(prediction))),
    }


def _is_truncated(references: Sequence[str], prediction: str) -> bool:
    if not prediction.strip() or _FINAL_MARK.search(prediction):
        return False
    return any(_FINAL_MARK.search(reference) for reference in references)


def _is_copied(source_words: Sequence[str], words: Sequence[str]) -> bool:
    if len(words) < _FEWEST_COPIED:
        return False
    return f" {' '.join(words)} " in f" {' '.join(source_words)} "


def _repetition(words: Sequence[str]) -> float:
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return 1 - len(set(triples)) / len(triples) if triples else 0.0


def _length_ratio(lengths: Iterable[int], written: int) -> float:
    nearest = min(lengths, key=lambda length: (abs(length - written), length))
    return written / max(nearest, 1)


def _numbers(text: str) -> Iterator[str]:
    """The digits of each number, in ASCII and without leading zeros."""
    for match in _NUMBER.finditer(text):
        decimals = (unicodedata.decimal(c, None) for c in match.group())
        digits = "".join(str(d) for d in decimals if d is not None)
        yield digits.lstrip("0") or "0"


def _name_tokens(text: str) -> Iterator[str]:
    for sentence in tokens.sentences(text):
        for word in _WORD.findall(sentence)[1:]:
            if len(word) > 1 and word[0].isupper():
                yield from tokens.tokenize(word)
