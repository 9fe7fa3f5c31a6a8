"""Model files from strangers: what is not exactly such a file is refused, and nothing else happens."""

import os

import pytest

import confinement
import forged_models
from counts import often, tried
from twinviews import load_model

# A few in a hundred forgeries change nothing, and are not counted.
FORGERIES_OF_A_PART = often(2000, 52_500)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Small files of every kind of model."""
    found = tmp_path_factory.mktemp("originals")
    forged_models.write_originals(found)
    return found


@pytest.mark.parametrize("part", range(often(1, 20)))
def test_a_forged_file_is_refused_or_predicts(part, folder, tmp_path):
    """A model file by a forger who knows the format and mends the checksum is refused in one line that
    names it, or is a model that predicts finite numbers and known classes, twice the same; it runs no
    code, opens no other file, takes less than 1 GB and comes to an end."""
    first = part * FORGERIES_OF_A_PART
    found = confinement.run("forged_models.py", tmp_path, folder, first, FORGERIES_OF_A_PART)
    assert found["refused"] > found["loaded"] > 0
    tried("forged files", found["refused"] + found["loaded"])


def refused(path):
    try:
        load_model(path)
    except ValueError as error:
        return str(error).startswith(forged_models.refusals(path))
    return False


@pytest.mark.parametrize("number", range(often(1, 15)))
def test_every_flip_of_a_bit_is_refused(number, folder, tmp_path):
    """A model file with any one bit flipped is refused."""
    content = sorted((path.read_bytes() for path in folder.iterdir()), key=len)[number]
    path = tmp_path / "flipped"
    path.write_bytes(content)
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(content):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), place)
                assert refused(path), (place, bit)
            os.pwrite(file.fileno(), bytes([byte]), place)
    load_model(path)
    tried("flips", 8 * len(content))


@pytest.mark.parametrize("number", range(often(1, 15)))
def test_every_truncation_and_addition_is_refused(number, folder, tmp_path):
    """A model file that ends anywhere too early, or goes on after its end, is refused."""
    content = sorted((path.read_bytes() for path in folder.iterdir()), key=len)[number]
    path = tmp_path / "model"
    others = [content[:length] for length in range(len(content))]
    others += [content + more for more in (b"\0", b"\n", content[-32:], content)]
    for other in others:
        path.write_bytes(other)
        assert refused(path), len(other)
    tried("files", len(others))
