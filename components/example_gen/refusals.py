"""Why what was read will not do, in words. Pure."""

import math
from collections.abc import Sequence

from components.example_gen import reading
from components.example_gen.account import Account, FileAccount, RejectedRow
from components.example_gen.settings import DataSettings
from trainer_module.progress import DataRefused


def refuse_many_rejected(files: Sequence[FileAccount], max_share: float) -> None:
    """Raises DataRefused if more than `max_share` of a file's rows were rejected."""
    bad = [file for file in files if file.rejected_share > max_share]
    if not bad:
        return
    # Rounded up, so that the value that is offered does allow all of the files.
    enough = math.ceil(max(file.rejected_share for file in bad) * 1000) / 1000
    raise DataRefused(*(_many_rejected(file, max_share, enough) for file in bad))


def _many_rejected(file: FileAccount, max_share: float, enough: float) -> str:
    unit = "record" if file.format in reading.RECORDED else "line"
    reasons = "; ".join(_reason(file, reason, unit) for reason in file.rejected)
    return (
        f"{file.path}: {file.rejected_rows} of {file.rows_read} rows "
        f"({file.rejected_share:.1%}) cannot be used, and "
        f"`data.gate.max_rejected_share` allows {max_share:.1%}: {reasons}. Correct "
        "the rows, or go on without them: "
        f"`--set data.gate.max_rejected_share={enough}`."
    )


def _reason(file: FileAccount, reason: str, unit: str) -> str:
    count = file.rejected[reason]
    shown: list[RejectedRow] = [r for r in file.first_rejected if r.reason == reason]
    numbers = ", ".join(str(row.line) for row in shown)
    if count > 1:
        unit += "s"
    if count > len(shown):
        numbers += ", ..."
    return f"{count} x {reason} ({unit} {numbers}, like {shown[0].excerpt!r})"


def refuse_empty_split(account: Account, settings: DataSettings) -> None:
    """Raises DataRefused for a split without a row, with the way to fill it."""
    for split, rows in account.splits.items():
        if rows:
            continue
        if settings.eval is not None:
            paths = settings.train if split == "train" else settings.eval
            raise DataRefused(
                f"{', '.join(paths)}: no row can be used, so the {split} split is "
                "empty (0 rows). Name a file with rows that have both a text and a "
                "target."
            )
        good = sum(account.splits.values())
        whose = "each text"
        if settings.split_by is not None:
            whose = f"each value of {settings.split_by!r}"
        raise DataRefused(
            f"{', '.join(settings.train)}: the {split} split is empty (0 of {good} "
            f"rows): `data.eval_share` = {settings.eval_share} puts {whose} into "
            "one split by its hash. Add rows, change `data.eval_share`, or name a file "
            "as `data.eval`."
        )
