"""Model files as a forger would make them who knows the format and can seal, tried one by one.

    python trust/forged_models.py NOTE FOLDER FIRST COUNT

tries forgeries FIRST to FIRST + COUNT of the files in FOLDER, and prints how many were refused and how
many were loaded, as JSON. A forgery is its number: the same number is the same file.
"""

import hashlib
import json
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

import confinement
import twinviews
from twinviews import XNVClassifier, XNVRegressor, load_model, save_model

# What reading may take beyond the file (model_files/records.py counts it), and room for Python.
MOST_BYTES = 1 << 30
# Files of committees take ten times as long as the others.
SMALL_BYTES = 20_000

# What a forger writes in the place of a value.
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-300, 1e-100, 1e99, -1e99, 1e100, 1e101, 1e308, -1e308)
WHOLES = (0, 1, 2, 3, 7, -1, -2, 255, 256, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 10**40)
KNOWN_WORDS = [
    "gaussian",
    "linear",
    "csr",
    "csc",
    "auto",
    "rank",
    "unscaled",
    "C",
    "F",
    "<f4",
    "<i8",
    "|O",
]
HOSTILE_WORDS = [
    "",
    "../../x",
    "__class__",
    "os.system",
    "<U9999",
    "\0",
    "\x1b[2J",
    "\ud800",
    "x" * 20_000,
]


def unsealed(content):
    """Header and arrays of a file, by the layout that the container's docstring gives."""
    start = content.index(b"\n") + 1
    length = int.from_bytes(content[start : start + 8], "little")
    return json.loads(content[start + 8 : start + 8 + length]), content[start + 8 + length : -32]


def sealed(header, arrays):
    """The bytes of a file with any header, given as JSON text or as what it says."""
    if not isinstance(header, bytes):
        header = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return seal(b"twinviews model 1\n" + len(header).to_bytes(8, "little") + header + arrays)


def seal(content):
    return content + hashlib.sha256(content).digest()


# --- what is forged --------------------------------------------------------------------------------


def originals():
    """Small fitted models: each estimator, and everything that the file of one can hold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    few, more = np.arange(20) < 8, np.arange(20) < 15
    numbers = np.where(few, X[:, 0], np.nan)
    both = np.column_stack([numbers, np.where(more, X[:, 1] ** 2, np.nan)])
    animals = np.array(["ape", "bee", "cat"], object)[np.digitize(X[:, 0], [-0.4, 0.4])]
    animals[~few] = None
    raw = pd.DataFrame(
        {
            "id": np.arange(20),
            "town": ["Rome", "Oslo", None, "Bern"] * 5,
            "maker": [f"m{k}" for k in rng.geometric(0.2, 20)],
            "size": np.where(rng.random(20) < 0.2, np.nan, X[:, 0]),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, 20), "h"),
            "old": X[:, 1] > 0,
        }
    )
    names = [name for name in twinviews.__all__ if name.endswith(("Regressor", "Classifier"))]
    counts, order = np.round(np.square(2 * numbers)), {"classes": ["ape", "bee", "cat"]}
    labels = {"XNVCountRegressor": counts}
    for name in names:
        own = order if name == "XNVOrdinalClassifier" else {}
        yield small(name, **own).fit(
            X, labels.get(name, numbers if name.endswith("Regressor") else animals)
        )
    yield small("XNVRegressor", scale="rank", landmarks=X[:6]).fit(X.astype("f4"), both)
    yield small("XNVRegressor").fit(raw, numbers)
    yield small("SSSLClassifier", scale="robust").fit(raw, animals)
    yield small("KRRRegressor", kernel="polynomial").fit(X, both)
    yield small("KRRClassifier", kernel="laplace").fit(sparse.csr_array(X), animals == "ape")
    yield small("SSSLRegressor", kernel="cosine").fit(sparse.csc_matrix(X), numbers)
    X = rng.normal(size=(30, 2))  # so many labels make a committee
    yield XNVRegressor(n_components=3, random_state=0).fit(X, X[:, 0])
    yield XNVClassifier(n_components=3, random_state=0).fit(X, X[:, 0] > 0)


def small(name, **parameters):
    estimator = getattr(twinviews, name)()
    own = {"n_components": 3, "committee": False, "random_state": 0}
    own = {key: value for key, value in own.items() if key in estimator.get_params()}
    return estimator.set_params(**own, **parameters)


def write_originals(folder):
    for number, model in enumerate(originals()):
        save_model(
            model, folder / f"{number}.twinviews", about={"target": "y", "kinds": {"a": "number"}}
        )
        if type(model).__name__[:3] in ("XNV", "XKS"):
            save_model(model, folder / f"{number}-whole.twinviews", whole=True)


# --- what a forger does to bytes, to a header, to arrays -------------------------------------------


def change_bytes(chance, content, others):
    """Flips, changes, cuts, additions and parts of another file."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        at = chance.randrange(len(content) + 1)
        end = at + chance.choice((0, 1, 1, 2, 8, 64, 10**6))
        match chance.randrange(5):
            case 0 if at < len(content):
                content[at] ^= 1 << chance.randrange(8)
            case 1:
                content[at:end] = chance.randbytes(min(end, len(content)) - min(at, len(content)))
            case 2:
                del content[at:end]
            case 3:
                content[at:at] = chance.randbytes(chance.choice((1, 8, 1000)))
            case _:
                other = chance.choice(others)
                start = chance.randrange(len(other))
                content[at:end] = other[start : start + chance.choice((1, 8, 64, 10**6))]
    return bytes(content)


