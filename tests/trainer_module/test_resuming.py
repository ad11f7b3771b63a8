"""A training that is killed, and run again, ends in the weights it would have had."""

import random
import signal
import time

import pytest

from tests.trainer_module.jobs import Job

pytestmark = pytest.mark.slow

ROWS = 61  # With a batch that is not full.
EPOCHS = 30
KILLS = 10


@pytest.fixture(scope="module")
def make_job(
    tmp_path_factory, settings_for, tiny_bert_dir, label_names_path, write_records
):
    """Makes jobs of the same training, with dropout, in folders of their own."""
    folder = tmp_path_factory.mktemp("jobs")
    numbers = random.Random(0)
    rows = []
    for n in range(ROWS):
        label = n % 3
        ids = [2, *(5 + 3 * numbers.randrange(5) + label for _ in range(n % 7 + 1)), 3]
        rows.append((f"r{n}", ids, label))
    names = ["fee", "late", "lost"]
    targets = [names[label] for _, _, label in rows]
    train = write_records(folder / "train.gz", rows, targets)
    held_out = write_records(folder / "eval.gz", rows[:9], targets[:9])
    settings = settings_for(
        "classification",
        tiny_bert_dir,
        train={
            "epochs": EPOCHS,
            "batch_size": 4,
            "dropout": 0.1,
            "learning_rate": 0.01,
            "checkpoint_minutes": 0.002,
            "keep_best": {"metric": "accuracy", "direction": "max"},
        },
    )

    def make(name: str) -> Job:
        config = settings.to_custom_config()
        return Job(folder / name, config, train, held_out, label_names_path)

    return make


@pytest.fixture(scope="module")
def uninterrupted(make_job) -> Job:
    return make_job("uninterrupted").finish()


def test_same_training_twice_gives_the_same_weights_bit_for_bit(
    make_job, uninterrupted
):
    again = make_job("again").finish()
    assert again.weights == uninterrupted.weights
    assert again.history == uninterrupted.history
    assert uninterrupted.history[-1]["loss"] < uninterrupted.history[0]["loss"] / 2


def test_killed_at_ten_random_moments_it_ends_in_the_same_weights(
    make_job, uninterrupted
):
    job = make_job("killed")
    moments = random.Random()
    started_at = []
    for _ in range(KILLS):
        process = job.start_until_saved()
        time.sleep(moments.uniform(0.0, 0.3))
        process.kill()
        process.wait()
        started_at.append(job.events("training")[-1]["updates_before"])
    job.finish()
    assert job.weights == uninterrupted.weights
    assert job.history == uninterrupted.history
    assert started_at == sorted(started_at) and started_at[-1] > 0
    assert len(job.events("training")) == KILLS + 1


def test_sigterm_saves_leaves_in_time_and_the_next_run_goes_on_there(
    make_job, uninterrupted
):
    job = make_job("terminated")
    process = job.start_until_saved()
    asked = time.monotonic()
    process.terminate()
    assert process.wait(60) not in (0, -signal.SIGTERM)
    assert time.monotonic() - asked < 30
    assert "Asked to end" in job.log
    saved = job.saved
    job.finish()
    assert job.events("training")[-1]["updates_before"] == saved
    assert job.weights == uninterrupted.weights


def test_finished_training_is_exported_again_without_training(make_job, uninterrupted):
    job = make_job("finished").finish()
    first = job.weights
    updates = job.events("training")[0]["updates"]
    job.finish()
    assert job.weights == first == uninterrupted.weights
    assert job.events("training")[-1]["updates_before"] == updates
    assert len(job.events("epoch")) == EPOCHS
    assert job.history == uninterrupted.history


def test_torn_newest_checkpoint_is_told_and_the_one_before_is_used(
    make_job, uninterrupted
):
    job = make_job("torn")
    process = job.start_until_saved()
    while len(list(job.folder.glob("training/*/update-*/state.json"))) < 2:
        time.sleep(0.01)
    process.kill()
    process.wait()
    newest = max(job.folder.glob("training/*/update-*/state.json")).parent
    with open(newest / "arrays.safetensors", "r+b") as f:
        f.truncate(1000)
    job.finish()
    (note,) = [e for e in job.events("note") if newest.name in e["message"]]
    assert "damaged" in note["message"]
    assert job.weights == uninterrupted.weights
