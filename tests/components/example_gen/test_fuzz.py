"""Damaged files of every kind: rows, or a refusal that names the file; nothing else.

TEXTTUNE_FUZZ_EXAMPLES=20000 looks further than the suite does, with other examples each
time.
"""

import datetime
import gzip
import os
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.example_gen import core, reading
from components.example_gen.settings import DataGateSettings, DataSettings
from tests.components.example_gen import formats
from trainer_module.progress import DataRefused

EXAMPLES = int(os.environ.get("TEXTTUNE_FUZZ_EXAMPLES", 0))
BOUNDED = settings(
    max_examples=EXAMPLES or 60,
    derandomize=not EXAMPLES,
    deadline=datetime.timedelta(seconds=20),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

NAMES = ["text", "label", "channel"]
ROWS = [
    ["Where is my card?", "arrival", "web"],
    ['5" screen, cracked\r\nand "bent"', "01", ""],
    ["größer 👩\u200d🔬 e\u0301", "nan", "web"],
    *[[f"text number {n}", f"label {n % 3}", "app"] for n in range(30)],
]
VALID = {
    name: write(NAMES, ROWS)
    for name, write in formats.writers().items()
    if "gzip" not in name
}
PIECES = st.sampled_from(
    [b'"', b"\0", b"\xff", b"\xc3", b"\n", b"\r", b",", b";", b"\t", b"\xef\xbb\xbf"]
    + [b"\xff\xfe", b"\n<<<<<<< HEAD\n", b"\n=======\n", b"{", b"}", b"[", b"]", b":"]
    + [b'{"text": "\\ud800", "label": 1e999}\n', b"[" * 5000, b'""', b"\\", b"<html>"]
    + [b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\x80", b"\xe2\x80\x8b", b"text,label\n"]
)


@st.composite
def damaged(draw, content):
    """The content after a few flips, cuts, insertions and copies of parts."""
    data = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from([1, 4, 40, 400]))
        match draw(st.sampled_from(["flip", "cut", "drop", "insert", "copy", "junk"])):
            case "flip" if at < len(data):
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at:]
            case "drop":
                del data[at : at + size]
            case "insert":
                data[at:at] = draw(PIECES)
            case "copy":
                data[at:at] = data[at : at + size]
            case "junk":
                data[at : at + size] = draw(st.binary(max_size=size))
    return bytes(data)


@st.composite
def contents(draw):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=500))
    family = draw(st.sampled_from(["csv", "json l", "json a", "parquet", "tfrecord"]))
    names = sorted(name for name in VALID if name.startswith(family))
    content = draw(damaged(VALID[draw(st.sampled_from(names))]))
    if draw(st.integers(0, 3)) == 0:
        packed = gzip.compress(content, mtime=0)
        return draw(damaged(packed)) if draw(st.booleans()) else packed
    return content


JOBS = st.fixed_dictionaries(
    {
        "encoding": st.sampled_from(
            ["utf-8"] * 6 + ["cp1252", "auto", "utf-16", "utf-32", "shift_jis"]
        ),
        "delimiter": st.sampled_from(["auto"] * 6 + [",", ";", "\t", "|"]),
        "slices": st.sampled_from([(), ("channel",), ("channel", "text_length")]),
        "id": st.sampled_from([None, None, "channel"]),
    }
)
# One long run of a single example is a hang, which the deadline alone does not end.
pytestmark = pytest.mark.timeout(300 + EXAMPLES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@given(content=contents(), suffix=st.sampled_from(formats.SUFFIXES), job=JOBS)
@BOUNDED
def test_damaged_file_gives_rows_or_a_refusal(folder, content, suffix, job):
    path = str(folder / f"data{suffix}")
    with open(path, "wb") as file:
        file.write(content)
    made = DataSettings(train=path, text="text", target="label", **job)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            source = reading.check_columns(path, made)
        except DataRefused as refusal:
            assert path in str(refusal)
            with pytest.raises(DataRefused):
                list(reading.read_rows(path, made))
            return
        wanted = {*reading.wanted_columns(made), *made.slices}
        try:
            for row in reading.read_rows(path, made):
                assert row.number >= 1
                assert set(row.cells) <= wanted & set(source.columns)
                assert not row.cells or not row.problem
        except DataRefused as refusal:
            assert path in str(refusal)


@given(
    content=contents(),
    suffix=st.sampled_from(formats.SUFFIXES),
    job=JOBS,
    task=st.sampled_from(["classification", "summarization"]),
)
@BOUNDED
def test_damaged_file_is_accounted_for_or_refused(folder, content, suffix, job, task):
    path = str(folder / f"data{suffix}")
    with open(path, "wb") as file:
        file.write(content)
    gate = DataGateSettings(max_rejected_share=1)
    made = DataSettings(train=path, text="text", target="label", gate=gate, **job)
    try:
        account = core.ingest(made, task).account
    except DataRefused as refusal:
        assert path in str(refusal)
        return
    account.check()
    (file,) = account.files
    assert file.rows_read == sum(1 for _ in reading.read_rows(path, made))
    assert file.kept == sum(account.splits.values()) > 0
