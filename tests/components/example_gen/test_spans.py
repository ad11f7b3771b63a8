"""Which deliveries are there, which are complete, and which are read."""

import re

import pytest

from components.example_gen import spans
from components.example_gen.settings import SpanSettings
from trainer_module.progress import DataRefused


@pytest.fixture
def deliver(tmp_path):
    """Writes files by their path in the test's folder."""

    def deliver(*paths):
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(path)

    return deliver


@pytest.fixture
def complete(deliver):
    """Delivers folders `span-N` with a data file and the marker."""

    def complete(*names, marker="_SUCCESS"):
        deliver(*(f"span-{n}/{f}" for n in names for f in ("a.csv", marker)))

    return complete


@pytest.fixture
def resolve(settings, tmp_path):
    """Resolves paths in the test's folder; files are told without it."""

    def resolve(*train, held_out=None, **of_spans):
        data, found = spans.resolve(
            settings(
                [f"{tmp_path}/{path}" for path in train],
                eval=held_out and f"{tmp_path}/{held_out}",
                spans=of_spans,
            )
        )
        resolve.data, resolve.found = data, found
        resolve.files = short(data.train)
        return found

    def short(paths):
        return [path.removeprefix(f"{tmp_path}/") for path in paths]

    resolve.short = short
    return resolve


@pytest.fixture
def refused(resolve, tmp_path):
    def refused(*train, **more):
        with pytest.raises(DataRefused) as caught:
            resolve(*train, **more)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return refused


def test_path_without_a_span_is_expanded_as_ever(resolve, deliver):
    deliver("a.csv", "b.csv")
    assert resolve("*.csv") is None
    assert resolve.files == ["a.csv", "b.csv"]


def test_folders_are_ordered_by_number_padded_or_not(resolve, complete):
    complete("9", "010", "8")
    assert resolve("span-{SPAN}/*.csv").numbers == (8, 9, 10)
    assert resolve.files == ["span-8/a.csv", "span-9/a.csv", "span-010/a.csv"]


@pytest.mark.parametrize("path", ["span-{SPAN}", "span-{SPAN}/", "span-{SPAN}/*"])
def test_folder_gives_its_data_files_and_not_its_marker(
    resolve, complete, deliver, path
):
    complete("1", marker="done")
    deliver("span-1/b.csv", "span-1/.DS_Store", "span-1/b.csv.tmp")
    resolve(path, marker="done")
    assert resolve.files == ["span-1/a.csv", "span-1/b.csv"]


def test_what_is_no_delivery_is_not_taken_for_one(resolve, complete, deliver):
    complete("1", "x", "2-old", "", "3.tmp")
    deliver("span-4", "old-span-5/a.csv", "old-span-5/_SUCCESS")
    assert resolve("span-{SPAN}/*.csv").numbers == (1,)
    assert resolve.found.partial == {}


def test_delivery_without_its_marker_is_partial(resolve, complete, deliver, tmp_path):
    complete("1")
    deliver("span-2/a.csv")
    found = resolve("span-{SPAN}/*.csv")
    assert found.numbers == (1,)
    assert found.partial == {2: f"no _SUCCESS in {tmp_path}/span-2"}
    assert resolve.files == ["span-1/a.csv"]


def test_file_has_its_marker_beside_it(resolve, deliver, tmp_path):
    deliver("t-1.csv", "t-1.csv._SUCCESS", "t-2.csv", "t-3.csv.tmp")
    found = resolve("t-{SPAN}.csv")
    assert found.partial == {2: f"no t-2.csv._SUCCESS in {tmp_path}"}
    assert resolve.files == ["t-1.csv"]


@pytest.mark.parametrize("marker", ["done", ".done"])
@pytest.mark.parametrize("path", ["t-{SPAN}*", "t-{SPAN}-*.csv", "*-{SPAN}-a.csv"])
def test_glob_beside_the_number_finds_files_and_not_their_markers(
    resolve, deliver, marker, path
):
    deliver("t-12-a.csv", "t-12-a.csv.done")
    assert resolve(path, marker=marker).numbers == (12,)
    assert resolve.files == ["t-12-a.csv"]


def test_every_file_of_a_number_needs_its_marker(resolve, deliver):
    deliver("t-1-a.csv", "t-1-a.csv.ok", "t-1-b.csv", "t-2-a.csv", "t-2-a.csv.ok")
    found = resolve("t-{SPAN}-*.csv", marker="ok")
    assert (found.numbers, list(found.partial)) == ((2,), [1])


