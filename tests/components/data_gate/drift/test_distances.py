"""components.data_gate.distances: exact values, and the silence of chance."""

import numpy as np
import pytest

from components.data_gate.drift import distances, profile
from components.example_gen.examples import Example
from components.example_gen.settings import DataGateSettings

LIMITS = DataGateSettings()


def test_label_distance_is_the_share_of_rows_with_another_label():
    found = distances.of_labels({"a": 50, "b": 50}, {"a": 20, "c": 80})
    assert found.value == pytest.approx(0.8)  # b goes, and 0.3 of a: all to c.


def test_equal_label_shares_are_no_distance_apart():
    found = distances.of_labels({"a": 100, "b": 300}, {"a": 1, "b": 3})
    assert (found.value, found.beyond) == (0.0, 0.0)


def test_chance_explains_more_of_small_samples():
    shares = {"a": 1, "b": 1}
    of_size = [
        distances.of_labels(shares, {"a": n, "b": n}).chance for n in (10, 100, 1000)
    ]
    assert of_size[0] > of_size[1] > of_size[2]


def test_chance_for_two_labels_is_that_of_the_normal_approximation():
    found = distances.of_labels({"a": 500, "b": 500}, {"a": 2000, "b": 2000})
    expected = 1.96 * np.sqrt(0.25 / 1000 + 0.25 / 4000)
    assert found.chance == pytest.approx(expected, rel=0.05)


def test_equal_counts_have_equal_verdicts():
    counts = {"a": 31, "b": 17}, {"b": 40, "a": 11}
    assert distances.of_labels(*counts) == distances.of_labels(*counts)


def test_length_distance_is_the_largest_gap_of_the_cumulated_shares():
    then = profile.histogram(np.array([2] * 80 + [9] * 20))
    found = distances.of_lengths(then, np.array([2] * 30 + [9] * 70))
    assert found.value == pytest.approx(0.5)
    assert found.edge == 2
    assert (found.longer_then, found.longer_now) == pytest.approx((0.2, 0.7))
    assert found.chance == pytest.approx(1.3581 * np.sqrt(2 / 100) + 0.04, rel=1e-4)


def test_lengths_of_too_few_rows_are_not_compared():
    four = profile.histogram(np.array([3] * 4))
    assert distances.of_lengths(four, np.array([3, 4])) is None
    many = profile.histogram(np.array([3] * 6 + [9] * 6))
    assert distances.of_lengths(many, np.array([], np.int64)) is None


WORDS, LABELS = 2000, 4


def draw(random, rows):
    """Rows of one distribution: Zipf's words, labels of unequal size."""
    ends = np.cumsum(1 + random.lognormal(2, 0.6, rows).astype(int))
    words = random.choice(WORDS, ends[-1], p=_shares(1 / np.arange(1, WORDS + 1)))
    labels = random.choice(LABELS, rows, p=_shares(np.arange(1, LABELS + 1)))
    texts = [" ".join(map("w{}".format, part)) for part in np.split(words, ends[:-1])]
    return [
        Example(text, f"label {label}", str(n), {})
        for n, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def _shares(weights):
    return weights / weights.sum()


@pytest.mark.parametrize("then, now", [(16, 8), (60, 60), (300, 80)])
def test_sampling_noise_alone_stops_no_run(then, now):
    fired, beyond = 0, {"labels": 0, "lengths": 0, "words": 0}
    for seed in range(200):
        random = np.random.default_rng(seed)
        served = profile.of(
            profile.count(draw(random, then), "classification"),
            task="classification",
            columns={},
        )
        counts = profile.count(draw(random, now), "classification")
        for name, limit, found in (
            (
                "labels",
                LIMITS.max_label_drift,
                distances.of_labels(served.labels, counts.labels),
            ),
            (
                "lengths",
                LIMITS.max_length_drift,
                distances.of_lengths(served.text_words, counts.text_words),
            ),
            ("words", LIMITS.max_vocabulary_drift, distances.of_words(served, counts)),
        ):
            fired += found is not None and found.beyond > limit
            beyond[name] += found is not None and found.beyond > 0
    assert fired <= 2
    # What is said to be beyond chance in 5 of 100 cases is so in few more.
    assert beyond["labels"] <= 20 and beyond["lengths"] <= 20
    assert beyond["words"] <= 30  # The error of a share is itself uncertain.
