"""ExampleGen against pyarrow's CSV reader, from one CSV file to the same TFRecords.

    python benchmarks/ingestion.py --rows 1000000 --pairs 3

Each measurement is a process of its own. The peer parses with pyarrow and writes the
same tf.Examples into two files; it checks, cleans, splits by
content and accounts for nothing. The bound is what no reader can avoid: as many bytes
of ready records, compressed and written.
"""

import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import click  # noqa: E402

CHARACTERS = 200
LABELS = 50
EVAL_SHARE = 0.2


def write_table(path: str, rows: int) -> None:
    """Rows of an id, a text of 200 characters and a label; some texts are quoted."""
    source = random.Random(0)
    words = [
        "".join(source.choices("etaoinshrdlu", k=source.randint(2, 9)))
        for _ in range(20000)
    ]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "label"])
        for number in range(rows):
            text = " ".join(source.choices(words, k=45))
            if number % 10 == 0:
                text = f'so, "{text}'
            writer.writerow(
                [number, text[:CHARACTERS], f"label_{number * 7919 % LABELS}"]
            )


def texttune(path: str, folder: str) -> float:
    """ExampleGen's executor, as the pipeline runs it. Returns seconds."""
    from tfx.types import standard_artifacts

    from components import artifacts
    from components.example_gen.component import Executor
    from components.example_gen.settings import DataSettings

    settings = DataSettings(
        train=path, text="text", target="label", id="id", eval_share=EVAL_SHARE
    )
    examples, account = standard_artifacts.Examples(), artifacts.DataAccount()
    examples.uri, account.uri = f"{folder}/examples", f"{folder}/account"
    context = Executor.Context(beam_pipeline_args=[], tmp_dir=folder, unique_id="1")
    properties = {"data": settings.model_dump_json(), "task": "classification"}
    started = time.perf_counter()
    Executor(context).Do({}, {"examples": [examples], "account": [account]}, properties)
    return time.perf_counter() - started


def pyarrow(path: str, folder: str) -> float:
    """pyarrow's reader, block by block, feeding tf.Examples. Returns seconds."""
    import pyarrow as pa
    import pyarrow.csv
    import tensorflow as tf

    names = {"text": "text", "label": "target", "id": "example_id"}
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()))
    # One message is filled again and again: to build it costs more than to write it.
    message = tf.train.Example()
    lists = [message.features.feature[n].bytes_list.value for n in names.values()]
    for values in lists:
        values.append(b"")
    started = time.perf_counter()
    writers = [
        tf.io.TFRecordWriter(f"{folder}/{split}.gz", "GZIP")
        for split in ("train", "eval")
    ]
    number = 0
    for batch in pyarrow.csv.open_csv(path, convert_options=options):
        columns = [batch.column(name).to_pylist() for name in names]
        for values in zip(*columns, strict=True):
            number += 1
            for field, value in zip(lists, values, strict=True):
                field[0] = value
            record = message.SerializeToString(deterministic=True)
            writers[number % 5 == 0].write(record)
    for writer in writers:
        writer.close()
    return time.perf_counter() - started


def bound(path: str, folder: str) -> float:
    """The same amount of ready records, written as TFRecord with gzip. Seconds."""
    import tensorflow as tf

    with open(path, "rb") as file:
        records = file.read().splitlines()
    started = time.perf_counter()
    with tf.io.TFRecordWriter(f"{folder}/records.gz", "GZIP") as writer:
        for record in records:
            writer.write(record)
    return time.perf_counter() - started


CONTENDERS = {run.__name__: run for run in (texttune, pyarrow, bound)}


def measure(name: str, path: str) -> dict:
    """Runs one contender in a process of its own."""
    done = subprocess.run(
        [
            sys.executable,
            os.path.abspath(__file__),
            "--contender",
            name,
            "--table",
            path,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--pairs", default=3, show_default=True)
@click.option("--contender", type=click.Choice(list(CONTENDERS)), hidden=True)
@click.option("--table", hidden=True)
def main(rows: int, pairs: int, contender: str | None, table: str | None) -> None:
    """Compares ExampleGen with pyarrow's CSV reader on rows of 200 characters."""
    with tempfile.TemporaryDirectory() as folder:
        if contender and table:
            seconds = CONTENDERS[contender](table, folder)
            peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(json.dumps({"seconds": seconds, "peak_mb": peak_kb / 1024}))
            return
        path = os.path.join(folder, "table.csv")
        write_table(path, rows)
        print(f"{rows:,} rows, {os.path.getsize(path) / 1e6:.0f} MB, {pairs} pairs")
        found: dict[str, list[dict]] = {name: [] for name in CONTENDERS}
        for _ in range(pairs):
            for name in CONTENDERS:
                found[name].append(measure(name, path))
        for name, runs in found.items():
            seconds = statistics.median(run["seconds"] for run in runs)
            peak = max(run["peak_mb"] for run in runs)
            print(
                f"{name:<10} {seconds:7.1f} s  {rows / seconds:10,.0f} rows/s  "
                f"peak {peak:,.0f} MB"
            )
        ratios = [
            ours["seconds"] / theirs["seconds"]
            for ours, theirs in zip(found["texttune"], found["pyarrow"], strict=True)
        ]
        print(f"texttune takes {statistics.median(ratios):.2f} times pyarrow's time")


if __name__ == "__main__":
    main()
