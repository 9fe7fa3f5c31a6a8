"""Text from unknown sources, made safe to show on a page or in a terminal."""

from __future__ import annotations

import unicodedata

# Marks that change the direction of text, so that it reads differently from what it is.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """The text with control characters, line breaks and marks of direction written as escapes."""
    return "".join(_spelled(character) if _hides(character) else character for character in text)


def _hides(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _spelled(character: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\u{ord(character):04x}")
