"""What may come of a call: a right answer, or one error that was said on purpose."""

import linecache
import resource
import time
import warnings

# Told on purpose, by the library or scikit-learn: the answer is right, but less than was asked for.
TOLD = (
    "No sigma has a leave-one-out error",
    "With sigma=.* the two views agree on nothing",
    "Rounding may move predictions",
    "A column-vector y was passed",
    "X has feature names, but",
    "X does not have valid feature names",
    "(?s).*model.outside",  # rows unlike all that the fit saw
)
MOST_SECONDS = 10
MOST_KILOBYTES = 200_000


class Refused(str):
    """The words of a clear error."""

    __slots__ = ()


def outcome(call, *arguments, **options):
    """What the call gives, or how it was refused; within bounded time and memory."""
    before, start = peak_memory(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in TOLD:
            warnings.filterwarnings("ignore", words)
        try:
            answer = call(*arguments, **options)
        except (TypeError, ValueError) as error:
            check_clear(error)
            answer = Refused(error)
    assert time.process_time() - start < MOST_SECONDS, "it took too long"
    assert peak_memory() - before < MOST_KILOBYTES, "it took too much memory"
    return answer


def check_clear(error):
    """Of exactly these two types, and raised by a ``raise``, here or where scikit-learn checks inputs.

    So neither LinAlgError, which is a ValueError too, nor what NumPy or LAPACK say of an array.
    """
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    home = last.tb_frame.f_globals.get("__name__", "")
    said = linecache.getline(last.tb_frame.f_code.co_filename, last.tb_lineno).strip()
    clear = (
        type(error) in (TypeError, ValueError)
        and home.startswith(("twinviews.", "sklearn.utils.", "sklearn.base"))
        and said.startswith("raise")
        and len(str(error).split()) >= 4
    )
    if not clear:
        raise AssertionError(f"not clear: {type(error).__name__} of {home}: {error}") from error


def peak_memory():
    """In kilobytes, of the process since its start."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
