"""Models of two layers, and the loop's own updates of them."""

import pathlib
import shutil

import pytest

ROWS = {
    "classification": ([[2, 5, 6, 3], [2, 7, 3, 0]], [2, 0]),
    "summarization": ([[5, 6, 7, 1], [9, 1, 0, 0]], [[5, 6, 1], [7, 1, -100]]),
}
# T5 v1.1 and mT5: a gated feed-forward, and a head of its own.
GATED = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}


@pytest.fixture(scope="session")
def two_layers(tmp_path_factory, tiny_bert_dir, tiny_t5_dir):
    """Folders of checkpoints by kind: two layers, random weights."""
    import tensorflow as tf
    import transformers

    def write(kind: str, beside: str, model) -> str:
        path = tmp_path_factory.mktemp(kind) / "checkpoint"
        shutil.copytree(beside, path)
        model.build_in_name_scope()
        model.save_pretrained(str(path), safe_serialization=True)
        return str(path)

    bert = transformers.BertConfig.from_pretrained(tiny_bert_dir, num_hidden_layers=2)
    t5 = transformers.T5Config.from_pretrained(
        tiny_t5_dir, num_layers=2, num_decoder_layers=2
    )
    shape = t5.to_dict() | GATED
    for derived in ("is_gated_act", "dense_act_fn"):  # From `feed_forward_proj`.
        del shape[derived]
    t5_v1_1 = transformers.T5Config.from_dict(shape)
    mt5 = transformers.MT5Config.from_dict(shape)
    tf.keras.utils.set_random_seed(0)
    of_t5 = transformers.TFT5ForConditionalGeneration
    return {
        "bert": write("bert", tiny_bert_dir, transformers.TFBertModel(bert)),
        "t5": write("t5", tiny_t5_dir, of_t5(t5)),
        "t5_v1_1": write("t5_v1_1", tiny_t5_dir, of_t5(t5_v1_1)),
        "mt5": write(
            "mt5", tiny_t5_dir, transformers.TFMT5ForConditionalGeneration(mt5)
        ),
    }


@pytest.fixture(scope="session")
def task_of(settings_for, two_layers, label_names_path):
    """Makes a task from one of `two_layers`; "bert_mean" pools by the mean."""
    from trainer_module.tasks import building

    def make(kind: str, **changes):
        checkpoint, _, pooling = kind.partition("_mean")
        task = "classification" if checkpoint == "bert" else "summarization"
        if "bert" in kind and kind.endswith("_mean"):
            changes = {**changes, "model": {"pooling": "mean"}}
        settings = settings_for(task, two_layers[checkpoint], **changes)
        return building.build(settings, label_names_path)

    return make


@pytest.fixture(scope="session")
def batch_for():
    """A padded batch of two rows for a task."""
    import tensorflow as tf

    def make(task) -> dict:
        is_classifier = hasattr(task.model, "classifier")
        ids, labels = ROWS["classification" if is_classifier else "summarization"]
        return {"input_ids": tf.constant(ids), "labels": tf.constant(labels)}

    return make


@pytest.fixture(scope="session")
def update(batch_for):
    """Updates a task's weights as the loop does; gives the loss of each update."""
    import tensorflow as tf

    from tests.trainer_module.descent import Descent
    from trainer_module.loop.trainer import Report, Trainer

    def run(task, *, updates: int, xla: bool = False, optimizer=None) -> list[float]:
        batch = batch_for(task)
        trainer = Trainer(
            task=task,
            optimizer=optimizer or Descent(0.5),
            strategy=tf.distribute.get_strategy(),
            element_spec={n: tf.TensorSpec.from_tensor(v) for n, v in batch.items()},
            clip_norm=1e9,
            xla=xla,
        )
        reports = [Report.of(trainer.update([batch])) for _ in range(updates)]
        return [report.loss_sum for report in reports]

    return run


@pytest.fixture(scope="session")
def logits_of(batch_for):
    """The model's raw scores of `batch_for`, without dropout, as an array."""
    import tensorflow as tf

    def compute(task, model=None):
        ids = batch_for(task)["input_ids"]
        inputs = {"input_ids": ids, "attention_mask": tf.cast(ids != 0, tf.int32)}
        if not hasattr(task.model, "classifier"):
            inputs["decoder_input_ids"] = tf.constant([[0, 5, 6], [0, 7, 1]])
        return (model or task.model)(inputs, training=False).logits.numpy()

    return compute


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return pathlib.Path(__file__).parents[3]
