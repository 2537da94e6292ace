"""Text of users made safe to show: nothing in it can move the cursor, hide, reorder or start a line."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text with every character that does not show as itself written as Python would escape it."""
    return text if text.isprintable() else "".join(map(visible_character, text))


def visible_character(character: str) -> str:
    """The character, or its escape (`\\x1b`, `\\u202e`) where it is no printable one."""
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def cell_width(character: str) -> int:
    """How many terminal cells a printable character takes."""
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
