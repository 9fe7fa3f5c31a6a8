"""Tables that were damaged, or made to do damage, read one by one.

    python trust/mangled_tables.py NOTE FIRST COUNT

reads tables FIRST to FIRST + COUNT, and prints as JSON how many were refused and how many were read. A
table is its number: the same number is the same file.
"""

import codecs
import gzip
import io
import json
import os
import random
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import confinement
from twinviews.reading import ReadingOptions, read

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from messy.tables import MESSY
from messy.truth import TRUTH

# One row group or workbook may unpack to 2 GB; the rest is for Python and Arrow.
MOST_BYTES = 3 << 30
# Formats that say how long they are: a file cut short is never taken for a shorter table.
SELF_CONTAINED = (".parquet", ".arrow", ".arrows", ".gz", ".xlsx")

SUFFIXES = (".csv", ".tsv", ".jsonl", ".csv.gz", ".parquet", ".arrow", ".arrows", ".xlsx")
# Which Python imports when they are first met.
ENCODINGS = ("cp1252", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")

# What is put where it does not belong.
SIGNS = [bytes([sign]) for sign in b"\"'\n\r,;\t|\0\\{}[]:=\xe4"]
VALUES = [
    b"",
    b"null",
    b"NaN",
    b"-0",
    b"1e999",
    b"9" * 400,
    b"31.02.2024",
    b"2024-02-30T25:61",
    b"=1+1",
]
DEEP = [b"[" * 5000, b'{"a":' * 2000]
ODD_LETTERS = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80"]
MAGIC = [b"PK\x03\x04", b"PAR1", b"ARROW1", b"\x1f\x8b\x08"]
SNIPPETS = SIGNS + VALUES + DEEP + ODD_LETTERS + MAGIC


class Original(NamedTuple):
    content: bytes
    suffix: str
    options: ReadingOptions


def originals():
    """The messy tables of the tests, and packed, nested and longer ones."""
    for messy in MESSY:
        if messy.content:
            yield Original(messy.content, messy.suffix, messy.options)
    table = pa.table({**TRUTH, "tags": [[1, None], None, []] * 32, "of": [{"a": 1, "b": "x"}] * 96})
    table = table.append_column("city code", pa.array(TRUTH["city"]).dictionary_encode())
    for packing in ("none", "snappy", "gzip", "zstd", "lz4"):
        sink = io.BytesIO()
        pq.write_table(table, sink, compression=packing, row_group_size=40, data_page_size=100)
        yield Original(sink.getvalue(), ".parquet", ReadingOptions())
    for packing in (None, "lz4", "zstd"):
        for opener, suffix in ((pa.ipc.new_file, ".arrow"), (pa.ipc.new_stream, ".arrows")):
            sink = io.BytesIO()
            with opener(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packing)) as out:
                out.write_table(table, max_chunksize=40)
            yield Original(sink.getvalue(), suffix, ReadingOptions())
    # Longer than what is looked at to find the dialect.
    words = ("north", "south", "east")
    long = "".join(f"{i},{i * 7919 % 1000 / 8},{words[i % 3]}\n" for i in range(20_000))
    yield Original(gzip.compress(MESSY[0].content, 1, mtime=0), ".csv.gz", ReadingOptions())
    yield Original(gzip.compress(b"a,b,c\n" + long.encode(), 1, mtime=0), ".csv.gz", ReadingOptions())


# --- damage ----------------------------------------------------------------------------------------


def change_bytes(chance, content):
    """Flips, cuts, additions, repetitions."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        at = chance.randrange(len(content) + 1)
        if chance.random() < 0.3:  # where formats keep what they say of themselves
            at = max(0, len(content) - chance.randrange(1, 600))
        end = at + chance.choice((0, 1, 1, 4, 30, 10**6))
        match chance.randrange(6):
            case 0 if at < len(content):
                content[at] ^= 1 << chance.randrange(8)
            case 1 if at < len(content):
                content[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                content[at:end] = chance.choice(SNIPPETS)
            case 3:
                content[at:end] = chance.randbytes(min(end - at, 64))
            case 4:
                content[at:end] = bytes(content[at : at + 200]) * chance.choice((0, 2, 10, 1000))
            case _:
                start = chance.randrange(len(content) + 1)
                content[at:end] = content[start : start + chance.choice((1, 8, 200))]
    return bytes(content)


def change_inside(chance, original):
    """What is packed in it is changed, and it is packed again."""
    if original.suffix.endswith(".gz"):
        try:
            return gzip.compress(change_bytes(chance, gzip.decompress(original.content)), 1, mtime=0)
        except (OSError, EOFError, zlib.error):
            return change_bytes(chance, original.content)
    try:
        with zipfile.ZipFile(io.BytesIO(original.content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:
        return change_bytes(chance, original.content)
    changed = chance.choice(list(parts))
    parts[changed] = change_bytes(chance, parts[changed])
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            if chance.random() > 0.02:
                archive.writestr(zipfile.ZipInfo(name), part)
    return sink.getvalue()


class Mangled(NamedTuple):
    content: bytes
    original: Original
    cut_short: bool


def mangled(number, tables):
    chance = random.Random(number)
    suffix = chance.choice((".csv", *SUFFIXES))
    original = chance.choice([table for table in tables if table.suffix == suffix])
    content = original.content
    if chance.random() < 0.15:
        return Mangled(content[: chance.randrange(len(content))], original, True)
    if original.suffix.endswith((".gz", ".xlsx")) and chance.random() < 0.7:
        return Mangled(change_inside(chance, original), original, False)
    return Mangled(change_bytes(chance, content), original, False)


# --- what becomes of it ----------------------------------------------------------------------------


def is_one_line_about(path, error):
    return error.startswith(str(path)) and len(error.splitlines()) == 1


def outcome(path, options):
    """A table, all rows of it, or one line that names the file."""
    try:
        found = read(path, options)
        with found.plain_errors():
            table = found.dataset.to_table(use_threads=False)
    except ValueError as error:
        if type(error) is ValueError and is_one_line_about(path, str(error)):
            return None
        raise
    table.validate(full=True)
    assert found.n_rows in (None, table.num_rows)
    assert len(set(table.column_names)) == table.num_columns
    return table


def main(note, first, count):
    warnings.simplefilter("error")
    tables = list(originals())
    folder = Path(note).resolve().parent
    os.environ["TMPDIR"] = str(folder)
    paths = {table.suffix: folder / f"{Path(note).stem}{table.suffix}" for table in tables}
    whole = {}
    for table in tables:  # and so everything is imported
        paths[table.suffix].write_bytes(table.content)
        whole[table.content] = outcome(paths[table.suffix], table.options)
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    watch = confinement.Watch(note, folder)
    confinement.confine(MOST_BYTES)
    outcomes = Counter()
    for number in range(first, first + count):
        content, original, cut_short = mangled(number, tables)
        path = paths[original.suffix]
        path.write_bytes(content)
        with watch.piece(number):
            found = outcome(path, original.options)
        if cut_short and original.suffix.endswith(SELF_CONTAINED) and found is not None:
            assert found.equals(whole[original.content]), f"{number}: cut short, and read as another"
        outcomes["refused" if found is None else "read"] += 1
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
