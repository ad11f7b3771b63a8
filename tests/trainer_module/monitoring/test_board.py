"""What the board writes, read back from its files."""

import errno

import pytest
from tensorboard.plugins.hparams import metadata as hparams

from tests.trainer_module.monitoring.reading import read, tags, values
from tests.trainer_module.monitoring.updates import update
from trainer_module.loop.events import Epoch, Sample
from trainer_module.monitoring.board import Board

pytestmark = pytest.mark.slow


@pytest.fixture
def board(settings_for, tmp_path):
    """Makes a board in tmp_path/tensorboard."""

    def make(tensorboard=(), folder=tmp_path / "tensorboard", **more) -> Board:
        train = {"tensorboard": dict(tensorboard)}
        settings = settings_for("classification", "path", train=train)
        return Board(str(folder), settings=settings, **more)

    return make


def epoch(number: int, updates: int, **fields) -> Epoch:
    metrics = fields.pop("metrics", {"loss": 0.5, "accuracy": 0.75})
    return Epoch(number, 4, updates, 0.25, metrics, True, 9.0, **fields)


def do(board: Board, numbers, *, loss=None, updates=10) -> None:
    for n in numbers:
        board.updated(update(n, updates=updates, loss=n if loss is None else loss))


def test_curves_hold_what_was_told(board, tmp_path):
    tensorboard = board()
    do(tensorboard, range(1, 11))
    tensorboard.validated(epoch(1, 10))
    tensorboard.finished({"accuracy": 0.5})
    tensorboard.close()

    events = read(tmp_path / "tensorboard")
    assert values(events, "train/loss") == {n: n for n in range(1, 11)}
    assert values(events, "speed/examples_per_second") == dict.fromkeys(range(1, 11), 4)
    assert values(events, "speed/padding_share")[1] == 0.5
    assert values(events, "eval/accuracy") == {10: 0.75}
    assert values(events, "final/accuracy") == {10: 0.5}
    assert "train/loss_scale" not in tags(events)


def test_files_are_whole_while_the_training_runs(board, tmp_path):
    tensorboard = board()
    do(tensorboard, range(1, 4))
    tensorboard.flush()
    assert values(read(tmp_path / "tensorboard"), "train/loss") == {1: 1, 2: 2, 3: 3}
    tensorboard.close()


def test_resumed_training_shows_no_update_twice(board, tmp_path):
    killed = board()
    do(killed, range(1, 9), loss=1)
    killed.validated(epoch(1, 4))
    killed.validated(epoch(2, 8))
    killed.close()

    resumed = board(resumed_at=5)
    resumed.flush()
    # At once, before anything else was written.
    events = read(tmp_path / "tensorboard")
    assert values(events, "train/loss") == dict.fromkeys(range(1, 6), 1)
    assert values(events, "eval/loss") == {4: 0.5}

    do(resumed, range(6, 11), loss=2)
    resumed.validated(epoch(2, 8, metrics={"loss": 0.25}))
    resumed.close()
    events = read(tmp_path / "tensorboard")
    assert values(events, "train/loss") == {n: 1 if n <= 5 else 2 for n in range(1, 11)}
    assert values(events, "eval/loss") == {4: 0.5, 8: 0.25}


def test_long_training_writes_few_points(board, tmp_path):
    tensorboard = board()
    do(tensorboard, range(1, 4002), updates=4001)
    tensorboard.close()
    points = values(read(tmp_path / "tensorboard"), "train/loss")
    assert len(points) == 1334
    assert points[3] == 2 and points[4001] == pytest.approx((4000 + 4001) / 2)


def test_training_that_stops_early_writes_its_last_updates(board, tmp_path):
    tensorboard = board()
    do(tensorboard, range(1, 6), updates=6000)
    tensorboard.finished({})
    tensorboard.close()
    assert values(read(tmp_path / "tensorboard"), "train/loss") == {3: 2, 5: 4.5}


def test_samples_are_as_many_as_the_setting_says(board, tmp_path):
    tensorboard = board({"sample_outputs": 1})
    samples = (Sample("a|b", "fee", "late"), Sample("c", "d", "e"))
    tensorboard.validated(epoch(2, 7, samples=samples))
    tensorboard.close()
    (text,) = values(read(tmp_path / "tensorboard"), "samples").values()
    assert text.decode() == (
        "Epoch 2 of 4, the best so far\n\n| text | target | prediction |\n"
        "| --- | --- | --- |\n| a&#124;b | fee | late |"
    )


def test_hyperparameters_and_end_are_told_also_after_a_resume(board, tmp_path):
    killed = board(trial="run-1")
    killed.started({"train": {"learning_rate": 0.5}})
    do(killed, range(1, 5))
    killed.close()
    resumed = board(trial="run-2", resumed_at=4)
    resumed.started({"train": {"learning_rate": 0.5}})
    resumed.finished({})
    resumed.close()

    events = read(tmp_path / "tensorboard")
    content = events.SummaryMetadata(hparams.SESSION_START_INFO_TAG).plugin_data.content
    start = hparams.parse_session_start_info_plugin_data(content)
    assert start.group_name == "run-1"
    assert start.hparams["train.learning_rate"].number_value == 0.5
    assert hparams.SESSION_END_INFO_TAG in tags(events)


def test_trainings_with_equal_settings_have_names_of_their_own(board, tmp_path):
    names = set()
    for name in "ab":
        tensorboard = board(folder=tmp_path / name)
        tensorboard.started({"x": 1})
        tensorboard.close()
        metadata = read(tmp_path / name).SummaryMetadata(hparams.SESSION_START_INFO_TAG)
        content = metadata.plugin_data.content
        start = hparams.parse_session_start_info_plugin_data(content)
        names.add(start.group_name)
    assert len(names) == 2


def test_folder_that_cannot_be_made_is_noted_once(board, tmp_path, notes):
    (tmp_path / "file").write_text("")
    tensorboard = board(folder=tmp_path / "file" / "tensorboard", resumed_at=3)
    do(tensorboard, range(4, 11))
    tensorboard.validated(epoch(1, 10))
    tensorboard.finished({})
    tensorboard.close()
    (note,) = notes()
    assert "cannot be written: " in note and "The training goes on" in note


def test_full_disk_ends_the_board_and_not_the_training(board, mounted, notes):
    disk = mounted("size=64k")
    tensorboard = board(folder=disk / "tensorboard")
    with pytest.raises(OSError) as full, open(disk / "filler", "wb", 0) as filler:
        while True:
            filler.write(b"x" * 4096)
    assert full.value.errno == errno.ENOSPC
    for n in range(1, 101):
        do(tensorboard, [n], updates=100)
        tensorboard.flush()
    tensorboard.close()
    (note,) = notes()
    assert "cannot be written" in note


def test_graph_that_cannot_be_traced_is_noted(board, tmp_path, notes):
    def trace():
        raise RuntimeError("no step yet\nand more")

    tensorboard = board()
    tensorboard.graph(trace)
    do(tensorboard, [1])
    tensorboard.close()
    (note,) = notes()
    assert note == (
        "The model's graph was not written for TensorBoard: RuntimeError: no step yet. "
        "The training goes on."
    )
    assert values(read(tmp_path / "tensorboard"), "train/loss") == {1: 1}


def test_histograms_that_are_off_ask_for_no_array(board, tmp_path):
    def arrays():
        raise AssertionError("asked")
        yield

    tensorboard = board({"histograms": False})
    tensorboard.histograms("weights", arrays())
    tensorboard.close()
    assert not tags(read(tmp_path / "tensorboard"))
