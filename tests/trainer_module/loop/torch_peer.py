"""The same training with PyTorch: prints the loss of each update.

Run by test_parity with the Python of .venv-torch, which has no TensorFlow and none of
this project. Argument: a folder with `job.json` (see there) and `head.safetensors`,
the weights that the checkpoint lacks.
"""

import json
import os
import sys

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import safetensors.torch  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

FOLDER = sys.argv[1]
with open(os.path.join(FOLDER, "job.json"), encoding="utf-8") as file:
    JOB = json.load(file)


class MeanPooledClassifier(torch.nn.Module):
    """As sentence-transformers pools: the mean over the tokens of the mask."""

    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.classifier = torch.nn.Linear(encoder.config.hidden_size, classes)

    def forward(self, input_ids, attention_mask):
        states = self.encoder(input_ids, attention_mask).last_hidden_state
        mask = attention_mask[:, :, None].float()
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return self.classifier(mean)


def build():
    """The model of `transformers` for JOB["kind"], without dropout."""
    if JOB["kind"] == "t5":
        return transformers.T5ForConditionalGeneration.from_pretrained(
            JOB["checkpoint"], dropout_rate=0.0
        )
    options = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if JOB["kind"] == "bert_cls":
        model = transformers.BertForSequenceClassification.from_pretrained(
            JOB["checkpoint"], num_labels=JOB["classes"], **options
        )
    else:
        encoder = transformers.BertModel.from_pretrained(
            JOB["checkpoint"], add_pooling_layer=False, **options
        )
        model = MeanPooledClassifier(encoder, JOB["classes"])
    head = safetensors.torch.load_file(os.path.join(FOLDER, "head.safetensors"))
    unknown = model.load_state_dict(head, strict=False).unexpected_keys
    assert not unknown, unknown
    return model


def padded(rows, fill):
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in rows], batch_first=True, padding_value=fill
    )


def loss_of(model, batch):
    """The mean loss that the library computes, in nats."""
    ids = padded([row["input_ids"] for row in batch], JOB["pad_id"])
    mask = (ids != JOB["pad_id"]).long()
    labels = [row["labels"] for row in batch]
    if JOB["kind"] == "t5":
        labels = padded(labels, -100)
        return model(input_ids=ids, attention_mask=mask, labels=labels).loss
    labels = torch.tensor(labels)
    if JOB["kind"] == "bert_cls":
        return model(input_ids=ids, attention_mask=mask, labels=labels).loss
    return torch.nn.functional.cross_entropy(model(ids, mask), labels)


def optimizer_of(model):
    """AdamW as the library's own Trainer groups the weights: no biases, no norms."""
    named = dict(model.named_parameters())
    decaying = {n for n in named if "bias" not in n and "norm" not in n.lower()}
    groups = [
        {"params": [named[n] for n in named if n in decaying], "weight_decay": decay}
        for decaying, decay in (
            (decaying, JOB["weight_decay"]),
            (set(named) - decaying, 0.0),
        )
    ]
    return torch.optim.AdamW(
        groups, lr=JOB["learning_rate"], betas=(0.9, 0.999), eps=JOB["epsilon"]
    )


def main():
    model = build()
    model.train()
    optimizer = optimizer_of(model)
    warmup, updates = JOB["warmup_updates"], len(JOB["batches"])
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda done: min(
            (done + 1) / max(warmup, 1), (updates - done) / (updates - warmup)
        ),
    )
    losses, norms = [], []
    for batch in JOB["batches"]:
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), JOB["clip_norm"])
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        norms.append(norm.item())
    json.dump({"losses": losses, "gradient_norms": norms}, sys.stdout)


main()