def test_without_a_marker_a_delivery_needs_a_data_file(resolve, deliver, tmp_path):
    deliver("span-1/a.csv", "span-2/a.csv.tmp")
    found = resolve("span-{SPAN}/", marker=None)
    assert found.numbers == (1,)
    assert found.partial == {2: f"no data file in {tmp_path}/span-2"}


def test_link_to_nowhere_is_partial(resolve, complete, tmp_path):
    complete("1")
    (tmp_path / "span-2").symlink_to(tmp_path / "gone")
    found = resolve("span-{SPAN}/*.csv")
    assert found.partial == {2: f"{tmp_path}/span-2 is a link to nowhere"}


@pytest.mark.parametrize(
    "window, read, outside",
    [(None, (1, 2, 4), ()), (2, (2, 4), (1,)), (3, (1, 2, 4), ()), (9, (1, 2, 4), ())],
)
def test_window_takes_the_newest_complete_ones(
    resolve, complete, deliver, window, read, outside
):
    complete("1", "2", "4")
    deliver("span-5/a.csv")
    found = resolve("span-{SPAN}/*.csv", window=window)
    assert (found.numbers, found.outside) == (read, outside)


def test_span_twice_in_a_path_is_the_same_number(resolve, complete, deliver):
    complete("07")
    deliver("span-07/t-07.csv", "span-07/t-06.csv")
    resolve("span-{SPAN}/t-{SPAN}.csv")
    assert resolve.files == ["span-07/t-07.csv"]
    deliver("t-1-1.csv", "t-1-2.csv")
    assert resolve("t-{SPAN}-{SPAN}.csv", marker=None).numbers == (1,)
    assert resolve.files == ["t-1-1.csv"]


def test_folders_below_a_delivery_are_searched_as_the_glob_says(
    resolve, complete, deliver
):
    complete("1")
    deliver("span-1/app/b.csv", "span-1/app/x/c.csv", "span-1/app/d.txt")
    resolve("span-{SPAN}/**/*.csv")
    assert resolve.files == ["span-1/a.csv", "span-1/app/b.csv", "span-1/app/x/c.csv"]
    resolve("span-{SPAN}/app")
    assert resolve.files == ["span-1/app/b.csv", "span-1/app/d.txt"]


def test_folder_with_the_signs_of_a_glob_is_taken_as_it_is(resolve, deliver):
    deliver("a [1]/span-1/a.csv", "a [1]/span-1/_SUCCESS")
    resolve("a [1]/span-{SPAN}/*.csv")
    assert resolve.files == ["a [1]/span-1/a.csv"]


def test_fixed_files_and_deliveries_keep_the_order_of_the_list(
    resolve, complete, deliver
):
    complete("2", "1")
    deliver("base.csv", "z.csv", "eu/1/b.csv", "eu/1/_SUCCESS", "eu/2/b.csv")
    found = resolve("z.csv", "span-{SPAN}/*.csv", "base.csv", "eu/{SPAN}/*.csv")
    assert list(found.partial) == [2]
    assert resolve.files == ["z.csv", "span-1/a.csv", "base.csv", "eu/1/b.csv"]


def test_file_that_is_fixed_and_delivered_is_refused(refused, complete):
    complete("1")
    said = refused("span-1/a.csv", "span-{SPAN}/*.csv")
    assert said.startswith("span-1/a.csv: this file is named twice")


def test_train_and_eval_read_the_same_numbers(resolve, complete, deliver, tmp_path):
    complete("1", "2", "3")
    deliver("held/1/e.csv", "held/1/_SUCCESS", "held/2/e.csv")
    found = resolve("span-{SPAN}/*.csv", held_out="held/{SPAN}/*.csv")
    assert found.numbers == (1,)
    assert found.partial == {
        2: f"no _SUCCESS in {tmp_path}/held/2",
        3: f"nothing of this number for {tmp_path}/held/{{SPAN}}/*.csv",
    }
    assert resolve.short(resolve.data.eval) == ["held/1/e.csv"]
    (span,) = found.read
    assert resolve.short(span.files) == ["span-1/a.csv", "held/1/e.csv"]
    assert span.names == ("train/a.csv", "eval/e.csv")


def test_train_may_have_deliveries_beside_a_fixed_eval(resolve, complete, deliver):
    complete("1")
    deliver("held.csv")
    resolve("span-{SPAN}/*.csv", held_out="held.csv")
    assert resolve.short(resolve.data.eval) == ["held.csv"]
    assert resolve.short(resolve.found.read[0].files) == ["span-1/a.csv"]


