"""pipeline.statistics_options: texts are no values, labels and slices are."""

import apache_beam as beam
import pyarrow as pa
import pytest
import tensorflow_data_validation as tfdv

from pipeline import statistics_options

pytestmark = pytest.mark.slow


@pytest.fixture
def statistics_of(tmp_path):
    """What StatisticsGen finds in a table {feature: values}."""

    def statistics_of(task, columns):
        arrays = [pa.array([[v] for v in values]) for values in columns.values()]
        batch = pa.RecordBatch.from_arrays(arrays, list(columns))
        # Through JSON, as the options reach the node.
        options = tfdv.StatsOptions.from_json(statistics_options.build(task).to_json())
        path = str(tmp_path / "statistics.pb")
        with beam.Pipeline() as pipeline:
            _ = (
                pipeline
                | beam.Create([batch])
                | tfdv.GenerateStatistics(options)
                | tfdv.WriteStatisticsToBinaryFile(path)
            )
        return tfdv.load_stats_binary(path)

    return statistics_of


def table(rows=40):
    return {
        "text": [b"text number %d" % n for n in range(rows)],
        "example_id": [b"%d" % n for n in range(rows)],
        "target": [b"label %d" % (n % 3) for n in range(rows)],
        "channel": [b"web", b"app"] * (rows // 2),
    }


@pytest.mark.parametrize(
    "task, closed",
    [("classification", {"target", "channel"}), ("summarization", {"channel"})],
)
def test_only_labels_and_slices_are_closed_lists_of_values(statistics_of, task, closed):
    schema = tfdv.infer_schema(statistics_of(task, table()))
    assert {f.name for f in schema.feature if f.domain} == closed
    assert len(schema.feature) == 4


def test_no_text_is_kept_in_the_statistics(statistics_of):
    written = statistics_of("classification", table()).SerializeToString()
    assert b"text number" not in written
    assert b"label 2" in written


def test_new_text_is_no_anomaly_and_a_new_label_is_exactly_one(statistics_of):
    schema = tfdv.infer_schema(statistics_of("classification", table()))
    new = {
        "text": [b"another text %d" % n for n in range(10)],
        "example_id": [b"e%d" % n for n in range(10)],
        "target": [b"label 0"] * 9 + [b"label 7"],
        "channel": [b"web"] * 10,
    }
    found = tfdv.validate_statistics(statistics_of("classification", new), schema)
    assert list(found.anomaly_info) == ["target"]
