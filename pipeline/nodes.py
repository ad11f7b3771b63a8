"""The nodes by name, in order, and the code that each depends on. Pure."""

# A node's outcome depends on these modules and on all that they import.
CODE_OF_NODE = {
    "ExampleGen": ("components.example_gen.component",),
    "DataGate": ("components.data_gate.component",),
    "Transform": ("trainer_module.preprocessing",),
    "Trainer": ("trainer_module.run_fn",),
    "Evaluator": ("components.evaluator.component",),
    "ModelCheck": ("components.model_check.component",),
    "Pusher": ("components.pusher.component",),
    "Report": ("components.report.component",),
}
# Releases that change what a node computes, beyond our own code.
LIBRARIES = (
    "tfx",
    "tensorflow",
    "tensorflow-text",
    "tf-keras",
    "transformers",
    "pyarrow",
    "charset-normalizer",
)

NODES = (
    "Checkpoint",
    "ExampleGen",
    "StatisticsGen",
    "SchemaGen",
    "ExampleValidator",
    "DataGate",
    "Transform",
    "Baseline",
    "Trainer",
    "Evaluator",
    "ModelCheck",
    "Pusher",
    "Report",
)
SCHEMA_IMPORT = "ImportSchemaGen"  # Stands in for SchemaGen where there is a schema.


def of_dag(*, reviewed_schema: bool) -> tuple[str, ...]:
    """The node ids of a DAG, in order."""
    schema = SCHEMA_IMPORT if reviewed_schema else "SchemaGen"
    return tuple(schema if node == "SchemaGen" else node for node in NODES)
