"""Imports go one way, and the pure modules stay free of what is slow to import."""

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Who may import whom.
ALLOWED = {
    "schemas": set(),
    "serving": set(),
    "trainer_module": {"schemas"},
    "components": {"trainer_module", "schemas", "serving"},
    "pipeline": {"components", "trainer_module", "schemas", "serving"},
    "kubeflow": {"pipeline", "components", "trainer_module", "schemas", "serving"},
    "local_runner": {"pipeline", "components", "trainer_module", "schemas", "serving"},
}

# Modules that answer within a second, so neither they nor what they import may import
# these.
PURE = (
    "components/**/core.py",
    "components/data_gate/findings.py",
    "components/data_gate/rules/*.py",
    "components/data_gate/drift/*.py",
    "components/data_gate/texts/scripts.py",
    "components/data_gate/texts/text_notes.py",
    "components/data_gate/texts/text_statistics.py",
    "components/example_gen/account.py",
    "components/example_gen/examples.py",
    "components/example_gen/portions.py",
    "components/example_gen/refusals.py",
    "components/example_gen/serialization.py",
    "components/example_gen/texts.py",
    "components/example_gen/csv_records.py",
    "components/example_gen/encodings.py",
    "components/example_gen/files.py",
    "components/example_gen/json_records.py",
    "components/example_gen/languages.py",
    "components/example_gen/normalisation.py",
    "components/example_gen/parquet_records.py",
    "components/example_gen/reading.py",
    "components/example_gen/settings.py",
    "components/example_gen/text_files.py",
    "components/example_gen/tfrecord_records.py",
    "components/example_gen/sources.py",
    "components/example_gen/span_changes.py",
    "components/example_gen/spans.py",
    "components/evaluator/scores/*.py",
    "components/evaluator/bootstrap.py",
    "components/evaluator/by_label.py",
    "components/evaluator/checks.py",
    "components/evaluator/gate.py",
    "components/evaluator/comparing.py",
    "components/evaluator/damages.py",
    "components/evaluator/evaluation.py",
    "components/evaluator/plain.py",
    "components/evaluator/predictions.py",
    "components/report/card/*.py",
    "components/report/changes.py",
    "components/report/comparison/*.py",
    "components/report/curves.py",
    "components/report/data_shown.py",
    "components/report/evaluation_shown.py",
    "components/report/pages.py",
    "components/report/verdicts.py",
    "components/evaluator/rows.py",
    "components/evaluator/self_test.py",
    "components/evaluator/settings.py",
    "components/evaluator/shown_examples.py",
    "components/evaluator/slices.py",
    "components/model_check/runner.py",
    "components/pusher/run_facts.py",
    "components/data_gate/reviewed_schema.py",
    "components/schema_inference/**/*.py",
    "pipeline/config/**/*.py",
    "pipeline/checkpoints.py",
    "pipeline/cli.py",
    "pipeline/commands/**/*.py",
    "pipeline/deliveries.py",
    "pipeline/compared_runs.py",
    "pipeline/evaluated_runs.py",
    "pipeline/evaluation_shown.py",
    "pipeline/fingerprints.py",
    "pipeline/gate_selftest.py",
    "pipeline/local_run.py",
    "pipeline/lock.py",
    "pipeline/model_facts.py",
    "pipeline/nodes.py",
    "pipeline/part_of_dag.py",
    "pipeline/place.py",
    "pipeline/plan.py",
    "pipeline/preparing.py",
    "pipeline/run_record.py",
    "pipeline/runs_shown.py",
    "pipeline/schema_files.py",
    "pipeline/schema_tools.py",
    "pipeline/shipped.py",
    "pipeline/stopped_page.py",
    "pipeline/tensorboard_server.py",
    "pipeline/terminal.py",
    "pipeline/trainings.py",
    "pipeline/tuning/**/*.py",
    "pipeline/whole_file.py",
    "serving/**/*.py",
    "trainer_module/checkpoints/*.py",
    "trainer_module/input/batching.py",
    "trainer_module/loop/best.py",
    "trainer_module/input/shapes.py",
    "trainer_module/input/widths.py",
    "trainer_module/loop/controller.py",
    "trainer_module/loop/events.py",
    "trainer_module/loop/stopping.py",
    "trainer_module/loop/telling.py",
    "trainer_module/loop/free_memory.py",
    "trainer_module/loop/memory.py",
    "trainer_module/features.py",
    "trainer_module/monitoring/curves.py",
    "trainer_module/monitoring/hyperparameters.py",
    "trainer_module/monitoring/notes.py",
    "trainer_module/monitoring/texts.py",
    "trainer_module/progress.py",
    "trainer_module/scoring/*.py",
    "trainer_module/settings.py",
)
SLOW = {"tensorflow", "tensorflow_text", "tfx", "transformers", "apache_beam"}


