"""Which files a path leads to."""

import os

import pytest

from components.example_gen import core, sources
from trainer_module.progress import DataRefused


@pytest.fixture
def folder(tmp_path):
    """Data files among what lies beside data."""
    for name in (
        *("b.csv", "a.csv", "c.jsonl.gz", ".DS_Store", "a.csv~", "_SUCCESS"),
        *("a.csv.tmp", ".a.csv.swp", "#a.csv#", "d.csv.part", "a.csv.crc"),
    ):
        (tmp_path / name).write_text("")
    for name in (".ipynb_checkpoints", "2024"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "e.csv").write_text("")
    return tmp_path


def names(paths, folder):
    return [path.removeprefix(f"{folder}/") for path in sources.expand(paths)]


def test_folder_gives_its_data_files_by_name_and_nothing_stray(folder):
    assert names([str(folder)], folder) == ["a.csv", "b.csv", "c.jsonl.gz"]


@pytest.mark.parametrize(
    "pattern, found",
    [
        ("*.csv*", ["a.csv", "b.csv"]),
        ("[ab].csv", ["a.csv", "b.csv"]),
        ("**/*.csv", ["2024/e.csv", "a.csv", "b.csv"]),
        ("2024/*", ["2024/e.csv"]),
    ],
)
def test_glob_gives_data_files_by_name(folder, pattern, found):
    assert names([f"{folder}/{pattern}"], folder) == found


def test_several_paths_keep_their_order(folder):
    paths = [f"{folder}/{name}" for name in ("b.csv", "2024", "a.csv")]
    assert names(paths, folder) == ["b.csv", "2024/e.csv", "a.csv"]


def test_file_that_is_named_itself_is_read_whatever_its_name(folder):
    assert names([f"{folder}/a.csv.tmp"], folder) == ["a.csv.tmp"]


def test_name_with_the_signs_of_a_glob_is_a_file_if_it_is_there(tmp_path):
    (tmp_path / "a[1].csv").write_text("")
    assert names([f"{tmp_path}/a[1].csv"], tmp_path) == ["a[1].csv"]


@pytest.mark.parametrize(
    "path, said",
    [
        ("empty", "empty: the folder has no data file."),
        ("stray", r"stray: the folder has no data file, only \['_SUCCESS'\]"),
        ("*.tsv", r"\*.tsv: no data file is called like this"),
    ],
)
def test_path_that_leads_to_no_data_is_refused(tmp_path, path, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "stray").mkdir()
    (tmp_path / "stray" / "_SUCCESS").write_text("")
    with pytest.raises(DataRefused, match=said):
        sources.expand([f"{tmp_path}/{path}"])


def test_file_that_comes_twice_is_refused(folder):
    (folder / "again.csv").symlink_to(folder / "a.csv")
    with pytest.raises(DataRefused, match="b.csv: this file is named twice, and"):
        sources.expand([str(folder / "b.csv"), f"{folder}/[b].csv"])
    with pytest.raises(DataRefused, match=r"again.csv: .* named twice \(as .*a.csv\)"):
        sources.expand([str(folder)])


def test_rows_of_several_files_have_an_account_each(write, settings):
    one = write("id,text,label\n7,hi,a\n8,ho,a\n", "one.csv")
    two = write('{"id": 7, "text": "yo", "label": "b"}\n{"id": 9}\n', "two.jsonl")
    held = write("id,text,label\n7,hey,a\n", "eval.csv")
    gate = {"max_rejected_share": 0.5}
    made = core.ingest(
        settings([one, two], eval=held, id="id", gate=gate), "classification"
    )
    assert [row.example_id for row in made.splits["train"]] == ["7", "8", "7"]
    assert [row.example_id for row in made.splits["eval"]] == ["7"]
    told = [(f.path, f.rows_read, f.kept) for f in made.account.files]
    assert told == [(one, 2, 2), (two, 2, 1), (held, 1, 1)]


def test_name_that_is_not_utf8_is_refused(tmp_path):
    with open(os.fsencode(tmp_path) + b"/\xff.csv", "w") as file:
        file.write("text,label\nhi,a\n")
    with pytest.raises(DataRefused, match=r"\\xff.csv'.*is not UTF-8. Rename it"):
        sources.expand([str(tmp_path)])
