"""twinviews fit, as a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from sklearn.base import clone

from twinviews import TableEncoder, XNVClassifier, XNVRegressor, save_model
from twinviews.cli.actions.check_paths import check_paths
from twinviews.cli.actions.target_task import Target, Task, look_at_target
from twinviews.encoding.sources import open_like
from twinviews.reading import Reading, ReadingOptions, columnar_copy, read

Say = Callable[[str], None]


def fit_model(
    table: str,
    target: str,
    output: Path,
    *,
    unlabeled: Sequence[str],
    task: Task | None,
    report: Path | None,
    quick: bool,
    seed: int,
    reading: Mapping[str, Any],
    say: Say,
) -> dict[str, Any]:
    """Read, fit, save; what was found and done, for machines. ``say`` tells a person."""
    check_paths([table, *unlabeled], [output, *([] if report is None else [report])])
    if report is not None:
        import_module("twinviews.report")  # better known now than after minutes of work
    options = options_of(reading)
    found = read(table, options)
    say(str(found))
    found = columnar_copy(found)  # the target, the columns, landmarks and moments: four passes
    if target not in found.dataset.schema.names:
        target = target.strip()  # as names of columns are
    with found.plain_errors():
        goal = look_at_target(found.dataset, target, task)
    more = [open_like(found, source, options, [target]) for source in unlabeled]
    for other in more:
        say(str(other))
    say(goal.words(found_out=task is None))
    kinds = _kinds_of_inputs(options, target)
    columns = _columns_to_use(found, target, kinds, say)
    estimator = _estimator(goal.task, quick, seed)
    model = _fitted(estimator, [found, *more], target, columns, kinds)
    say(_columns_in_words(model))
    error = _error(model, goal)
    say(_error_in_words(error, goal))
    missing = None if options.missing is None else list(options.missing)
    about = {**model.about_, "missing": missing, "error": error}
    save_model(model, output, about=about)
    say(f"Wrote {output} ({output.stat().st_size / 1e3:,.0f} kB).")
    if report is not None:
        _write_report(report, [found, *more], goal, columns, kinds, estimator, model, seed, say)
    again = quote(table) if Path(table).is_file() else "TABLE"  # a stream is gone
    say(f"Next: twinviews predict {quote(str(output))} {again} -o predicted.csv")
    return {
        "model": str(output),
        "report": None if report is None else str(report),
        **about,
        "n_labeled": model.n_labeled_,
        "n_unlabeled": model.n_unlabeled_,
        "columns": columns_of(model),
        "guesses": [str(guess) for guess in found.guesses],
    }


def _fitted(
    estimator: Any,
    readings: Sequence[Reading],
    target: str,
    columns: Sequence[str],
    kinds: Mapping[str, str],
) -> Any:
    """A clone, fitted on the first table and on the rows of the others."""
    found, *more = readings
    with found.plain_errors():
        return clone(estimator).fit_table(
            found, target=target, columns=columns, encode=True, kinds=kinds, unlabeled=more or None
        )  # fmt: skip


def _write_report(
    page: Path,
    readings: Sequence[Reading],
    goal: Target,
    columns: Sequence[str],
    kinds: Mapping[str, Any],
    estimator: Any,
    model: Any,
    seed: int,
    say: Say,
) -> None:
    from twinviews.cli.actions.report_sample import sample_rows
    from twinviews.report import gather, write_report

    datasets = [reading.dataset for reading in readings]
    with readings[0].plain_errors():
        rows, drawn = sample_rows(
            datasets, [*columns, goal.name], goal.name, goal.n_labeled, model.n_unlabeled_, seed
        )
    evidence = gather(
        rows, goal.name, goal.task, TableEncoder(kinds=kinds), estimator,
        seed=seed, say=say, drawn=drawn,
    )  # fmt: skip
    write_report(page, evidence)
    say(f"Wrote {page}.")


def options_of(reading: Mapping[str, Any]) -> ReadingOptions:
    """From the command line's words."""
    missing = reading["missing"]
    return ReadingOptions(
        delimiter=reading["delimiter"],
        quote=reading["quote"],
        encoding=reading["encoding"],
        decimal=reading["decimal"],
        sheet=reading["sheet"],
        missing=None if missing is None else tuple(word.strip() for word in missing.split(",")),
        kinds=reading["kinds"],
    )


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Every input column, what it is taken for and what was done with it."""
    return [
        {"name": code.name, "kind": code.kind, "words": code.words, "outputs": list(code.outputs)}
        for code in model.columns_
    ]


def _estimator(task: Task, quick: bool, seed: int) -> Any:
    kind = XNVRegressor if task == "regression" else XNVClassifier
    alone: dict[str, Any] = {"members": None, "scale": "standard"} if quick else {}
    return kind(random_state=seed, progress=True, **alone)


def _kinds_of_inputs(options: ReadingOptions, target: str) -> dict[str, str]:
    kinds = {name: kind.partition(":")[0] for name, kind in options.kinds.items()}
    return {name: kind for name, kind in kinds.items() if kind != "skip" and name != target}


def _columns_to_use(found: Reading, target: str, kinds: Mapping[str, str], say: Say) -> list[str]:
    """All but the target; predictions of an earlier run would be learned from as if they were facts."""
    names = [name for name in found.dataset.schema.names if name != target]
    earlier = [name for name in names if _is_prediction(name) and name not in kinds]
    if "prediction" not in earlier:
        return names
    say(f"Left out, as predictions of an earlier run: {', '.join(earlier)} (--kind NAME=number keeps)")
    return [name for name in names if name not in earlier]


def _is_prediction(name: str) -> bool:
    return name in ("prediction", "lower", "upper") or name.startswith("probability_")


def _columns_in_words(model: Any) -> str:
    codes = model._encoder.codes
    used = len(model._encoder.names)
    words = (
        f"{used} {'column' if used == 1 else 'columns'} used as {len(model._encoder.outputs)} numbers"
    )
    left_out = [f"{code.name} ({code.words})" for code in codes if code.kind == "left out"]
    return f"{words}; left out: {', '.join(left_out)} (--kind)" if left_out else words


def _error(model: Any, goal: Target) -> dict[str, float | None]:
    """What to expect on new rows, from labels that the fits judged had not seen."""
    loss = float(model.loo_error_)
    if not np.isfinite(loss):
        return {"error": None}
    if goal.task == "classification":
        return {"error_rate": loss}
    share = loss / goal.variance if goal.variance > 0 else None
    return {"root_mean_squared_error": float(np.sqrt(loss)), "share_of_variance": share}


def _error_in_words(error: Mapping[str, float | None], goal: Target) -> str:
    if "error" in error:
        return "Error to expect: unknown, as some label alone decides what is learned."
    if goal.task == "classification":
        rate = error["error_rate"]
        assert rate is not None
        words = f"Error to expect: {rate:.1%} of rows, judged by labels left out"
        guess = 1 - goal.commonest
        if np.isnan(guess):
            return f"{words}."
        verdict = "" if rate < guess else ": this model knows no better"
        return f"{words}; always the commonest class would be wrong in {guess:.1%}{verdict}."
    root, rest = error["root_mean_squared_error"], error["share_of_variance"]
    assert root is not None
    words = f"Error to expect: {readable(root)} (root mean square, judged by labels left out)"
    if rest is None:
        return f"{words}; all labels are the same."
    verdict = "" if rest < 1 else ": no better than always saying the mean"
    return f"{words}; R\N{SUPERSCRIPT TWO} {1 - rest:.2f}{verdict}."


def readable(number: float) -> str:
    """Four digits, without an exponent where that is short enough."""
    rounded = float(f"{number:.4g}")
    return f"{rounded:,.10g}" if 1e-4 < abs(rounded) < 1e9 else f"{rounded:g}"
