"""Fingerprints: equal for equal content, different for exactly what changed."""

import os

import pytest

from pipeline import fingerprints
from pipeline.nodes import CODE_OF_NODE


@pytest.fixture
def project(tmp_path):
    """A loop that imports schemas.names in a function; a page with a template."""
    for path, text in {
        "trainer_module/__init__.py": "",
        "trainer_module/loop.py": "def f():\n    from schemas import names\n",
        "trainer_module/alone.py": "import json\n",
        "schemas/__init__.py": "",
        "schemas/names.py": "A = 1\n",
        "components/__init__.py": "",
        "components/page/__init__.py": "",
        "components/page/core.py": "",
        "components/page/page.html.j2": "<p>",
        "components/page/templates/parts/part.html.j2": "<p>",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def of(project, module):
    return fingerprints.of_code(module, root=str(project))


@pytest.mark.parametrize(
    "edited, changed",
    [
        ("trainer_module/loop.py", ["trainer_module.loop"]),
        ("schemas/names.py", ["trainer_module.loop"]),
        ("trainer_module/alone.py", ["trainer_module.alone"]),
        ("components/page/page.html.j2", ["components.page.core"]),
        ("components/page/templates/parts/part.html.j2", ["components.page.core"]),
        ("trainer_module/__init__.py", ["trainer_module.loop", "trainer_module.alone"]),
    ],
    ids=["itself", "helper_in_function", "alone", "template", "part", "package"],
)
def test_edit_changes_exactly_what_reaches_it(project, edited, changed):
    modules = ["trainer_module.loop", "trainer_module.alone", "components.page.core"]
    before = {m: of(project, m) for m in modules}
    with open(project / edited, "a") as f:
        f.write("\n# edited\n")
    assert [m for m in modules if of(project, m) != before[m]] == changed


def test_new_import_is_followed_after_an_edit(project):
    of(project, "trainer_module.alone")
    (project / "trainer_module/alone.py").write_text("from schemas import names\n")
    before = of(project, "trainer_module.alone")
    (project / "schemas/names.py").write_text("A = 2\n")
    assert of(project, "trainer_module.alone") != before


def test_module_that_does_not_exist_is_an_error(project):
    with pytest.raises(ValueError, match="trainer_module.gone"):
        of(project, "trainer_module.gone")


def test_the_trainer_does_not_depend_on_the_report_or_the_command_line():
    reached = {
        node: fingerprints._reachable(modules, fingerprints.project_dir())
        for node, modules in CODE_OF_NODE.items()
    }
    root = fingerprints.project_dir()
    trainer = {os.path.relpath(p, root).split("/")[0] for p in reached["Trainer"]}
    assert trainer == {"trainer_module"}
    assert not any("/pipeline/" in p for paths in reached.values() for p in paths)


def test_folder_hash_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a").write_text("1")
    first = fingerprints.of_folder(str(tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")
    second = fingerprints.of_folder(str(tmp_path))
    (tmp_path / "b").write_text("2")
    assert len({first, second, fingerprints.of_folder(str(tmp_path))}) == 3
