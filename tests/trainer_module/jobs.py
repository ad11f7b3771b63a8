"""The Trainer's run_fn in processes that may be killed."""

import json
import os
import pathlib
import subprocess
import sys
import time

from trainer_module import progress

ROOT = pathlib.Path(__file__).parents[2]


class Job:
    """One training in a folder of its own, started as often as is needed.

    Args:
      folder: must not exist.
      custom_config: of TrainerSettings; its `training_dir` is set.
    """

    def __init__(self, folder, custom_config, train_file, eval_file, label_names_path):
        self.folder = folder
        folder.mkdir()
        custom_config = json.loads(json.dumps(custom_config))
        custom_config["texttune"]["training_dir"] = str(folder / "training")
        self._arguments = folder / "arguments.json"
        self._arguments.write_text(
            json.dumps(
                {
                    "custom_config": custom_config,
                    "transform_output": "unused",
                    "train_files": [train_file],
                    "eval_files": [eval_file],
                    "label_names_path": label_names_path,
                    "serving_model_dir": str(folder / "model" / "Format-Serving"),
                    "model_run_dir": str(folder / "model_run"),
                    "base_model": None,
                }
            )
        )

    def start(self, **variables: str) -> subprocess.Popen:
        environment = {
            **os.environ,
            "TF_USE_LEGACY_KERAS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            progress.EVENTS_VARIABLE: str(self.folder / "events"),
            **variables,
        }
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.trainer_module.transformed"]
                + [str(self._arguments)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )

    def finish(self) -> "Job":
        assert self.start().wait(600) == 0, self.log
        return self

    def start_until_saved(self) -> subprocess.Popen:
        """Starts it, and waits until it is further than the process before it."""
        before = self.saved
        process = self.start()
        self.wait_until_saved(process, beyond=before)
        return process

    def wait_until_saved(self, process: subprocess.Popen, *, beyond: int = -1) -> None:
        deadline = time.monotonic() + 300
        while self.saved <= beyond:
            assert process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.01)

    @property
    def saved(self) -> int:
        """Updates of the newest checkpoint that is complete; -1 without one."""
        found = self.folder.glob("training/*/update-*/state.json")
        return max((int(p.parent.name.split("-")[1]) for p in found), default=-1)

    @property
    def weights(self) -> bytes:
        return (self.folder / "model/Format-HF/model.safetensors").read_bytes()

    @property
    def history(self) -> list[dict]:
        told = json.loads((self.folder / "model_run/history.json").read_text())
        return [{k: epoch[k] for k in ("epoch", "loss", "metrics")} for epoch in told]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-4000:]

    def events(self, kind: str) -> list[dict]:
        lines = (self.folder / "events").read_text().splitlines()
        return [e for e in map(json.loads, lines) if e["kind"] == kind]
