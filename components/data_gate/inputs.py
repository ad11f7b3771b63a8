"""What the DataGate reads of the other nodes' artifacts."""

import os
from collections.abc import Iterator

from tensorflow_metadata.proto.v0 import anomalies_pb2
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.data_gate import reviewed_schema
from components.data_gate.reviewed_schema import Column
from components.data_gate.rules.schema_rules import Anomaly


def read_anomalies(anomalies, split: str) -> Iterator[Anomaly]:
    """Yields each reason of each anomaly that ExampleValidator found in a split."""
    folder = artifact_utils.get_split_uri([anomalies], split)
    with fileio.open(os.path.join(folder, "SchemaDiff.pb"), "rb") as file:
        found = anomalies_pb2.Anomalies.FromString(file.read())
    named = dict(found.anomaly_info)
    if found.HasField("dataset_anomaly_info"):
        named[""] = found.dataset_anomaly_info
    for name, info in sorted(named.items()):
        feature = ".".join(info.path.step) or name
        # Without a reason, all that there is to tell is the description.
        for reason in info.reason or [info]:
            kind = anomalies_pb2.AnomalyInfo.Type.Name(getattr(reason, "type", 0))
            yield Anomaly(split, feature, kind, reason.description.strip())


def read_schema(schema) -> dict[str, Column]:
    """What the schema says of each feature, inferred or reviewed."""
    (path,) = fileio.glob(os.path.join(schema.uri, "*.pbtxt"))
    with fileio.open(path) as file:
        return reviewed_schema.parse(file.read())
