"""Faults of data files as small files, and what a run says to each of them.

The pure part of a run: what happens before TensorFlow is needed.
"""

import dataclasses
import gzip
import pathlib
import tempfile

import click

from components.data_gate import core as gate
from components.data_gate.drift import comparison, profile
from components.data_gate.drift.served import Served
from components.example_gen import core, sources
from components.example_gen.settings import DataSettings
from trainer_module.progress import DataRefused

HEADER = "text,label\n"


def rows(count: int, of: str = "message", labels: str = "ab", start: int = 0) -> str:
    return "".join(
        f"{of} number {n} about something,{labels[n % len(labels)]}\n"
        for n in range(start, start + count)
    )


MANY = rows(60)


@dataclasses.dataclass(frozen=True)
class Fault:
    """A data set with a fault in it.

    Attributes:
      name: for people.
      files: name -> content; the first is `data.train`, unless `train` says other.
      settings: changes to the `data` section; paths are relative to the files.
      served: train rows of the serving model, for what is held against them.
    """

    name: str
    files: dict[str, str | bytes]
    settings: dict = dataclasses.field(default_factory=dict)
    served: str | None = None


def one(name: str, content: str | bytes, file: str = "data.csv", **settings) -> Fault:
    return Fault(name, {file: content}, settings)


def two(name: str, train: str | bytes, held: str | bytes, **settings) -> Fault:
    return Fault(
        name,
        {"train.csv": train, "eval.csv": held},
        {"eval": "eval.csv", **settings},
    )


HELD = "".join(f"something about number {n} message,{'ab'[n % 2]}\n" for n in range(60))

FAULTS = {
    "Headers and columns": [
        one("a byte-order mark", b"\xef\xbb\xbf" + (HEADER + MANY).encode()),
        one("quoted names in the header", '"text","label"\n' + MANY),
        one("spaces around the names", "text, label\n" + MANY),
        one("a column twice", "text,label,text\nhi,a,ho\n"),
        one("a column that is missing", "body,label\nhi,a\n"),
        two("a column dropped from the eval file", HEADER + MANY, "text\nhi\n"),
    ],
    "Cells": [
        one("an inch sign", HEADER + '5" screen,a\n' + MANY),
        one("two inch signs", HEADER + '5" or 6" screen,a\n' + MANY),
        one("a quote that opens and never closes", HEADER + MANY + '"5 screen,a\n'),
        one("a backslash before a quote", HEADER + MANY + '"a \\"b\\" c",a\n'),
        one("line ends in a quoted cell", HEADER + '"one\r\ntwo",a\n' + MANY),
        one("a comma too many", HEADER + MANY + "hi, there,a\n"),
        one("semicolons", (HEADER + MANY).replace(",", ";")),
        one("tabs", (HEADER + MANY).replace(",", "\t"), "data.tsv"),
        one("line ends of an old Mac (CR)", (HEADER + MANY).replace("\n", "\r")),
        one("a cell of 140,000 characters", HEADER + "x " * 70_000 + ",a\n" + MANY),
        one("labels 01 and 02", HEADER + MANY.replace(",a", ",01")),
        one("texts of digits, and the word nan", HEADER + "12345,a\nnan,b\n" + MANY),
        one("an empty text", HEADER + MANY + " ,a\n"),
        one("an empty label", HEADER + MANY + "hi there,\n"),
        one("control and zero-width characters", HEADER + "a\u200bb\x07,a\n" + MANY),
        one("a number for a text in JSON", '{"text": {"a": 1}, "label": "x"}\n' * 9,
            "data.jsonl"),
    ],
    "Encodings and files that are something else": [
        one("letters in Windows-1252", (HEADER + "Können Sie für mich prüfen ob es "
            "möglich wäre,a\n" + MANY).encode("cp1252")),
        one("the same, allowed", (HEADER + "Können Sie,a\n" + MANY).encode("cp1252"),
            encoding="cp1252"),
        one("UTF-16", (HEADER + MANY).encode("utf-16")),
        one("a NUL", HEADER + "a\0b,a\n"),
        one("a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\n"),
        one("the marks of a merge conflict", HEADER + "<<<<<<< HEAD\nhi,a\n"),
        one("a web page", "<!DOCTYPE html><html>not found</html>"),
        one("a zip archive or an Excel workbook", b"PK\x03\x04rest"),
        one("a damaged gzip archive", gzip.compress(b"text,label\n" * 99)[:-9],
            "data.csv.gz"),
        one("JSON that breaks off", '{"text": "hi", "label"', "data.jsonl"),
        one("Parquet by the name only", HEADER + MANY, "data.parquet"),
    ],
    "Files that are empty, missing or stray": [
        one("no byte", ""),
        one("only line ends", "\r\r\r"),
        one("a header and no row", HEADER),
        one("one row", HEADER + "hi,a\n"),
        one("no such file", "", "data.txt", train="dada.txt"),
        Fault("editor and system files beside the data",
              {"data/a.csv": HEADER + MANY, "data/.DS_Store": "x", "data/a.csv~": "x",
               "data/a.csv.tmp": "x", "data/_SUCCESS": "",
               "data/.ipynb_checkpoints/a.csv": "x"}, {"train": "data"}),
        Fault("a folder of nothing else", {"data/.DS_Store": "x"}, {"train": "data"}),
    ],
    "Splits and labels": [
        two("too few eval rows", HEADER + MANY, HEADER + rows(5, "another")),
        two("an eval split too small for its interval", HEADER + MANY,
            HEADER + rows(20, "another")),
        two("eval texts that are in train", HEADER + MANY,
            HEADER + HELD + "MESSAGE number 1 about  something,b\n"),
        two("a label that only eval has", HEADER + MANY,
            HEADER + HELD + "what is this,c\n"),
        two("one label", HEADER + rows(60, labels="a"),
            HEADER + HELD.replace(",b", ",a")),
        two("a label with one row", HEADER + MANY + "hello there,rare\n",
            HEADER + HELD),
        two("labels that differ in case or a mark", HEADER + MANY
            + "hi there,refund\nhow are you,refund\nwhere is it,Refund.\nnow,Refund.\n",
            HEADER + HELD),
        two("one text with two labels", HEADER + MANY
            + "message number 1 about something,a\n", HEADER + HELD),
    ],
    "Against the data of the serving model": [
        Fault("a label that it was not trained on",
              {"train.csv": HEADER + MANY + "".join(
                  f"where is my refund {n},refnud\n" for n in range(6)),
               "eval.csv": HEADER + HELD},
              {"eval": "eval.csv"}, HEADER + MANY),
        Fault("a label that has vanished",
              {"train.csv": HEADER + MANY, "eval.csv": HEADER + HELD},
              {"eval": "eval.csv"}, HEADER + rows(60, labels="abc")),
        Fault("other shares of the labels",
              {"train.csv": HEADER + rows(400, labels="aaaaaaaaab"),
               "eval.csv": HEADER + HELD},
              {"eval": "eval.csv"}, HEADER + rows(400)),
        Fault("longer texts",
              {"train.csv": HEADER + rows(200, "message number and number " * 4),
               "eval.csv": HEADER + HELD},
              {"eval": "eval.csv"}, HEADER + rows(200)),
        Fault("other words",
              {"train.csv": HEADER + rows(200, "klarna"), "eval.csv": HEADER + HELD},
              {"eval": "eval.csv"}, HEADER + rows(200)),
    ],
}  # fmt: skip