def places_in(node, here=()):
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        yield (*here, key)
        yield from places_in(value, (*here, key))


def at(node, way):
    for key in way:
        node = node[key]
    return node


def copied(node):
    return json.loads(json.dumps(node))


def odd_value(chance):
    match chance.randrange(8):
        case 0:
            return chance.choice(NUMBERS)
        case 1:
            return chance.choice(WHOLES)
        case 2:
            return chance.choice(KNOWN_WORDS + HOSTILE_WORDS)
        case 3:
            return chance.choice((None, True, False, [], {}, {"nan": True}, {"rows": 0}))
        case 4:
            return chance.uniform(-10, 10)
        case 5:
            return chance.randrange(60)
        case 6:
            return [chance.randrange(9) for _ in range(chance.randrange(5))]
        case _:
            node = chance.choice((0, "x", None))
            for _ in range(chance.choice((1, 3, 50))):
                node = [node] if chance.random() < 0.5 else {"x": node}
            return node


def change_header(chance, header, other):
    """One place of it: another value, none, two, another name; or what another file has there."""
    places = list(places_in(header))
    *way, last = chance.choice(places)
    owner = at(header, way)
    match chance.randrange(9):
        case 0 | 1:
            owner[last] = odd_value(chance)
        case 2 | 3:
            owner[last] = copied(at(header, chance.choice(places)))
        case 4:
            del owner[last]
        case 5 if isinstance(owner, list):
            for _ in range(chance.choice((1, 1, 2, 1000))):
                owner.insert(last, copied(owner[last]))
        case 5:
            owner[chance.choice([*HOSTILE_WORDS, *owner])] = owner.pop(last)
        case 6 if type(owner[last]) is int:
            owner[last] += chance.choice((-2, -1, 1, 2))
        case 6 if type(owner[last]) is float:
            owner[last] *= chance.choice((-1, 0.5, 2, 1e50))
        case 6 if isinstance(owner[last], list):
            chance.shuffle(owner[last])
        case 7:
            owner[last] = copied(at(other, chance.choice(list(places_in(other)))))
        case _:
            part = chance.choice(("model", "objects", "arrays"))
            header[part] = copied(other[part])


