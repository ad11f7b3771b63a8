"""run_fn on a handful of rows: trains, exports, and can be read back."""

import json
import math
import os
import types

import numpy as np
import pytest
import tensorflow as tf
import transformers

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
    transformed_spec,
    tmp_path,
    monkeypatch,
):
    """Makes fn_args as TFX would give them, for nine rows of a task."""

    def make(kind: str, **train):
        path = tiny_bert_dir if kind == "classification" else lively_t5_dir
        settings = settings_for(
            kind, path, train={"epochs": 2, "batch_size": 4, **train}
        )
        rows = [
            (f"r{n}", [2, *[5 + n] * (n % 4 + 1), 3], n % 3)
            if kind == "classification"
            else (f"r{n}", [*[5 + n] * (n % 4 + 1), 1], [7] * (n % 5) + [1])
            for n in range(9)
        ]
        transform = types.SimpleNamespace(
            transformed_feature_spec=lambda: transformed_spec(kind),
            vocabulary_file_by_name=lambda _name: label_names_path,
        )
        monkeypatch.setattr(run_fn.tft, "TFTransformOutput", lambda _path: transform)
        monkeypatch.setenv(progress.EVENTS_VARIABLE, str(tmp_path / "events"))
        return types.SimpleNamespace(
            custom_config=settings.to_custom_config(),
            transform_output="transform",
            train_files=[write_records(tmp_path / "train.gz", rows)],
            eval_files=[write_records(tmp_path / "eval.gz", rows[:3])],
            serving_model_dir=str(tmp_path / "model" / "Format-Serving"),
            model_run_dir=str(tmp_path / "model_run"),
        )

    return make


READ = {
    "classification": transformers.TFAutoModelForSequenceClassification,
    "summarization": transformers.TFAutoModelForSeq2SeqLM,
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
        for key in ("loss", "validation_loss", "seconds")
    )
    events = [
        json.loads(line) for line in (tmp_path / "events").read_text().splitlines()
    ]
    kinds = [event["kind"] for event in events if event["kind"] != "step"]
    assert kinds == ["training", "epoch", "epoch", "exporting"]
    training = next(e for e in events if e["kind"] == "training")
    assert (training["rows"], training["updates"], training["replicas"]) == (9, 6, 1)

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


def test_loss_that_is_not_finite_refuses_the_run_and_exports_nothing(
    arguments, tmp_path, monkeypatch
):
    def diverging(_self, _batches, _spec):
        yield 1.0, 1.0
        yield math.nan, 1.0

    monkeypatch.setattr(run_fn.Trainer, "train", diverging)
    with pytest.raises(Refusal, match="nan at update 2 of epoch 1.*learning_rate"):
        run_fn.run_fn(arguments("classification"))
    assert not (tmp_path / "model").exists()


def test_settings_that_are_missing_are_asked_for():
    with pytest.raises(ValueError, match="to_custom_config"):
        run_fn.run_fn(types.SimpleNamespace(custom_config=None))
