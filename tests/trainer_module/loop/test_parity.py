"""Twenty updates of the loop against twenty of PyTorch: the same losses.

The peer is the PyTorch model of `transformers` under torch.optim.AdamW, and shares
nothing with us but the checkpoint, the rows of each batch and the hyper-parameters.
"""

import json
import pathlib
import re
import subprocess

import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

from trainer_module import hugging_face
from trainer_module.input import batching, records
from trainer_module.loop import optimizers
from trainer_module.loop.feed import Feed
from trainer_module.loop.trainer import Report, Trainer
from trainer_module.tasks import building

pytestmark = pytest.mark.slow

TOLERANCE = 1e-4  # Relative; sums of float32 in another order make about 1e-6.
UPDATES, BATCH_SIZE, ROWS = 20, 4, 18  # Some batches have absent rows.
CLASSES = 3
CASES = {
    # name: (task, pooling, learning rate); random weights bear a high one.
    "tiny_bert_cls": ("classification", "cls", 3e-3),
    "tiny_bert_mean": ("classification", "mean", 3e-3),
    "minilm_cls": ("classification", "cls", 1e-4),
    "tiny_t5": ("summarization", "cls", 3e-3),
}


def rows_of(task: str, vocabulary: int) -> records.Rows:
    """Rows of 3 to 24 random tokens; targets of 2 to 12."""
    random = np.random.default_rng(0)

    def tokens(low, high, end):
        length = random.integers(low, high + 1) - 1
        return [*random.integers(4, vocabulary, size=length).tolist(), end]

    if task == "classification":
        ids = [[2, *tokens(2, 23, 3)] for _ in range(ROWS)]
        labels = tf.constant(random.integers(0, CLASSES, size=ROWS), tf.int32)
    else:
        ids = [tokens(3, 24, 1) for _ in range(ROWS)]
        labels = [tokens(2, 12, 1) for _ in range(ROWS)]
        labels = tf.ragged.constant(labels, dtype=tf.int32)
    ids = tf.ragged.constant(ids, dtype=tf.int32)
    names = np.array([b"x"] * ROWS)
    return records.Rows(ids, labels, names, targets=names)


def plans_of(rows: records.Rows, task) -> list[batching.BatchPlan]:
    """Epochs of `UPDATES` batches in all."""

    def plan(epoch):
        return batching.plan_training(
            rows.lengths,
            batch_size=BATCH_SIZE,
            seed=0,
            epoch=epoch,
            max_width=task.max_width,
        )

    epochs, rest = divmod(UPDATES, len(plan(0)))
    assert rest == 0
    plans = [plan(epoch) for epoch in range(epochs)]
    assert any(batching.ABSENT in plan.rows for plan in plans)
    return plans


def our_losses(settings, task, rows, plans) -> tuple[list[float], float]:
    """The mean loss of each update of the project's own loop.

    And that of the last one's batch under the weights before the first.
    """
    strategy = tf.distribute.get_strategy()
    feed = Feed(rows, strategy=strategy, pad_id=task.pad_id)
    trainer = Trainer(
        task=task,
        optimizer=optimizers.build(settings.train, total_updates=UPDATES),
        strategy=strategy,
        element_spec=feed.element_spec(plans[0]),
        clip_norm=settings.train.clip_norm,
        xla=False,
    )
    windows = [w for plan in plans for w in feed.windows(plan, first=0, size=1)]
    (last,) = windows[-1].batches
    loss_sum, weight_sum = task.loss_sums(last, training=True)
    reports = [Report.of(trainer.update(window.batches)) for window in windows]
    losses = [report.loss_sum / report.weight_sum for report in reports]
    return losses, float(loss_sum / weight_sum)


def write_job(folder, settings, task, rows, plans) -> None:
    train = settings.train
    t5 = settings.task == "summarization"
    inputs = rows.input_ids.to_list()
    labels = rows.labels.to_list() if t5 else rows.labels.numpy().tolist()
    job = {
        "kind": "t5" if t5 else f"bert_{settings.model.pooling}",
        "checkpoint": settings.checkpoint_dir,
        "classes": CLASSES,
        "pad_id": task.pad_id,
        "learning_rate": train.learning_rate,
        "warmup_updates": round(train.warmup_share * UPDATES),
        "weight_decay": train.weight_decay,
        "epsilon": 1e-6,
        "clip_norm": train.clip_norm,
        "batches": [
            [
                {"input_ids": inputs[row], "labels": labels[row]}
                for row in plan.batch(number)
                if row != batching.ABSENT
            ]
            for plan in plans
            for number in range(len(plan))
        ],
    }
    (folder / "job.json").write_text(json.dumps(job))
    head = [
        hugging_face.in_pytorch(variable.name, variable.numpy())
        for variable in task.model.variables
        if re.search("/(pooler|classifier)/", variable.name)
    ]
    assert bool(head) != t5
    safetensors.numpy.save_file(dict(head), folder / "head.safetensors")


def their_losses(python: str, folder: pathlib.Path) -> dict[str, list[float]]:
    done = subprocess.run(
        [python, str(pathlib.Path(__file__).with_name("torch_peer.py")), str(folder)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
def test_losses_are_those_of_pytorch(
    case, request, tmp_path, torch_python, settings_for, label_names_path
):
    kind, pooling, learning_rate = CASES[case]
    path = request.getfixturevalue(f"{case.removesuffix(f'_{pooling}')}_dir")
    settings = settings_for(
        kind,
        path,
        model={"pooling": pooling},
        train={"learning_rate": learning_rate, "weight_decay": 0.1},
    )
    tf.keras.utils.set_random_seed(0)
    task = building.build(settings, label_names_path)
    rows = rows_of(kind, vocabulary=task.model.config.vocab_size)
    plans = plans_of(rows, task)
    write_job(tmp_path, settings, task, rows, plans)
    ours, last_untrained = our_losses(settings, task, rows, plans)
    theirs = their_losses(torch_python, tmp_path)
    assert len(ours) == UPDATES
    np.testing.assert_allclose(ours, theirs["losses"], rtol=TOLERANCE)
    # Clipping took part, and the updates are what the loss is of.
    assert max(theirs["gradient_norms"]) > settings.train.clip_norm
    assert abs(ours[-1] / last_untrained - 1) > 0.05