def change_arrays(chance, header, arrays):
    """Entries of one array: an odd number, all of them, in another order, or another bit."""
    arrays = bytearray(arrays)
    starts, start = [], 0
    for table in header["arrays"]:
        size = int(np.prod(table["shape"])) * int(table["dtype"][2:])
        if size:
            starts.append((table["dtype"], start, size))
        start += size
    dtype, start, size = chance.choice(starts)
    entries = np.frombuffer(bytes(arrays[start : start + size]), dtype).copy()
    one = chance.randrange(len(entries))
    with np.errstate(all="ignore"):
        odd = (np.nan, np.inf, -np.inf, *NUMBERS) if dtype[1] == "f" else WHOLES[:14]
        value = np.array(chance.choice(odd)).astype(dtype)
    match chance.randrange(6):
        case 0 | 1:
            entries[one] = value
        case 2:
            entries[:] = value
        case 3:
            np.random.default_rng(chance.randrange(2**32)).shuffle(entries)
        case 4:
            entries[:] = entries[one]
        case _:
            flipped = bytearray(entries.tobytes())
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            entries = np.frombuffer(bytes(flipped), dtype)
    arrays[start : start + size] = entries.tobytes()
    return bytes(arrays)


def forgery(number, files):
    """The bytes of a forgery, and whether it was sealed."""
    chance = random.Random(number)
    light = [content for content in files if len(content) < SMALL_BYTES]
    content = chance.choice(files if chance.random() < 0.05 else light)
    kind = chance.random()
    if kind < 0.1:
        return change_bytes(chance, content, light), False
    if kind < 0.2:
        return seal(change_bytes(chance, content[:-32], light)), True
    header, arrays = unsealed(content)
    if kind < 0.25:
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        return sealed(change_bytes(chance, text, [text]), arrays), True
    other, other_arrays = unsealed(chance.choice(light))
    if kind < 0.5:
        arrays = change_arrays(chance, header, arrays)
    if kind > 0.45:
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            change_header(chance, header, other)
    if kind > 0.98:
        arrays = other_arrays
    return sealed(header, arrays), True


# --- what a model must then be ---------------------------------------------------------------------


def rows_for(model):
    """A few rows of the kind that a model says it takes."""
    if model._encoder is not None:
        blank = {name: pa.nulls(3) for name in model._encoder.names}
        return pa.table(blank)
    width = model.n_features_in_
    if width > 10_000:
        return sparse.csr_array((3, width))
    X = np.random.default_rng(0).normal(size=(3, width))
    return sparse.csr_array(X) if model._rows_are_sparse else X


def answers(model, X):
    if hasattr(model, "classes_"):
        decision = [model.decision_function(X)] if hasattr(model, "decision_function") else []
        return [model.predict(X), model.predict_proba(X), *decision]
    is_count = isinstance(model, twinviews.XNVCountRegressor)
    mean = [model.predict(X)] if is_count else model.predict(X, return_std=True)
    return [*mean, model.predict_interval(X, 0.8)]


def check_answers(model):
    """Finite numbers and known classes, the same when asked again."""
    X = rows_for(model)
    found = answers(model, X)
    for one, again in zip(found, answers(model, X), strict=True):
        np.testing.assert_array_equal(one, again)
    if hasattr(model, "classes_"):
        assert set(found[0].tolist()) <= set(model.classes_.tolist())
        assert np.isfinite(found[1]).all()
        np.testing.assert_allclose(found[1].sum(axis=1), 1.0)
    else:
        assert np.isfinite(found[0]).all()


def refusals(path):
    """How the line begins that says why a file is refused."""
    return (f"{path} is not a valid model file: ", f"{path} is from another version of twinviews: ")


def outcome(path):
    """What becomes of a file: refused in one line that names it, or loaded."""
    try:
        model = load_model(path)
    except ValueError as error:
        if str(error).startswith(refusals(path)):
            return "refused"
        raise
    check_answers(model)
    return "loaded"


def main(note, folder, first, count):
    warnings.simplefilter("ignore")  # numbers near the limits overflow, as they may
    files = [path.read_bytes() for path in sorted(Path(folder).glob("*.twinviews"))]
    path = f"{note}.forged"
    watch = confinement.Watch(note, path)
    for content in files:  # and so everything is imported
        Path(path).write_bytes(content)
        assert outcome(path) == "loaded"
    confinement.confine(MOST_BYTES)
    outcomes = Counter()
    for number in range(first, first + count):
        content, is_sealed = forgery(number, files)
        if content in files:
            outcomes["the same"] += 1
            continue
        Path(path).write_bytes(content)
        with watch.piece(number):
            found = outcome(path)
        assert is_sealed or found == "refused", f"{number} was loaded without a seal"
        outcomes[found] += 1
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
