"""However the probe's process ends, a record comes back. No TensorFlow here."""

import json
import subprocess
import sys

import pytest

from components.model_check import runner


def run(code, tmp_path, timeout_seconds=20.0):
    return runner.run(
        str(tmp_path),
        ["a text"],
        timeout_seconds=timeout_seconds,
        command=[sys.executable, "-c", code],
    )


def test_the_result_file_is_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    code = (
        "import json, os, sys\n"
        "request = json.load(open(sys.argv[1]))\n"
        "request['gpu'] = os.environ['CUDA_VISIBLE_DEVICES']\n"
        "json.dump(request, open(sys.argv[2], 'w'))"
    )
    record = runner.run(
        tmp_path.name,
        ["a", "\udcff"],
        timeout_seconds=20,
        command=[sys.executable, "-c", code],
    )
    assert record == {
        "saved_model_dir": str(tmp_path),
        "texts": ["a", "\udcff"],
        "gpu": "-1",
    }


@pytest.mark.parametrize(
    "code, words",
    [
        ("raise OSError('no such model')", "failed with exit code 1."),
        (
            "import os; os.kill(os.getpid(), 9)",
            "was killed by SIGKILL (out of memory?)",
        ),
        ("import os; os.abort()", "was killed by SIGABRT."),
        ("pass", "ended without a result."),
    ],
    ids=["raises", "killed", "aborts", "silent"],
)
def test_a_bad_end_is_told_in_words(tmp_path, code, words):
    failure = run(code, tmp_path)["failure"]
    opening = f"The process that loads and asks the model {str(tmp_path)!r} "
    assert failure.startswith(opening + words)


def test_the_last_lines_of_stderr_are_quoted(tmp_path):
    code = (
        "import sys\nfor n in range(9): print('line', n, file=sys.stderr)\nsys.exit(3)"
    )
    assert run(code, tmp_path)["failure"].endswith(
        "exit code 3. Its last words: line 4 | line 5 | line 6 | line 7 | line 8"
    )


def test_a_probe_that_hangs_is_stopped(tmp_path):
    code = "import sys, time\nprint('loading', flush=True)\ntime.sleep(60)"
    assert run(code, tmp_path, timeout_seconds=1.5)["failure"] == (
        f"The process that loads and asks the model {str(tmp_path)!r} was stopped: it "
        "did not end within 1.5 seconds. Its last words: loading"
    )


def test_a_program_that_does_not_exist_is_told_in_words(tmp_path):
    record = runner.run(
        str(tmp_path), [], timeout_seconds=5, command=[str(tmp_path / "nowhere")]
    )
    assert "could not be started" in record["failure"]


# What the probe does to its own process; it imports TensorFlow only when it asks.


def in_fresh_process(code):
    return subprocess.run(
        [sys.executable, "-c", f"from components.model_check import probe\n{code}"],
        env=runner._environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_probe_cannot_reach_the_network():
    ended = in_fresh_process(
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "probe.forbid_network()\n"
        "socket.create_connection(server.getsockname())"
    )
    assert ended.returncode == 1
    assert "must work without network" in ended.stderr


def test_memory_of_the_parent_is_not_counted():
    held = bytearray(400_000_000)  # Touched below, so that it is resident.
    held[::4096] = b"x" * len(held[::4096])
    ended = in_fresh_process("print(probe.peak_memory_mb())")
    assert 1 < json.loads(ended.stdout) < 150