def outcome(fault: Fault, folder: pathlib.Path) -> list[str]:
    """What a run says: "read" with the count, and then each finding that stops it."""
    for name, content in fault.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(raw)
    job = {"train": next(iter(fault.files)), "text": "text", "target": "label"}
    job.update(fault.settings)
    try:
        for key in ("train", "eval"):
            if key in job:
                job[key] = sources.expand([str(folder / job[key])])
        found = _findings(fault, DataSettings(**job), folder)
    except DataRefused as refusal:
        found = list(refusal.findings)
    return [line.replace(f"{folder}/", "").replace(str(folder), ".") for line in found]


def _findings(fault: Fault, settings: DataSettings, folder: pathlib.Path) -> list[str]:
    read = core.ingest(settings, "classification")
    if settings.eval is None:  # These are about reading; the gate has its own.
        kept = sum(read.account.splits.values())
        removed = sum(file.characters_removed for file in read.account.files)
        more = f", {removed} characters removed" if removed else ""
        return [f"read: {kept} rows{more}"]
    found = gate.check(
        read.splits, [], domains={}, settings=settings, task="classification"
    )
    counts = {
        split: profile.count(rows, "classification")
        for split, rows in read.splits.items()
    }
    if fault.served is not None:
        (folder / "served.csv").write_text(fault.served)
        before = settings.model_copy(update={"train": (str(folder / "served.csv"),)})
        then = core.ingest(before, "classification").splits["train"]
        made = profile.of(
            profile.count(then, "classification"), task="classification", columns={}
        )
        served = Served(str(folder), 7, made.to_json().encode())
        found += comparison.check(
            read.splits,
            counts,
            served,
            columns={},
            domains={},
            settings=settings,
            task="classification",
        )
    return [f.message for f in found if f.severity == "stop"]


def paragraph(fault: Fault, folder: pathlib.Path) -> str:
    """How docs/data.md tells of a fault."""
    found = outcome(fault, folder)
    if found and found[0].startswith("read: "):
        return f"* **{fault.name}**: {found[0]}"
    return "\n".join([f"* **{fault.name}**", *(f"  > {line}" for line in found)])


def main() -> None:
    """Prints the list of faults of docs/data.md."""
    for title, faults in FAULTS.items():
        click.echo(f"\n### {title}\n")
        for fault in faults:
            with tempfile.TemporaryDirectory() as folder:
                click.echo(paragraph(fault, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
