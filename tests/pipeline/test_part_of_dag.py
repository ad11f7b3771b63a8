"""A part of the DAG takes what it needs of the newest run that has it."""

import pytest

from pipeline import part_of_dag
from trainer_module.progress import Refusal

# Gen -> Train -> Check, Evaluate -> Push -> Report; Report takes Gen's too.
UPSTREAM = {
    "Gen": [],
    "Train": ["Gen"],
    "Check": ["Train"],
    "Evaluate": ["Gen", "Train"],
    "Push": ["Check", "Evaluate"],
    "Report": ["Push", "Gen"],
}


@pytest.mark.parametrize(
    "from_node, to_node, nodes",
    [
        (None, "Train", set()),
        ("Gen", "Check", set()),
        ("Train", None, {"Gen"}),
        ("Evaluate", "Evaluate", {"Gen", "Train"}),
        ("Check", "Push", {"Gen", "Train", "Evaluate"}),
        ("Report", None, {"Gen", "Train", "Check", "Evaluate", "Push"}),
    ],
)
def test_needed_are_all_nodes_before_those_that_run(from_node, to_node, nodes):
    assert part_of_dag.needed(UPSTREAM, from_node, to_node) == nodes


def test_newest_run_that_has_all_of_them_is_taken():
    runs = [("third", {"Gen", "Evaluate"}), ("second", {"Gen", "Train"})]
    runs.append(("first", {"Gen", "Train"}))
    found = part_of_dag.base_run({"Gen", "Train"}, runs, first="Check")
    assert found == ("second", "third")


def test_no_newer_run_is_named_where_the_newest_has_them():
    found = part_of_dag.base_run({"Gen"}, [("second", {"Gen"})], first="Train")
    assert found == ("second", None)


def test_nothing_needed_needs_no_run():
    assert part_of_dag.base_run(set(), [], first="Gen") == (None, None)


@pytest.mark.parametrize("runs", [[], [("one", {"Gen"})]], ids=["none", "too_little"])
def test_without_such_a_run_the_way_out_is_told(runs):
    with pytest.raises(Refusal, match="Gen, Train. Run the whole DAG first"):
        part_of_dag.base_run({"Train", "Gen"}, runs, first="Evaluate")
