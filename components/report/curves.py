"""The curves of a training as SVG. Pure: altair describes, vl-convert draws."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import markupsafe

# The page's own colours, so that the curves are right in light and dark.
_COLOURS = [f"var(--curve-{number})" for number in range(1, 7)]
_TEXT, _LINES = "var(--soft)", "var(--line)"
_WIDTH, _HEIGHT = 620, 220

Point = dict[str, Any]  # {"epoch", "value", "what"}


def draw(
    history: Sequence[Mapping[str, Any]] | None,
) -> list[tuple[str, markupsafe.Markup]]:
    """(heading, SVG) of the losses, and of the validation metrics by their scale.

    Args:
      history: history.json of the Trainer; a value that is not finite has no point.
    """
    history = history or ()
    names = list(
        dict.fromkeys(
            name
            for epoch in history
            for name in epoch.get("metrics") or ()
            if name != "loss"
        )
    )
    metrics = {name: _points(history, name) for name in names}
    small = [name for name in names if _most(metrics[name]) <= 1]
    large = [name for name in names if name not in small]
    groups = [
        (
            "Loss by epoch",
            _named("training", ((e["epoch"], e.get("loss")) for e in history))
            + _named(
                "eval split", ((e["epoch"], e.get("validation_loss")) for e in history)
            ),
        ),
        ("Metrics on the eval split by epoch", _joined(metrics, small)),
        ("Metrics on another scale", _joined(metrics, large)),
    ]
    return [(heading, _svg(points)) for heading, points in groups if points]


def draw_both(
    histories: Mapping[str, Sequence[Mapping[str, Any]] | None], *, metric: str
) -> list[tuple[str, markupsafe.Markup]]:
    """(heading, SVG) of the loss and of one metric on the eval split, of some runs.

    Args:
      histories: by the name of the run, history.json of the Trainer.
    """
    loss: list[Point] = []
    scores: list[Point] = []
    for name, history in histories.items():
        for epoch in history or ():
            at = epoch["epoch"]
            loss += _named(name, [(at, epoch.get("validation_loss"))])
            scores += _named(name, [(at, (epoch.get("metrics") or {}).get(metric))])
    groups = (
        ("Loss on the eval split by epoch", loss),
        (f"{metric} on the eval split by epoch", scores),
    )
    return [(heading, _svg(points)) for heading, points in groups if points]


def _joined(metrics: Mapping[str, list[Point]], names: Iterable[str]) -> list[Point]:
    return [point for name in names for point in metrics[name]]


def _points(history: Sequence[Mapping[str, Any]], name: str) -> list[Point]:
    return _named(
        name, ((e["epoch"], (e.get("metrics") or {}).get(name)) for e in history)
    )


def _named(what: str, values: Iterable[tuple[int, float | None]]) -> list[Point]:
    return [
        {"epoch": epoch, "value": value, "what": what}
        for epoch, value in values
        if value is not None and math.isfinite(value)
    ]


def _most(points: Iterable[Point]) -> float:
    return max((abs(point["value"]) for point in points), default=0.0)


def _svg(points: list[Point]) -> markupsafe.Markup:
    import altair as alt

    names = list(dict.fromkeys(point["what"] for point in points))
    epochs = sorted({point["epoch"] for point in points})
    colours = alt.Scale(
        domain=names, range=[_COLOURS[n % len(_COLOURS)] for n in range(len(names))]
    )
    chart = (
        alt.Chart(alt.Data(values=points), width=_WIDTH, height=_HEIGHT)
        .mark_line(point=True, clip=False)
        .encode(
            x=alt.X(
                "epoch:Q",
                title="epoch",
                axis=alt.Axis(values=epochs[:: len(epochs) // 20 + 1], format="d"),
                scale=alt.Scale(domain=[epochs[0], max(epochs[-1], epochs[0] + 1)]),
            ),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            color=alt.Color("what:N", title=None, scale=colours, sort=None),
        )
        .configure(background="transparent", font="system-ui, sans-serif")
        .configure_axis(
            labelColor=_TEXT,
            titleColor=_TEXT,
            gridColor=_LINES,
            domainColor=_LINES,
            tickColor=_LINES,
            labelFontSize=12,
            titleFontSize=12,
        )
        .configure_legend(
            labelColor=_TEXT, labelFontSize=13, orient="top", columns=4, labelLimit=0
        )
        .configure_view(stroke=None)
    )
    drawn = io.StringIO()
    chart.save(drawn, format="svg")
    # The library has escaped its texts, and they are names of metrics, not data.
    return markupsafe.Markup(drawn.getvalue())