def test_names_within_a_delivery_do_not_depend_on_how_a_number_is_spelled(
    resolve, deliver
):
    deliver("7/t-7.csv", "08/t-08.csv", "u-9.csv")
    assert resolve("{SPAN}/t-*.csv", marker=None).read[0].names == ("train/t-7.csv",)
    assert resolve("u-{SPAN}.csv", marker=None).read[0].names == ("train/u-{SPAN}.csv",)


def test_settings_with_files_have_had_their_spans(resolve, complete):
    complete("1", "2")
    resolve("span-{SPAN}/*.csv", window=1)
    assert resolve.data.spans == SpanSettings()


@pytest.mark.parametrize(
    "numbers, missing",
    [
        (["1", "2", "3"], []),
        (["1", "3", "6"], [2, 4, 5]),
        (["20261127", "20261130"], []),
        (["202611", "202701"], []),
    ],
    ids=["none", "some", "days", "months"],
)
def test_gaps_are_missing_numbers_unless_these_are_dates(
    resolve, complete, numbers, missing
):
    complete(*numbers)
    assert resolve("span-{SPAN}/*.csv").gaps() == missing


def test_gaps_are_those_of_the_window_and_no_partial_delivery(
    resolve, complete, deliver
):
    complete("1", "5", "8")
    deliver("span-6/a.csv")
    assert resolve("span-{SPAN}/*.csv", window=2).gaps() == [7]


def test_number_that_comes_twice_is_refused(refused, complete):
    complete("7", "07")
    said = refused("span-{SPAN}/*.csv")
    assert "there are 07 and 7, and both are span 7. Rename or remove one." in said


def test_no_complete_delivery_is_refused_with_what_was_found(refused, deliver):
    deliver(*(f"span-{n}/a.csv" for n in range(1, 8)))
    said = refused("span-{SPAN}/*.csv")
    assert "no span is complete: span 3 (no _SUCCESS in span-3), span 4" in said
    assert "span 7 (no _SUCCESS in span-7) and 2 older ones. " in said
    assert said.endswith("`--set data.spans.marker=null`.")


def test_no_common_delivery_is_not_blamed_on_the_marker(refused, complete, deliver):
    complete("1")
    deliver("held/2/e.csv", "held/2/_SUCCESS")
    said = refused("span-{SPAN}/*.csv", held_out="held/{SPAN}/*.csv")
    assert "span 1 (nothing of this number for held/{SPAN}/*.csv)" in said
    assert "marker" not in said


def test_complete_delivery_without_data_is_refused(refused, complete, deliver):
    complete("1")
    deliver("span-2/a.tsv", "span-2/_SUCCESS")
    said = refused("span-{SPAN}/*.csv")
    assert said.startswith("span-2/*.csv: span 2 is said to be complete (_SUCCESS is")
    assert "or remove span-2/_SUCCESS to have the span left out." in said


def test_complete_delivery_without_data_outside_the_window_is_passed_over(
    resolve, complete, deliver
):
    deliver("span-1/_SUCCESS")
    complete("2")
    assert resolve("span-{SPAN}/*.csv", window=1).numbers == (2,)


@pytest.mark.parametrize(
    "path, said",
    [
        ("spam-{SPAN}/*.csv", "no delivery is called like this; .* holds .'span-1'."),
        ("none/{SPAN}.csv", "there is no folder none. Correct the path"),
        ("spam-1/{SPAN}.csv", "there is no folder spam-1. Did you mean .*span-1'"),
        ("*/t-{SPAN}.csv", r"a glob before {SPAN} leaves open which folders"),
        ("*{SPAN}*.csv", r"with a \* before and after {SPAN} it is open which number"),
    ],
    ids=["no_match", "no_folder", "near_folder", "glob_before", "ambiguous"],
)
def test_path_that_leads_to_no_delivery_is_refused(refused, complete, path, said):
    complete("1")
    assert re.search(said, refused(path))


def test_address_is_refused_with_the_way_out(settings):
    with pytest.raises(DataRefused, match="copy the file here, or mount the bucket"):
        spans.resolve(settings("gs://bucket/span-{SPAN}/*.csv"))


def test_two_folders_of_one_number_are_refused(refused, deliver):
    for day in ("2024-11-30", "2024-12-30"):
        deliver(f"d-{day}/a.csv", f"d-{day}/_SUCCESS")
    said = refused("d-*{SPAN}/*.csv")
    assert "d-2024-11-30 and d-2024-12-30 are both span 30" in said


@pytest.mark.parametrize("marker", [".", "..", "a/b", ""])
def test_marker_that_every_folder_has_is_no_marker(marker):
    with pytest.raises(ValueError, match="marker"):
        SpanSettings(marker=marker)
