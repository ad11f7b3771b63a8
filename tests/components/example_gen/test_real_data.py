"""Published data, where it lies beside the repository: every row is kept."""

from components.example_gen import core
from tests import public_data


def path_of(name):
    return str(public_data.path_of(name))


def test_banking77_is_kept_row_for_row(settings):
    train, held = path_of("banking77/train.csv"), path_of("banking77/test.csv")
    result = core.ingest(
        settings(train, eval=held, target="category"), "classification"
    )
    assert result.account.splits == {"train": 10_003, "eval": 3_080}
    for file in result.account.files:
        assert (file.kept, file.rejected, file.characters_removed) == (
            file.rows_read, {}, 0,
        )  # fmt: skip
    labels = {example.target for example in result.splits["train"]}
    assert len(labels) == 77
    assert labels == {example.target for example in result.splits["eval"]}
    assert {"Refund_not_showing_up", "reverted_card_payment?"} < labels


def test_scitldr_keeps_sentences_and_references(settings):
    held = path_of("scitldr/dev.clean.jsonl")
    changes = {"text": "source", "target": "all_targets", "slices": ("text_length",)}
    result = core.ingest(settings(held, **changes), "summarization")
    assert sum(result.account.splits.values()) == 619
    references = [len(e.target.split("\x1e")) for e in result.splits["eval"]]
    assert (min(references), max(references)) == (1, 4)
