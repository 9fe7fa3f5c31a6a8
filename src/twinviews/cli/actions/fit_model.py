"""twinviews fit, as a function."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from twinviews import (
    DataWarning,
    ShiftWarning,
    XNVClassifier,
    XNVCountRegressor,
    XNVOrdinalClassifier,
    XNVRegressor,
    save_model,
)
from twinviews.cli.actions.first_look import Target, Task, check_paths, look_at_target
from twinviews.cli.errors import say
from twinviews.data_checks import Finding
from twinviews.encoding.sources import open_like
from twinviews.evaluation.told_error import ToldError, told_error
from twinviews.labeling.labeled_table import TableWithLabels, with_labels
from twinviews.labeling.store_format import label_file
from twinviews.reading import Reading, ReadingOptions, columnar_copy, read

_ESTIMATORS: dict[Task, Any] = {
    "regression": XNVRegressor,
    "classification": XNVClassifier,
    "ordinal": XNVOrdinalClassifier,
    "count": XNVCountRegressor,
}
# Classes that a message names.
_MOST_NAMED = 10
# An area under the ROC curve above this is more than chance.
_KNOWS = 0.6


def fit_model(
    table: str,
    target: str,
    output: Path,
    *,
    unlabeled: Sequence[str],
    labels: Path | None,
    without_unlabeled: bool,
    task: Task | None,
    report: Path | None,
    quick: bool,
    seed: int,
    strata: str | None = None,
    cluster: str | None = None,
    label_probability: str | None = None,
    class_weight: str | None = None,
    classes: Sequence[str] | None = None,
    max_labels: int | None = None,
    **reading: Any,
) -> dict[str, Any]:
    """Read, fit, save, and say so; what was found and done is returned for machines."""
    check_paths([table, *unlabeled], [output, *([] if report is None else [report])])
    if report is not None:
        import_module("twinviews.report")  # better known now than after minutes of work
    options = ReadingOptions(**reading)
    table_read = _read_table(table, target, labels, options, task, strata, label_probability)
    found, goal, labeled, target = table_read[:4]
    task, label_probability = table_read.task, table_read.label_probability
    more = [open_like(found, source, options, [target]) for source in unlabeled]
    for other in more:
        say(str(other))
    say(goal.words(found_out=task is None))
    order = order_of_classes(goal, classes)
    if report is not None and goal.task == "ordinal":
        raise ValueError(
            "--report has no page on ordered classes. Leave it out, or say --task classification for "
            "one that judges by the error rate."
        )
    _ask(goal.questions(), task_is_given=task is not None)
    columns = columns_to_use(found, [target, label_probability, cluster], options.kinds)
    with found.plain_errors(), questions_of_the_fit() as questions:
        how = {"strata": strata, "label_probability": label_probability, "cluster": cluster}
        rows = {"columns": columns, "unlabeled": more or None, "without_unlabeled": without_unlabeled}
        model = estimator_for(goal.task, seed, quick=quick, class_weight=class_weight, order=order)
        model.max_labels = model.max_labels if max_labels is None else max_labels
        model.fit_table(found, target=target, encode=True, reading=options, **rows, **how)
    _ask(questions)
    if without_unlabeled:
        say(f"Left out, as --without-unlabeled says: {model.n_left_out_:,} rows without a label")
    told = _tell(model, goal)
    about = {**model.about_, "error": told.as_dict()}
    save_model(model, output, about=about)
    say(f"Wrote {output} ({output.stat().st_size / 1e3:,.0f} kB).")
    if report is not None:
        _write_report(report, [found, *more], goal, columns, model)
    again = quote(table) if Path(table).is_file() else "TABLE"  # a stream is gone
    say(f"Next: twinviews predict {quote(str(output))} {again} -o predicted.csv")
    return {
        "model": str(output),
        "report": None if report is None else str(report),
        **about,
        **_facts_of(model),
        "how": None if labeled is None else dict(labeled.how),
        "guesses": [str(guess) for guess in found.guesses],
    }


class _TableRead(NamedTuple):
    found: Reading
    goal: Target
    labeled: TableWithLabels | None  # of the page
    target: str
    task: Task | None  # as it was said
    label_probability: str | None


def _read_table(
    table: str,
    target: str,
    labels: Path | None,
    options: ReadingOptions,
    task: Task | None,
    strata: str | None,
    label_probability: str | None,
) -> _TableRead:
    """The table with its labels, and what is to be predicted; all of it is said."""
    found = read(table, options)
    say(str(found))
    labeled = None if labels is None else labels_of_the_page(found, labels, target)
    if labeled is None:
        _mention_labels(table)
        found = columnar_copy(found)  # the target, the columns, landmarks and moments: four passes
    else:
        _check_said_once(strata, label_probability)
        found, task = labeled.reading, task or labeled.target.task
        label_probability = labeled.probability
    if target not in found.dataset.schema.names:
        target = target.strip()  # as names of columns are
    goal = look_at_labels(found, target, task)
    return _TableRead(found, goal, labeled, target, task, label_probability)


def look_at_labels(found: Reading, target: str, task: Task | None) -> Target:
    """What is to be predicted; an error if no row has a label."""
    with found.plain_errors():
        goal = look_at_target(found.dataset, target, task)
    if goal.n_labeled == 0:
        raise ValueError(
            f"Column {target!r} is blank in all {goal.n_rows:,} rows, so there is nothing to learn "
            f"from. Give some rows a value."
        )
    return goal


def _facts_of(model: Any) -> dict[str, Any]:
    return {
        "n_labeled": model.n_labeled_,
        "n_labels_unused": model.n_labels_unused_,
        "n_unlabeled": model.n_unlabeled_,
        "n_left_out": model.n_left_out_,
        "shift": None if model.shift_ is None else model.shift_.as_dict(),
        "columns": columns_of(model),
    }


def _ask(questions: Sequence[Finding], *, task_is_given: bool = True) -> None:
    """Say what is strange; what would change the task in silence stops unless the task is given."""
    for question in questions:
        if question.stops and not task_is_given:
            raise ValueError(question.for_command_line())
        say(question.for_command_line())


@contextmanager
def questions_of_the_fit() -> Iterator[list[Finding]]:
    """What only a fit can ask; about labels as they are, the command has asked already."""
    found: list[Finding] = []
    show = warnings.showwarning

    def take(message: Warning | str, *where: Any, **more: Any) -> None:
        if isinstance(message, ShiftWarning):
            return  # the model has it, with more
        if not isinstance(message, DataWarning):
            show(message, *where, **more)
        elif message.finding is not None and message.finding.of_a_fit:
            found.append(message.finding)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = take
        yield found


def _write_report(
    page: Path, readings: Sequence[Reading], goal: Target, columns: Sequence[str], model: Any
) -> None:
    from twinviews.cli.actions.report_sample import sample_rows
    from twinviews.report import gather, write_report

    seed = model.random_state
    datasets = [reading.dataset for reading in readings]
    n_unlabeled = model.n_unlabeled_ + model.n_left_out_
    with readings[0].plain_errors():
        rows, drawn = sample_rows(
            datasets, [*columns, goal.name], goal.name, goal.n_labeled, n_unlabeled, seed
        )
    # A page on counts is one on numbers; ordered classes have none.
    task: Any = "regression" if goal.task == "count" else goal.task
    evidence = gather(rows, goal.name, task, None, model, seed=seed, say=say, drawn=drawn)
    write_report(page, evidence)
    say(f"Wrote {page}.")


def columns_of(model: Any) -> list[dict[str, Any]]:
    """Every input column, what it is taken for and what was done with it."""
    return [
        {"name": code.name, "kind": code.kind, "words": code.words, "outputs": list(code.outputs)}
        for code in model.columns_
    ]


def estimator_for(
    task: Task,
    seed: int,
    *,
    quick: bool = False,
    class_weight: str | None = None,
    order: Sequence[Any] | None = None,
) -> Any:
    """The estimator of the command line, not fitted yet."""
    options: dict[str, Any] = {"members": None, "scale": "standard"} if quick else {}
    if class_weight is not None:
        if task != "classification":
            raise ValueError(
                f"--class-weight is for --task classification, and this is {task}. Leave it out, or "
                f"say --task classification."
            )
        options["class_weight"] = costs_of_classes(class_weight)
    if order is not None:
        options["classes"] = list(order)
    return _ESTIMATORS[task](random_state=seed, progress=True, **options)


def order_of_classes(goal: Target, classes: Sequence[str] | None) -> list[Any] | None:
    """The classes in the order that was given; None for that of numbers."""
    if goal.task != "ordinal":
        if classes is not None:
            raise ValueError("--classes gives the order of classes: say --task ordinal, too.")
        return None
    labels = {str(label): label for label in goal.labels.tolist()}
    if classes is None:
        if len(labels) > 2 and any(isinstance(label, str) for label in labels.values()):
            raise ValueError(
                f"Column {goal.name!r} holds words, and nothing says in what order they are: "
                f"{', '.join(sorted(labels)[:_MOST_NAMED])}. Say --classes, the lowest first, with "
                f"commas between."
            )
        return None
    unknown = sorted(set(labels) - set(classes))
    if unknown:
        raise ValueError(
            f"Column {goal.name!r} has the class {unknown[0]!r:.40}, which is not among --classes. Put "
            f"it in its place there."
        )
    if all(isinstance(label, str) for label in labels.values()):
        return list(classes)
    try:
        return [labels[name] if name in labels else int(name) for name in classes]
    except ValueError:
        raise ValueError(
            f"--classes {','.join(classes)} must be whole numbers, as the labels of {goal.name!r} are."
        ) from None


def costs_of_classes(text: str) -> str | dict[str, float]:
    """From "balanced", or from "yes=10,no=1"; a name may hold an equals sign, and no comma."""
    if text.strip().lower() == "balanced":
        return "balanced"
    costs = {}
    for part in text.split(","):
        label, equals, cost = part.rpartition("=")
        try:
            costs[label.strip()] = float(cost)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(
                f"--class-weight has {part.strip()!r:.60}, which is not CLASS=COST, such as yes=10. "
                f"Give one for each class, with commas between, or balanced."
            )
    return costs


def _tell(model: Any, goal: Target) -> ToldError:
    """Say which columns were used, the error to expect, and whether labels are like all rows."""
    say(_columns_in_words(model))
    told = told_error(model)
    say(f"Error to expect: {told.words()}{_without_a_model(told, goal)}.")
    _ask([] if model.shift_ is None else model.shift_.findings())
    return told


def labels_of_the_page(found: Reading, labels: Path, target: str) -> TableWithLabels:
    labeled = with_labels(found, labels, target)
    say(f"{labels}: {labeled.words()}")
    return labeled


def _check_said_once(strata: str | None, label_probability: str | None) -> None:
    given = strata or label_probability
    if given:
        option = "--strata" if strata else "--label-probability"
        raise ValueError(
            f"{option} {given} says how labels were given, and so does the file of --labels. Leave out "
            f"one of them."
        )


def _mention_labels(table: str) -> None:
    """Say that there are labels of the page beside the table, which are not used."""
    file = label_file(Path(table))
    if table != "-" and file.is_file():
        say(f"Labels of the page are beside the table and not used here; --labels {file} uses them.")


# What `twinviews plan` adds to a table: the order in which to label, and probabilities of labels.
PLAN_COLUMNS = ("label_next", "label_probability")


def columns_to_use(found: Reading, apart: Sequence[str | None], kinds: Mapping[str, str]) -> list[str]:
    """All but these; predictions of an earlier run would be learned from as if they were facts."""
    names = [name for name in found.dataset.schema.names if name not in apart]
    if PLAN_COLUMNS[0] in names:
        planned = [name for name in names if name in PLAN_COLUMNS and name not in kinds]
        names = [name for name in names if name not in planned]
        say(f"Left out, as columns of a plan: {', '.join(planned)} (--kind NAME=number keeps)")
    earlier = [name for name in names if _is_prediction(name) and name not in kinds]
    if "prediction" not in earlier:
        return names
    say(f"Left out, as predictions of an earlier run: {', '.join(earlier)} (--kind NAME=number keeps)")
    return [name for name in names if name not in earlier]


def _is_prediction(name: str) -> bool:
    return name in ("prediction", "lower", "upper", "outside") or name.startswith("probability_")


def _columns_in_words(model: Any) -> str:
    codes = model._encoder.codes
    used = len(model._encoder.names)
    words = (
        f"{used} {'column' if used == 1 else 'columns'} used as {len(model._encoder.outputs)} numbers"
    )
    left_out = [f"{code.name} ({code.words})" for code in codes if code.kind == "left out"]
    return f"{words}; left out: {', '.join(left_out)} (--kind)" if left_out else words


def _without_a_model(told: ToldError, goal: Target) -> str:
    """What always saying the commonest class would come to."""
    guess = 1 - goal.commonest
    if not told.is_rate or np.isnan(guess) or np.isnan(told.error.value):
        return ""
    # Both are shares of the same labels; their last digits differ by the way they were computed.
    verdict = ""
    if told.error.value >= guess - 1e-9:
        verdict = ": this model knows no better"
        if told.others["auc"] > _KNOWS:
            verdict = ": what this model knows is which rows are likelier (AUC)"
    return f"; always the commonest class would be wrong in {guess:.1%}{verdict}"
