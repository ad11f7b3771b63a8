"""A run of a part of the DAG: which earlier run gives what its nodes need. Pure."""

from collections.abc import Iterable, Mapping

from trainer_module.progress import Refusal


def needed(
    upstream: Mapping[str, Iterable[str]], from_node: str | None, to_node: str | None
) -> set[str]:
    """The nodes whose earlier results a part of the DAG takes.

    Args:
      upstream: of each node, the nodes directly before it.
      from_node: where the part begins, None for all beginnings.
      to_node: where it ends, None for all ends.
    """
    before = {node: _before(upstream, node) for node in upstream}
    chosen = {
        node
        for node in upstream
        if (from_node is None or from_node in before[node] | {node})
        and (to_node is None or node in before[to_node] | {to_node})
    }
    return set().union(*(before[node] for node in chosen)) - chosen


def _before(upstream: Mapping[str, Iterable[str]], node: str) -> set[str]:
    found: set[str] = set()
    waiting = list(upstream[node])
    while waiting:
        nearest = waiting.pop()
        if nearest not in found:
            found.add(nearest)
            waiting += upstream[nearest]
    return found


def base_run(
    nodes: set[str], runs: Iterable[tuple[str, set[str]]], *, first: str
) -> tuple[str | None, str | None]:
    """(the run to take their results of, the newer run that lacks some of them).

    Args:
      nodes: those whose results are needed.
      runs: (id, nodes that ended well), newest first.
      first: the node that the part begins with, to name it.

    Raises:
      Refusal: if no run has them all.
    """
    if not nodes:
        return None, None
    newest = None
    for run, ended in runs:
        if nodes <= ended:
            return run, newest
        newest = newest or run
    raise Refusal(
        f"{first} takes the results of the nodes before it, and no run in this root "
        f"has ended all of them: {', '.join(sorted(nodes))}. Run the whole DAG first, "
        "without `--from`."
    )
