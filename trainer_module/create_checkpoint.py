"""Makes a small T5 directory: SentencePiece trained on given texts, random weights."""

import io
import os
import shutil
from collections.abc import Iterable

from trainer_module.settings import CreateCheckpoint

SENTINELS = 100  # <extra_id_0> ... as in every published T5.


def create(texts: Iterable[str], settings: CreateCheckpoint, path: str) -> None:
    """Writes config.json, model.safetensors and the tokenizer's files to `path`.

    All or nothing: the folder appears when it is complete.

    Args:
      texts: what the vocabulary is learned from; sources and targets alike.
      settings: the shape.
      path: the folder; must not exist yet.

    Raises:
      ValueError: if there is no text, or the vocabulary cannot hold its characters.
    """
    path = path.rstrip("/")
    staging = f"{path}.incomplete"
    shutil.rmtree(staging, ignore_errors=True)
    os.makedirs(staging)
    try:
        _write(texts, settings, staging)
        os.rename(staging, path)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _write(texts: Iterable[str], settings: CreateCheckpoint, folder: str) -> None:
    import tensorflow as tf
    import transformers

    from trainer_module import hugging_face

    vocabulary = os.path.join(folder, "spiece.model")
    with open(vocabulary, "wb") as f:
        f.write(_train_vocabulary(texts, settings.vocabulary_size))
    tokenizer = transformers.T5TokenizerFast(
        vocabulary,
        extra_ids=SENTINELS,
        legacy=False,
        add_prefix_space=True,  # As SentencePiece does, and so the model we serve.
    )
    tf.keras.utils.set_random_seed(settings.seed)
    model = transformers.TFT5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=_round_up(len(tokenizer), 8),
            d_model=settings.width,
            d_kv=settings.width // settings.heads,
            d_ff=settings.width * 4,
            num_layers=settings.layers,
            num_decoder_layers=settings.layers,
            num_heads=settings.heads,
            dropout_rate=0.1,
            decoder_start_token_id=0,
        )
    )
    # Without the scope, encoder and decoder share their weights' names.
    model.build_in_name_scope()
    hugging_face.save(model, folder)
    tokenizer.save_pretrained(folder)


def _train_vocabulary(texts: Iterable[str], size: int) -> bytes:
    import sentencepiece

    lines = [" ".join(text.split()) for text in texts]
    if not any(character.isalnum() for line in lines for character in line):
        # SentencePiece would end the process.
        raise ValueError(f"No text to learn a vocabulary of {size} pieces from.")
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            max_sentence_length=1 << 20,  # Bytes; a longer text is left out.
            model_writer=model,
            vocab_size=size,
            model_type="unigram",
            character_coverage=0.9995,
            pad_id=0,
            eos_id=1,
            unk_id=2,
            bos_id=-1,
            byte_fallback=False,
            hard_vocab_limit=False,  # Little text gives fewer pieces, not a failure.
            num_threads=1,  # The pieces depend on it.
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ValueError(
            f"The texts give no vocabulary of {size} pieces: {error}"
        ) from error
    return model.getvalue()


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
