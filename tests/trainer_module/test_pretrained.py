"""Weights that a checkpoint lacks are never made up."""

import shutil

import numpy as np
import pytest
import transformers
from safetensors.numpy import load_file, save_file

from tests.e2e import jobs
from trainer_module import pretrained
from trainer_module.progress import Refusal

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert") / "checkpoint"
    jobs.write_bert(folder)
    return folder


@pytest.fixture
def load(bert, tmp_path):
    """Loads the checkpoint as a classifier after `change` of its weights."""

    def changed(change):
        folder = tmp_path / "changed"
        shutil.copytree(bert, folder)
        file = str(folder / "model.safetensors")
        save_file(change(load_file(file)), file, metadata={"format": "pt"})
        return pretrained.load(
            transformers.TFBertForSequenceClassification,
            str(folder),
            new_parts=("classifier", "pooler"),
            num_labels=3,
        )

    return changed


def test_head_may_be_new(load):
    assert load(lambda weights: weights).config.num_labels == 3


def without(part):
    return lambda weights: {k: v for k, v in weights.items() if part not in k}


def reshaped(part):
    return lambda weights: {
        k: np.zeros((3, 5), np.float32) if part in k else v for k, v in weights.items()
    }


@pytest.mark.parametrize(
    "change, said",
    [
        (without("layer.1."), r"lacks weights .*encoder.layer.1.* and \d+ more"),
        (
            lambda weights: {f"zzz.{k}": v for k, v in weights.items()},
            "lacks weights .*without a place: .*zzz.",
        ),
        (reshaped("layer.1.output.dense.weight"), "cannot be loaded as TFBertFor"),
    ],
    ids=["layer_missing", "other_names", "other_shape"],
)
def test_checkpoint_without_its_weights_is_refused(load, change, said):
    with pytest.raises(Refusal, match=said):
        load(change)
