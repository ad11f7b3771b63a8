"""preprocessing_fn through Beam, on a few rows."""

import functools
import types

import pytest
import tensorflow as tf
import tensorflow_transform as tft
import tensorflow_transform.beam as tft_beam
from tensorflow_transform.tf_metadata import dataset_metadata, schema_utils

from trainer_module import export, features, preprocessing, tokenization
from trainer_module.settings import TransformSettings

pytestmark = [
    pytest.mark.slow,
    # TFT names its own tensors so.
    pytest.mark.filterwarnings("ignore::UserWarning:tensorflow_transform"),
]

# Whatever users may send: each must be read alike in training and in serving.
ODD = [
    "My card has not arrived yet.",
    *(
        "",
        "   ",
        " lead",
        "trail ",
        "two  spaces",
        "a\tb\nc\r\nd",
        "\u00a0\u2028\u200b",
    ),
    *("wait…", "straße", "m² ½ ①", "ＡＢＣ１２", "ﬁne ™", "naïve café", "e\u0301"),
    *("😀👍🏽", "你好 世界", "カード", "ไทย", "العربية", "Привет", "हिन्दी"),
    *("[SEP] [MASK]", "</s> <pad> <extra_id_0>", "a\u200djoin", "x" * 120),
    "summarize: already there",
    "word " * 100,
]
DENSE = {name: tf.io.FixedLenFeature([], tf.string) for name in features.RAW}
SPARSE = {name: tf.io.VarLenFeature(tf.string) for name in features.RAW}


def transformed(settings, texts, targets, tmp_path, spec=DENSE):
    """Runs Transform's analysis and transformation; gives its output and records."""
    metadata = dataset_metadata.DatasetMetadata(
        schema_utils.schema_from_feature_spec(spec)
    )
    rows = [
        {"text": text.encode(), "target": target.encode(), "example_id": b"%d" % n}
        for n, (text, target) in enumerate(zip(texts, targets, strict=True))
    ]
    if spec is SPARSE:
        rows = [{k: [v] for k, v in row.items()} for row in rows]
    path = str(tmp_path / "transform")
    fn = functools.partial(
        preprocessing.preprocessing_fn,
        custom_config=settings.to_custom_config(),
    )
    with tft_beam.Context(temp_dir=str(tmp_path / "temp")):
        (records, _), transform_fn = (rows, metadata) | (
            tft_beam.AnalyzeAndTransformDataset(fn)
        )
        transform_fn | tft_beam.WriteTransformFn(path)
    found = sorted(records, key=lambda r: int(r["example_id"]))
    return tft.TFTransformOutput(path), found


def transform_settings(settings) -> TransformSettings:
    kept = TransformSettings.model_fields
    return TransformSettings(**{k: getattr(settings, k) for k in kept})


def ids_of(record, name):
    for key in (name, f"{name}$ragged_values"):
        if key in record:
            return [int(n) for n in record[key]]
    raise KeyError(name)


@pytest.fixture(scope="module")
def served_ids(tmp_path_factory):
    """Gives the ids of texts by `encode` of an export with the settings' tokenizer."""

    class Served:
        """As much of a task as export.save asks for; `encode` is the real one."""

        def __init__(self, settings):
            self._tokenizer = tokenization.load(settings.checkpoint_dir, settings.model)
            self.encode = self._tokenizer.encode

        def answer(self, text):
            return {"length": self.encode(text).row_lengths()}

        def serving_module(self):
            module = tf.Module()
            module.tokenizer = self._tokenizer
            return module

    def encode(settings, texts):
        path = str(tmp_path_factory.mktemp("served") / "model")
        export.save(Served(settings), path)
        return tf.saved_model.load(path).encode(tf.constant(texts)).to_list()

    return encode


NAMES = [" led", "Fee", "a,b\t'c'", "fee", "reverted_card_payment?", "Ünknown", "丢失"]


@pytest.fixture(scope="module")
def classified(settings_for, minilm_dir, tmp_path_factory):
    """A classification's settings, Transform's output and records, of odd rows."""
    settings = transform_settings(settings_for("classification", minilm_dir))
    targets = [NAMES[min(n // 2, 6)] for n in range(len(ODD))]  # The last most often.
    folder = tmp_path_factory.mktemp("classes")
    return settings, targets, *transformed(settings, ODD, targets, folder)


def label_names(output) -> str:
    path = output.vocabulary_file_by_name(features.LABEL_NAMES_ASSET)
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def test_bert_ids_in_the_records_equal_those_of_the_served_graph(
    classified, served_ids
):
    settings, _, _, records = classified
    assert [ids_of(r, "input_ids") for r in records] == served_ids(settings, ODD)


def test_labels_are_numbered_by_the_bytes_of_their_names(classified):
    _, targets, output, records = classified
    assert label_names(output) == "".join(f"{name}\n" for name in NAMES)
    assert [int(r["labels"]) for r in records] == [NAMES.index(t) for t in targets]


def test_other_frequencies_and_another_form_of_column_give_the_same_numbers(
    settings_for, tiny_bert_dir, tmp_path
):
    settings = transform_settings(settings_for("classification", tiny_bert_dir))
    targets = [*NAMES[::-1], " led", " led", "Fee"]
    output, records = transformed(
        settings, ["card"] * len(targets), targets, tmp_path, SPARSE
    )
    assert label_names(output) == "".join(f"{name}\n" for name in NAMES)
    assert [int(r["labels"]) for r in records] == [NAMES.index(t) for t in targets]


def test_label_that_was_not_analysed_is_minus_one(classified):
    _, _, output, _ = classified
    raw = {"text": ["card"] * 3, "target": ["Fee", "lost", ""], "example_id": ["x"] * 3}
    layer = output.transform_features_layer()
    found = layer({name: tf.constant(values) for name, values in raw.items()})
    assert found["labels"].numpy().tolist() == [1, -1, -1]


def test_t5_ids_in_the_records_equal_those_of_the_served_graph(
    settings_for, tiny_t5_dir, tmp_path, served_ids
):
    settings = transform_settings(settings_for("summarization", tiny_t5_dir))
    targets = ["the card\x1eanother card", "the card", "", "on Monday again " * 9]
    targets += ["my card"] * (len(ODD) - 4)
    _, records = transformed(settings, ODD, targets, tmp_path)
    assert [ids_of(r, "input_ids") for r in records] == served_ids(settings, ODD)

    # Targets have no prefix and an end, and the first of two references is learned.
    labels = [ids_of(record, "labels") for record in records]
    tokenizer = tokenization.load(tiny_t5_dir, settings.model)
    assert labels[:3] == [
        *tokenizer.encode_target(tf.constant(["the card", "the card", ""])).to_list()
    ]
    assert all(row[-1] == 1 for row in labels) and len(labels[3]) == 8


def test_sparse_column_without_a_value_is_an_empty_text():
    sparse = tf.SparseTensor(
        indices=tf.zeros([0, 2], tf.int64),
        values=tf.zeros([0], tf.string),
        dense_shape=[2, 0],
    )
    assert preprocessing._flat(sparse).numpy().tolist() == [b"", b""]


@pytest.mark.parametrize("shape", [[2], [2, 1]])
def test_dense_column_becomes_one_text_a_row(shape):
    column = tf.reshape(tf.constant(["a", "b"]), shape)
    assert preprocessing._flat(column).numpy().tolist() == [b"a", b"b"]


def test_settings_that_are_missing_are_asked_for():
    inputs = types.MappingProxyType({})
    with pytest.raises(ValueError, match="to_custom_config"):
        preprocessing.preprocessing_fn(inputs, None)