def modules_of(package: str) -> list[Path]:
    """Returns the files of a first-party package, or of a module at the top."""
    folder = ROOT / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [ROOT / f"{package}.py"]


def dotted_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_for_types_only(node: ast.AST) -> bool:
    """Tells whether a node is `if TYPE_CHECKING:`, whose body never runs."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def import_statements(
    node: ast.AST, *, inside_functions: bool
) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if inside_functions:
                yield from import_statements(child, inside_functions=True)
        elif not is_for_types_only(child):
            yield from import_statements(child, inside_functions=inside_functions)


def imported_by(path: Path, *, inside_functions: bool) -> set[str]:
    """Returns the dotted names that a file imports, relative ones made absolute.

    `from a import b` gives both `a` and `a.b`, since b may be a module.
    """
    package = dotted_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in import_statements(tree, inside_functions=inside_functions):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
            continue
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        names.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
    return names


def file_of(name: str) -> Path | None:
    """Returns the file of a first-party module, or None for anything else."""
    path = ROOT.joinpath(*name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def with_parents(name: str) -> list[str]:
    """Importing a.b.c runs a and a.b as well."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def chain_to_slow(path: Path) -> list[str] | None:
    """Returns how importing a file comes to import a slow package, if it does."""
    seen: set[str] = set()
    chains = [[dotted_name(path)]]
    while chains:
        chain = chains.pop()
        for parent in with_parents(chain[-1]):
            file = file_of(parent)
            if parent in seen or file is None:
                continue
            seen.add(parent)
            for name in sorted(imported_by(file, inside_functions=False)):
                if name.split(".")[0] in SLOW:
                    return [*chain, name]
                chains.append([*chain, name])
    return None


PURE_FILES = sorted({path for pattern in PURE for path in ROOT.glob(pattern)})


@pytest.mark.parametrize("package", ALLOWED)
def test_package_imports_only_what_lies_below_it(package: str) -> None:
    first_party = set(ALLOWED) | {"tests"}
    for path in modules_of(package):
        imported = {n.split(".")[0] for n in imported_by(path, inside_functions=True)}
        upward = (imported & first_party) - ALLOWED[package] - {package}
        assert not upward, f"{path.relative_to(ROOT)} imports {sorted(upward)}"


@pytest.mark.parametrize(
    "path", PURE_FILES, ids=[str(path.relative_to(ROOT)) for path in PURE_FILES]
)
def test_pure_module_imports_nothing_slow(path: Path) -> None:
    chain = chain_to_slow(path)
    assert chain is None, " -> ".join(chain or [])


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even from within functions: each can then be read, and changed, by itself."""
    files = [file for package in ALLOWED for file in modules_of(package)]
    ties = {
        dotted_name(file): {
            dotted_name(found)
            for name in imported_by(file, inside_functions=True)
            if (found := file_of(name)) and found.name != "__init__.py"
        }
        for file in files
    }
    graphlib.TopologicalSorter(ties).prepare()
