"""What TFDV counts of each feature: values of labels and slices, never of free text."""

import tensorflow_data_validation as tfdv
from tensorflow_metadata.proto.v0 import schema_pb2

from trainer_module import features


def build(task: str) -> tfdv.StatsOptions:
    """Options for StatisticsGen under which no text is kept as a "value".

    By itself TFDV lists the most frequent values of every string. Of free text that
    puts whole articles into the statistics, and on small data a closed list of them
    into the schema, so that all new text is an anomaly.

    Args:
      task: "classification", where the target is a label, or "summarization".
    """
    free = [features.TEXT, features.EXAMPLE_ID]
    if task == "summarization":
        free.append(features.TARGET)
    schema = schema_pb2.Schema()
    for name in free:
        feature = schema.feature.add(name=name, type=schema_pb2.BYTES)
        feature.string_domain.name = name
        feature.string_domain.is_categorical = schema_pb2.StringDomain.CATEGORICAL_NO
    # Only the sketches heed `is_categorical`. They are exact up to 1,000 values.
    return tfdv.StatsOptions(schema=schema, use_sketch_based_topk_uniques=True)
