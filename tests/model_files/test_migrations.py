"""Files of other versions: migrated, completed by defaults, or refused with the version to use."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from twinviews import SSSLRegressor, inspect_model, load_model, save_model
from twinviews.model_files import estimator_states, migrations
from twinviews.model_files.container import unpack
from twinviews.model_files.schema import defaults_of, fields_of


def fitted(cls=SSSLRegressor, **parameters):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(np.arange(30) < 12, X[:, 0], np.nan)
    return cls(n_components=4, random_state=0, **parameters).fit(X, y), X


def rewritten(path, change):
    """The file with another header, sealed anew."""
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    length = int.from_bytes(content[start : start + 8], "little")
    header = json.loads(content[start + 8 : start + 8 + length])
    change(header)
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = content[:start] + len(text).to_bytes(8, "little") + text
    body += content[start + 8 + length : -32]
    path.write_bytes(body + hashlib.sha256(body).digest())


@pytest.fixture
def saved(tmp_path):
    model, X = fitted()
    save_model(model, tmp_path / "model")
    return tmp_path / "model", model.predict(X), X


def regroup(file):
    """A change as a rebuilt estimator needs it: attributes in an object, names, a field more."""
    objects, state = file.header["objects"], file.header["model"]["state"]
    for node in objects:
        if node["kind"] == "LabeledProblem":
            node.update(kind="Problem", mean_label=node.pop("Y"), note="old")
    counts = {"labeled": state.pop("n_labeled_"), "unlabeled": state.pop("n_unlabeled_")}
    state["_counts"] = len(objects)
    objects.append({**counts, "kind": "Counts"})
    state["_shift"] = len(file.arrays)
    file.arrays.append(np.zeros(3))


def test_a_migration_renames_adds_and_groups(saved, monkeypatch):
    path, _, _ = saved
    monkeypatch.setattr(migrations, "MIGRATIONS", [*migrations.MIGRATIONS, regroup])
    contents = unpack(path.read_bytes())
    migrations.migrate(contents)
    objects, state = contents.header["objects"], contents.header["model"]["state"]
    assert {node["kind"] for node in objects} >= {"Problem", "Counts"}
    assert "LabeledProblem" not in {node["kind"] for node in objects}
    assert all(node["note"] == "old" for node in objects if node["kind"] == "Problem")
    assert "n_labeled_" not in state
    assert set(objects[state["_counts"]]) == {"kind", "labeled", "unlabeled"}
    assert_array_equal(contents.arrays[state["_shift"]], np.zeros(3))


def test_migrations_are_applied_in_turn_from_the_format_of_the_file(saved, monkeypatch):
    path, predicted, X = saved
    seen = []
    now = migrations.newest_format()
    steps = [*migrations.MIGRATIONS, lambda file: seen.append(1), lambda file: seen.append(2)]
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    assert_array_equal(load_model(path).predict(X), predicted)
    assert seen == [1, 2]
    rewritten(path, lambda header: header.update(format=now + 1))
    inspect_model(path)
    assert seen == [1, 2, 2]
    save_model(load_model(path), path)
    seen.clear()
    load_model(path)
    assert seen == []


def test_a_header_that_a_migration_stumbles_over_is_refused(saved, monkeypatch):
    path, _, _ = saved
    now = migrations.newest_format()
    monkeypatch.setattr(migrations, "MIGRATIONS", [*migrations.MIGRATIONS, regroup])
    rewritten(path, lambda header: header["model"]["state"].pop("n_labeled_"))
    with pytest.raises(ValueError, match=rf"not a valid model file: it is not a file of format {now}"):
        load_model(path)


def test_a_file_without_a_format_is_of_the_first(saved, tmp_path):
    written_then = Path(__file__).parent / "corpus" / "0.1.0" / "SSSLRegressor-dense.twinviews"
    path = tmp_path / "old"
    path.write_bytes(written_then.read_bytes())
    predicted = load_model(path).predict(np.zeros((1, load_model(path).n_features_in_)))
    rewritten(path, lambda header: header.update(format=1))
    again = load_model(path).predict(np.zeros((1, load_model(path).n_features_in_)))
    assert_array_equal(again, predicted)
    now, _, _ = saved
    rewritten(now, lambda header: header.pop("format"))
    with pytest.raises(ValueError, match="not a file of format 1"):
        load_model(now)


@pytest.mark.parametrize("written_in", [0, -1, "2", 1.0, True, None, [1]])
def test_a_format_is_a_number(written_in, saved):
    path, _, _ = saved
    rewritten(path, lambda header: header.update(format=written_in))
    with pytest.raises(ValueError, match="not a valid model file: its format is"):
        load_model(path)


def of_a_later_version(change):
    def apply(header):
        header["twinviews"] = "7.8.9"
        change(header)

    return apply


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda header: header.update(format=99), "it has format 99"),
        (lambda header: header.update(format=99, model=[]), "it has format 99"),
        (lambda header: header["model"]["parameters"].update(depth=3), "the parameter 'depth'"),
        (lambda header: header["model"]["state"].update(depth_=3), "the field 'depth_'"),
        (lambda header: header["objects"][0].update(depth=3), "the field 'depth'"),
        (lambda header: header["objects"].append({"kind": "Deep"}), "the kind 'Deep'"),
        (lambda header: header["model"].update({"class": "DeepRegressor"}), "'DeepRegressor'"),
    ],
)
def test_a_file_of_a_later_version_says_which(change, what, saved):
    path, _, _ = saved
    rewritten(path, of_a_later_version(change))
    with pytest.raises(ValueError, match=what) as refusal:
        load_model(path)
    assert "is from another version of twinviews" in str(refusal.value)
    assert "twinviews 7.8.9 wrote it: use that version or a later one" in str(refusal.value)
    assert "valid" not in str(refusal.value)


def test_a_hostile_version_is_not_printed(saved):
    path, _, _ = saved
    rewritten(path, lambda header: header.update(twinviews="1\n\x1b[2J", format=99))
    with pytest.raises(ValueError, match=r"does not say which version wrote it\.$"):
        load_model(path)


class Deeper(SSSLRegressor):
    """A later version of an estimator, with one more parameter and attribute."""

    def __init__(self, depth=5, **parameters):
        super().__init__(**parameters)
        self.depth = depth

    @classmethod
    def _get_param_names(cls):
        return sorted([*SSSLRegressor._get_param_names(), "depth"])


class DepthState:
    depth_: int = 1


def test_an_old_file_takes_the_default_of_a_new_parameter_and_attribute(saved, monkeypatch):
    path, predicted, X = saved
    old = estimator_states.ESTIMATORS["SSSLRegressor"]
    fields, defaults = fields_of(DepthState), defaults_of(DepthState)
    newer = replace(old, cls=Deeper, fields={**old.fields, **fields}, defaults=defaults)
    monkeypatch.setitem(estimator_states.ESTIMATORS, "SSSLRegressor", newer)
    model = load_model(path)
    assert type(model) is Deeper
    assert (model.depth, model.depth_) == (5, 1)
    assert_array_equal(model.predict(X), predicted)
