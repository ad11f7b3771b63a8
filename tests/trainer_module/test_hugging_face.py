"""What is exported is read by PyTorch's models too, and they answer the same."""

import json
import subprocess

import numpy as np
import pytest
import tensorflow as tf
import transformers
from safetensors import safe_open
from safetensors.numpy import load_file

from trainer_module import export, hugging_face
from trainer_module.warm_start import CLASSIFIER_FILE

pytestmark = pytest.mark.slow

IDS, MASK, START = [[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]], [[1] * 5, [1, 1, 1, 0, 0]], [[0]]
READ_BY_PYTORCH = f"""
import json, sys
import torch, transformers

name, folder = sys.argv[1:]
model, info = getattr(transformers, name).from_pretrained(
    folder, use_safetensors=True, output_loading_info=True
)
inputs = {{"input_ids": torch.tensor({IDS}), "attention_mask": torch.tensor({MASK})}}
if name.startswith("T5"):
    inputs["decoder_input_ids"] = torch.tensor({START * 2})
with torch.no_grad():
    answer = model.eval()(**inputs)[0]
print(json.dumps({{
    "answer": answer.tolist(),
    "missing": [key for key in info["missing_keys"] if "pooler" not in key],
    "unexpected": info["unexpected_keys"],
}}, default=list))
"""


def read_by_pytorch(python: str, name: str, folder) -> dict:
    done = subprocess.run(
        [python, "-c", READ_BY_PYTORCH, name, str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def answer_of(model) -> np.ndarray:
    inputs = {"input_ids": tf.constant(IDS), "attention_mask": tf.constant(MASK)}
    if model.config.model_type == "t5":
        inputs["decoder_input_ids"] = tf.constant(START * 2)
    return model(inputs)[0].numpy()


@pytest.mark.parametrize(
    "task_name, pooling, architecture",
    [
        ("classification", "cls", "BertForSequenceClassification"),
        ("classification", "mean", "BertModel"),
        ("summarization", "cls", "T5ForConditionalGeneration"),
    ],
    ids=["bert_cls", "bert_mean", "t5"],
)
def test_exported_model_gives_the_same_answers_in_pytorch(
    task_name, pooling, architecture, request, tiny_task, torch_python, tmp_path
):
    kind = "bert" if task_name == "classification" else "t5"
    checkpoint_dir = request.getfixturevalue(f"tiny_{kind}_dir")
    task = tiny_task(task_name, model={"pooling": pooling})
    random = np.random.default_rng(1)
    for variable in task.model.variables:
        variable.assign(random.normal(scale=0.5, size=variable.shape))
    export.save_hugging_face(task, checkpoint_dir, str(tmp_path))
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == [architecture]
    theirs = read_by_pytorch(torch_python, architecture, tmp_path)
    assert theirs["missing"] == theirs["unexpected"] == []
    ours = task.model.encoder if pooling == "mean" else task.model
    np.testing.assert_allclose(theirs["answer"], answer_of(ours), rtol=1e-3, atol=1e-4)
    assert (tmp_path / CLASSIFIER_FILE).exists() is (pooling == "mean")


def test_file_says_it_is_pytorchs_and_has_the_shared_embedding_once(
    tiny_t5_dir, tmp_path
):
    model = transformers.TFT5ForConditionalGeneration.from_pretrained(tiny_t5_dir)
    hugging_face.save(model, str(tmp_path))
    file = str(tmp_path / hugging_face.WEIGHTS)
    with safe_open(file, "numpy") as weights:
        assert weights.metadata() == {"format": "pt"}
    names = [name for name in load_file(file) if "embed" in name or "shared" in name]
    assert names == ["shared.weight"]
    assert len(load_file(file)) == len(model.variables)


def test_two_weights_of_one_name_are_refused(tiny_t5_dir, tmp_path):
    config = transformers.T5Config.from_pretrained(tiny_t5_dir)
    model = transformers.TFT5ForConditionalGeneration(config)
    model.build()  # Without the scope that tells encoder from decoder.
    with pytest.raises(ValueError, match="Two weights of TFT5.* are named"):
        hugging_face.save(model, str(tmp_path))
