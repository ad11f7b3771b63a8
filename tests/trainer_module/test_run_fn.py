"""run_fn on a handful of rows: trains, exports, and can be read back."""

import json
import math
import os
import shutil
import types

import numpy as np
import pytest
import tensorflow as tf
import transformers
from safetensors.numpy import load_file, save_file

from tests.trainer_module import transformed
from trainer_module import progress, run_fn
from trainer_module.progress import Refusal

pytestmark = pytest.mark.slow


@pytest.fixture
def arguments(
    settings_for,
    tiny_bert_dir,
    lively_t5_dir,
    label_names_path,
    write_records,
    tmp_path,
    monkeypatch,
):
    """Makes fn_args as TFX would give them, for nine rows of a task."""

    def make(kind: str, *, path=None, **train):
        path = path or (tiny_bert_dir if kind == "classification" else lively_t5_dir)
        settings = settings_for(
            kind, path, train={"epochs": 2, "batch_size": 4, **train}
        )
        rows = [
            (f"r{n}", [2, *[5 + n] * (n % 4 + 1), 3], n % 3)
            if kind == "classification"
            else (f"r{n}", [*[5 + n] * (n % 4 + 1), 1], [7] * (n % 5) + [1])
            for n in range(9)
        ]
        targets = ["my card is late" for _ in rows]
        if kind == "classification":
            targets = [["fee", "late", "lost"][label] for _, _, label in rows]
        transform = transformed.output(kind, label_names_path)
        monkeypatch.setattr(run_fn.tft, "TFTransformOutput", lambda _path: transform)
        monkeypatch.setenv(progress.EVENTS_VARIABLE, str(tmp_path / "events"))
        return types.SimpleNamespace(
            custom_config=settings.to_custom_config(),
            transform_output="transform",
            train_files=[write_records(tmp_path / "train.gz", rows, targets)],
            eval_files=[write_records(tmp_path / "eval.gz", rows[:3], targets[:3])],
            serving_model_dir=str(tmp_path / "model" / "Format-Serving"),
            model_run_dir=str(tmp_path / "model_run"),
        )

    return make


READ = {
    "classification": transformers.TFAutoModelForSequenceClassification,
    "summarization": transformers.TFAutoModelForSeq2SeqLM,
}


METRICS = {
    "classification": {"loss", "accuracy", "macro_f1"},
    "summarization": {"loss", "rouge_l", "rouge1", "rouge2", "rouge_lsum"},
}


@pytest.mark.parametrize("kind", READ)
def test_run_writes_history_events_and_two_formats_with_the_same_weights(
    kind, arguments, tmp_path
):
    given = arguments(kind)
    run_fn.run_fn(given)

    history = json.loads((tmp_path / "model_run" / "history.json").read_text())
    assert [epoch["epoch"] for epoch in history] == [1, 2]
    assert all(
        math.isfinite(epoch[key])
        for epoch in history
        for key in ("loss", "validation_loss", "seconds", "examples_per_second")
    )
    assert [set(epoch["metrics"]) for epoch in history] == [METRICS[kind]] * 2
    assert all(0 <= epoch["padding_share"] < 1 for epoch in history)
    events = [
        json.loads(line) for line in (tmp_path / "events").read_text().splitlines()
    ]
    kinds = [event["kind"] for event in events if event["kind"] != "step"]
    assert kinds == ["training", "memory", "epoch", "epoch", "exporting"]
    training = next(e for e in events if e["kind"] == "training")
    assert (training["rows"], training["updates"], training["replicas"]) == (9, 6, 1)

    board = tmp_path / "model_run" / "tensorboard"
    assert {"projector_config.pbtxt", "sentences_tensors.tsv"} <= set(os.listdir(board))
    assert len((board / "sentences_tensors.tsv").read_text().splitlines()) == 3
    assert (board / "labels_metadata.tsv").exists() is (kind == "classification")

    served = tf.saved_model.load(given.serving_model_dir)
    path = str(tmp_path / "model" / "Format-HF")
    assert "model.safetensors" in os.listdir(path)
    assert not [name for name in os.listdir(path) if name.endswith((".h5", ".bin"))]
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model, info = READ[kind].from_pretrained(
        path, use_safetensors=True, output_loading_info=True
    )
    assert info["missing_keys"] == info["unexpected_keys"] == []
    text = "my card is late"
    answer = served.signatures["serving_default"](text=tf.constant([text]))
    if kind == "classification":
        logits = model(**tokenizer([text], return_tensors="tf")).logits
        scores = tf.nn.softmax(logits)
        np.testing.assert_allclose(answer["scores"], scores, atol=1e-5)
        assert model.config.id2label == {0: "fee", 1: "late", 2: "lost"}
    else:
        batch = tokenizer([f"summarize: {text}"], return_tensors="tf")
        ids = model.generate(**batch, max_new_tokens=8)
        want = tokenizer.batch_decode(ids, skip_special_tokens=True)
        assert [t.decode() for t in answer["text"].numpy()] == want


def test_loss_that_is_not_finite_names_the_examples_and_exports_nothing(
    arguments, tiny_bert_dir, tmp_path
):
    """The embedding of a token that one row alone has is not a number."""
    path = str(tmp_path / "checkpoint")
    shutil.copytree(tiny_bert_dir, path)
    file = os.path.join(path, "model.safetensors")
    weights = load_file(file)
    (embedding,) = [name for name in weights if "word_embeddings" in name]
    weights[embedding][5 + 4] = np.nan  # Of r4, see `arguments`.
    save_file(weights, file, metadata={"format": "pt"})
    given = arguments("classification", path=path, batch_size=1)
    with pytest.raises(Refusal, match="not finite at update .*learning_rate") as error:
        run_fn.run_fn(given)
    assert "whose examples are r4." in str(error.value)
    assert not (tmp_path / "model").exists()


def test_settings_that_are_missing_are_asked_for():
    with pytest.raises(ValueError, match="to_custom_config"):
        run_fn.run_fn(types.SimpleNamespace(custom_config=None))
