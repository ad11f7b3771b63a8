"""Artifact types of our own. No PROPERTIES: Kubeflow v2 could not compile them."""

from tfx.types.artifact import Artifact


class Checkpoint(Artifact):
    """A pretrained checkpoint directory in Hugging Face format."""

    TYPE_NAME = "texttune.Checkpoint"


class DataAccount(Artifact):
    """What became of every input row: account.json and rejected.jsonl."""

    TYPE_NAME = "texttune.DataAccount"


class DataVerdict(Artifact):
    """What the DataGate found: findings, the train split's profile, statistics."""

    TYPE_NAME = "texttune.DataVerdict"


class RunReport(Artifact):
    """The page of a run, report.html, and the card of its model, model_card.md."""

    TYPE_NAME = "texttune.RunReport"
