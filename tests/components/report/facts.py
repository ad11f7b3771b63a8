"""Facts of a whole run, with any text in the places that the data fills."""


def of_run(text="where is my card", label="card"):
    score = {"value": 0.5, "low": 0.25, "high": 0.75}
    models = ("candidate", "baseline", "untuned")
    of_label = {"precision": score, "recall": score, "f1": score}
    row = {
        "example_id": text,
        "source": text,
        "target": label,
        "columns": {text: text},
        "answers": {m: {"prediction": label, "score": 0.5} for m in models},
        "scores": {m: 0.5 for m in models},
    }
    lineage = {
        "task": "classification",
        "checkpoint": text,
        "hashes": {"data": "d" * 64, "checkpoint": "c" * 64},
        "config": {"name": text, "train": {"epochs": 2}},
    }
    account = {
        "files": [
            {
                **{"path": text, "format": "CSV", "sha256": "ab", "rows_read": 3},
                **{"kept": 2, "rejected": {text: 1}, "left_out": 0},
                "first_rejected": [{"line": 3, "reason": text, "excerpt": text}],
            }
        ],
        "splits": {"train": 1, "eval": 1},
    }
    metrics = [
        {"slice": where, "model": model, "metric": "accuracy", **score}
        for where in ("Overall", f"{text}: {text}")
        for model in models
    ]
    evaluation = {
        "rows": {"Overall": 20, f"{text}: {text}": 12},
        "left_out": {text: 2},
        "confidence": 0.95,
        "metrics": metrics,
        "differences": [m for m in metrics if m["model"] != "candidate"],
        "checks": [
            {
                **{"metric": "accuracy", "rule": "floor", "rows": 20},
                **{"passed": passed, "rows_needed": 50, "in_words": f"{passed} {text}"},
            }
            for passed in (True, None, False)
        ],
        "incomparable": {"baseline": text},
        "notes": [text],
        "refused": None,
        "labels": [
            {"label": label, "rows": 5, "model": model, **of_label} for model in models
        ],
        "confusions": [
            {"model": model, "label": label, "prediction": text, "rows": 2}
            for model in models
        ],
        "unknown_labels": {"baseline": {label: 3}},
        "examples": {
            "metric": "probability of the true label",
            "compared_with": "baseline",
            **{kind: [row] for kind in ("best", "worst", "gained", "lost")},
        },
    }
    return {
        "title": text,
        "pushed": {"pushed": False, "reasons": [text]},
        "model_blessed": False,
        "model_check": {"problems": [text], "figures": {"requests": 5}},
        "account": account,
        "findings": [{"severity": "note", "message": text}],
        "evaluation": evaluation,
        "history": [
            {
                **{"epoch": epoch, "loss": 2.0 / epoch, "validation_loss": 1.5},
                **{"seconds": 3.0, "metrics": {"loss": 1.5, "accuracy": 0.5}},
            }
            for epoch in (1, 2)
        ],
        "lineage": lineage,
        "production": {
            "run_id": text,
            "pushed": {"version": 3},
            "lineage": {**lineage, "checkpoint": "other"},
            "config": {"name": text, "train": {"epochs": 1}},
            "account": account,
            "evaluation": {"metrics": metrics[:1]},
        },
    }
