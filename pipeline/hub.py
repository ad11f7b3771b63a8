"""Fetches a checkpoint from the Hugging Face hub, once, at a pinned revision."""

import os
import shutil

from pipeline import checkpoint_files
from pipeline.config import ConfigError
from trainer_module.progress import Refusal

# Configuration, vocabulary and safetensors: nothing that could run code.
_WANTED = [
    "config.json",
    "model.safetensors",
    "generation_config.json",
    "vocab.txt",
    "spiece.model",
    "tokenizer*.json",
    "special_tokens_map.json",
]


def fetch(reference: str, path: str, task: str) -> None:
    """Downloads OWNER/NAME@REVISION to `path`; the folder appears when complete.

    Raises:
      Refusal: if the hub cannot be reached, or what it has cannot be used.
    """
    from huggingface_hub import snapshot_download

    name, _, revision = reference.partition("@")
    staging = f"{path}.incomplete"
    try:
        snapshot_download(
            name, revision=revision, local_dir=staging, allow_patterns=_WANTED
        )
        shutil.rmtree(os.path.join(staging, ".cache"), ignore_errors=True)
        checkpoint_files.check(staging, task)
    except ConfigError as error:
        raise Refusal(str(error)) from error
    except Exception as error:  # The library has no common base for its errors.
        raise Refusal(
            f"model.checkpoint: hub:{reference} could not be fetched: "
            f"{str(error).rstrip('. ')}. Correct the name or the revision, or, where "
            "this machine has no network, download the model elsewhere and name its "
            "folder."
        ) from error
    os.rename(staging, path)
