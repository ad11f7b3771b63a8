"""An inferred schema, held by TFDV against the very rows that it was made from."""

import pytest
import tensorflow as tf
import tensorflow_data_validation as tfdv
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import anomalies_pb2, schema_pb2
from tensorflow_transform.tf_metadata import schema_utils

from components.example_gen import core
from components.example_gen.serialization import Serializer
from components.example_gen.settings import DataSettings
from components.schema_inference import inferring, writing
from tests import public_data
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow
PUBLIC = public_data.DATA

JOBS = {
    "sample": (
        "classification",
        {
            **{"train": f"{ROOT}/data/sample/support.csv", "id": "ticket_id"},
            **{"text": "message", "target": "intent"},
            "slices": ("language", "channel", "product", "text_length"),
        },
    ),
    "sample_summaries": (
        "summarization",
        {
            **{"train": f"{ROOT}/data/sample/support.csv"},
            **{"text": "message", "target": "summary", "slices": ("intent",)},
        },
    ),
    "banking77": (
        "classification",
        {
            "train": f"{PUBLIC}/banking77/train.csv",
            "eval": f"{PUBLIC}/banking77/test.csv",
            **{"text": "text", "target": "category", "slices": ("text_length",)},
        },
    ),
    "scitldr": (
        "summarization",
        {
            "train": f"{PUBLIC}/scitldr/train.clean.jsonl",
            "eval": f"{PUBLIC}/scitldr/dev.clean.jsonl",
            **{"text": "source", "target": "target", "slices": ("title",)},
        },
    ),
    "tweetsumm": (
        "summarization",
        {
            "train": f"{PUBLIC}/tweetsumm/tweetsumm.jsonl",
            **{"text": "dialogue", "target": "summary", "id": "conversation_id"},
        },
    ),
}


@pytest.fixture(scope="module")
def inferred(request):
    """(splits, schema) of one job."""
    task, named = JOBS[request.param]
    settings = DataSettings(**named)
    for path in (*settings.train, *(settings.eval or ())):
        public_data.path_of(path)
    splits = {s: list(rows) for s, rows in core.ingest(settings, task).splits.items()}
    made = inferring.infer(
        splits, settings=settings, task=task, longest_tokens={"text": 300, "target": 40}
    )
    text = writing.to_text(made, request.param)
    return splits, text_format.Parse(text, schema_pb2.Schema())


@pytest.mark.parametrize("inferred", JOBS, indirect=True)
def test_rows_fit_the_schema_that_they_made(inferred, tmp_path):
    splits, schema = inferred
    for split, rows in splits.items():
        assert anomalies_of(rows, schema, tmp_path / split) == {}


@pytest.mark.parametrize("inferred", JOBS, indirect=True)
def test_transform_reads_one_string_of_each_feature(inferred):
    _, schema = inferred
    spec = schema_utils.schema_as_feature_spec(schema).feature_spec
    one_string = tf.io.FixedLenFeature([1], tf.string)
    assert spec == {feature.name: one_string for feature in schema.feature}


@pytest.mark.parametrize(
    "inferred", ["sample", "sample_summaries", "banking77"], indirect=True
)
def test_value_that_is_not_listed_and_too_few_rows_are_anomalies(inferred, tmp_path):
    splits, schema = inferred
    listed = [feature.name for feature in schema.feature if feature.HasField("domain")]
    few = [Odd({**splits["eval"][0].features(), listed[0]: b"never seen"})]
    found = anomalies_of(few, schema, tmp_path / "odd")
    assert "ENUM_TYPE_UNEXPECTED_STRING_VALUES" in found[listed[0]]
    assert "FEATURE_TYPE_LOW_NUMBER_PRESENT" in found["text"]


class Odd:
    """A row with features as they are given."""

    def __init__(self, features):
        self._features = features

    def features(self):
        return self._features


def anomalies_of(rows, schema, path):
    """Returns {feature: kinds of anomalies}."""
    serialize = Serializer(tuple(rows[0].features()))
    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in rows:
            writer.write(serialize(row.features()))
    statistics = tfdv.generate_statistics_from_tfrecord(str(path))
    found = tfdv.validate_statistics(statistics, schema)
    assert not found.HasField("dataset_anomaly_info")
    return {
        name: [anomalies_pb2.AnomalyInfo.Type.Name(r.type) for r in info.reason]
        for name, info in found.anomaly_info.items()
    }
