"""Histograms, the graph, the projector's files and the profile of a tiny model."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from tensorboard.plugins.projector import ProjectorConfig
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from tests.trainer_module.monitoring.reading import read, tags, values
from tests.trainer_module.monitoring.updates import update
from trainer_module.monitoring import graph, projector, weights
from trainer_module.monitoring.profile import UPDATES_BEFORE, Profile

pytestmark = pytest.mark.slow


@pytest.fixture
def written(tmp_path):
    """Runs something with a default writer, and reads what it wrote."""

    def run(write):
        writer = tf.summary.create_file_writer(str(tmp_path))
        with writer.as_default():
            write()
        writer.close()
        return read(tmp_path)

    return run


def counts(histogram: np.ndarray) -> float:
    """How many values a histogram of [left, right, count] rows has."""
    return float(histogram[:, 2].sum())


def test_each_array_has_a_histogram(written, notes):
    pairs = [("a/kernel:0", tf.ones([3, 4])), ("a/bias", np.zeros(2, np.float64))]
    events = written(lambda: weights.write("weights", pairs, step=7))
    assert tags(events) == {"weights/a/kernel", "weights/a/bias"}
    assert counts(values(events, "weights/a/kernel")[7]) == 12
    assert counts(values(events, "weights/a/bias")[7]) == 2
    assert notes() == []


def test_values_that_are_not_finite_are_noted(written, notes):
    pairs = [("x", np.array([1.0, np.nan, np.inf]))]
    events = written(lambda: weights.write("gradients", pairs, step=7))
    assert counts(values(events, "gradients/x")[7]) == 1
    assert notes() == [
        "At update 7 2 of 3 values of gradients/x are not finite; its histogram is of "
        "the others."
    ]


def test_arrays_of_one_name_are_all_written(written):
    pairs = [("x", np.ones(1)), ("x", np.ones(2))]
    events = written(lambda: weights.write("weights", pairs, step=1))
    sizes = {t: counts(values(events, t)[1]) for t in tags(events)}
    assert sizes == {"weights/x": 1, "weights/x_2": 2}


@pytest.fixture
def traced():
    """The graph of a function with a constant of 4 MB, within a function of its own."""
    table = np.arange(2**20, dtype=np.float32)

    @tf.function
    def inner(x):
        return x + tf.constant(table)

    @tf.function
    def step(x):
        return tf.reduce_sum(inner(x), name="total")

    return step.get_concrete_function(tf.TensorSpec([2**20])).graph


def test_graph_has_the_nodes_without_large_constants(written, traced):
    events = written(lambda: graph.write(traced))
    definition = events.Graph()
    assert "total" in {node.name for node in definition.node}
    assert definition.library.function
    assert definition.ByteSize() < 20_000


def test_graph_that_is_too_large_is_refused(written, traced, monkeypatch):
    monkeypatch.setattr(graph, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="a browser shows at most"):
        written(lambda: graph.write(traced))


def test_projector_files_have_a_line_for_each_vector(tmp_path):
    labels = projector.Embedding("labels", np.eye(2), {"label": ["fee", " \n"]})
    vectors = np.array([[0.5, -1e-9], [1.25, 3.0]], np.float32)
    texts = ["a\tb\nc", "x" * 300]
    sentences = projector.Embedding(
        "sentences", vectors, {"label": ["fee", "late"], "text": texts}
    )
    projector.write(str(tmp_path), [labels, sentences])

    def lines(name):
        return (tmp_path / name).read_text(encoding="utf-8").split("\n")[:-1]

    assert lines("labels_tensors.tsv") == ["1\t0", "0\t1"]
    assert lines("labels_metadata.tsv") == ["fee", "⏎"]
    assert lines("sentences_tensors.tsv") == ["0.5\t-1e-09", "1.25\t3"]
    assert lines("sentences_metadata.tsv") == [
        "label\ttext",
        "fee\ta b ⏎ c",
        f"late\t{'x' * 200}…",
    ]
    config = text_format.Parse(
        (tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig()
    )
    assert [e.tensor_name for e in config.embeddings] == ["labels", "sentences"]
    assert list(config.embeddings[1].tensor_shape) == [2, 2]


def test_embedding_with_too_few_texts_is_refused():
    with pytest.raises(ValueError, match=r"each of the 2 vectors. .*\{'label': 1\}"):
        projector.Embedding("x", np.eye(2), {"label": ["a"]})


@tf.function
def double(x):
    return x * 2


def train(profile: Profile, numbers, *, updates: int) -> None:
    for n in numbers:
        double(tf.constant(1.0))
        profile.updated(update(n, updates=updates))
    profile.close()


def profiles(folder) -> list[pathlib.Path]:
    return list(pathlib.Path(folder).glob("plugins/profile/*/*.xplane.pb"))


def steps_of(profile: pathlib.Path) -> list[int]:
    """The numbers of the updates that a profile marks as steps."""
    space = xplane_pb2.XSpace()
    space.ParseFromString(profile.read_bytes())
    found = []
    for plane in space.planes:
        events = {key: m.name for key, m in plane.event_metadata.items()}
        stats = {key: m.name for key, m in plane.stat_metadata.items()}
        found += [
            stat.int64_value or stat.uint64_value
            for line in plane.lines
            for event in line.events
            if events[event.metadata_id] == "train"
            for stat in event.stats
            if stats[stat.metadata_id] == "step_num"
        ]
    return found


def test_profile_is_of_as_many_updates_as_wanted(tmp_path, notes):
    train(Profile(str(tmp_path), updates=3), range(101, 121), updates=200)
    (path,) = profiles(tmp_path)
    first = 101 + UPDATES_BEFORE
    steps = steps_of(path)
    assert steps == [first, first + 1, first + 2]
    assert notes() == []


def test_training_that_ends_within_the_profile_keeps_it(tmp_path, notes):
    train(Profile(str(tmp_path), updates=50), range(1, 9), updates=8)
    assert len(profiles(tmp_path)) == 1
    assert notes() == [
        f"TensorBoard's profile is of {8 - UPDATES_BEFORE} updates, not of 50: then "
        "the training was over."
    ]


def test_training_too_short_for_a_profile_says_so(tmp_path, notes):
    train(Profile(str(tmp_path), updates=2), range(1, 4), updates=3)
    assert profiles(tmp_path) == []
    assert notes() == [
        "There is no profile for TensorBoard: it begins after 5 updates, and this "
        "training did 3."
    ]


def test_no_profile_is_taken_unless_wanted(tmp_path, notes):
    train(Profile(str(tmp_path), updates=0), range(1, 21), updates=20)
    assert profiles(tmp_path) == [] and notes() == []


def test_another_profile_is_noted_and_ends_nothing(tmp_path, notes):
    tf.profiler.experimental.start(str(tmp_path / "other"))
    try:
        train(Profile(str(tmp_path), updates=2), range(1, 21), updates=20)
    finally:
        tf.profiler.experimental.stop(save=False)
    (note,) = notes()
    assert note.startswith("The profile for TensorBoard was given up: AlreadyExists")
