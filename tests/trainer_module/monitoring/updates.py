"""Updates of a training that nobody did."""

from trainer_module.loop.events import Update


def update(number: int, *, updates: int = 10, **fields) -> Update:
    """Four examples in a second; the loss falls with the number."""
    given = {
        "epoch": 1,
        "loss": 1 / number,
        "learning_rate": 0.1,
        "gradient_norm": 1.0,
        "loss_scale": 1.0,
        "examples": 4,
        "real_tokens": 20,
        "padded_tokens": 40,
        "seconds": 1.0,
        "waiting_seconds": 0.5,
    }
    return Update(number=number, updates=updates, **{**given, **fields})
