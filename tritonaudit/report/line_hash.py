"""`primaryLocationLineHash`: the hash by which GitHub follows an alert while lines move.

The upload action computes it from the file where a log lacks it, the API does not; equal values keep alerts that
arrive by either way the same. Its definition: of the text's UTF-16 code units, with line ends folded to `\\n`,
spaces and tabs left out, an end mark and zeros appended, the 100 units from the start of the line are the digits of
a number to the base 37, modulo 2**64. Equal hashes in a file are distinguished by a count.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate

_WINDOW = 100
_BASE = 37
_MODULUS = 2**64
_END_OF_FILE = 0xFFFF
_DROP_BLANKS = str.maketrans("", "", " \t")


def line_hashes(text: str) -> list[str]:
    """The hash of each line of the text, as `hash:count`; an empty last line is a line too."""
    units = _units(text)
    starts = [0, *(place + 1 for place, unit in enumerate(units) if unit == ord("\n"))]
    # prefixes[i] is the number that the first i units make, so a window is a difference of two of them.
    padded = [*units, _END_OF_FILE, *[0] * _WINDOW]
    prefixes = list(accumulate(padded, lambda number, unit: (number * _BASE + unit) % _MODULUS, initial=0))
    shift = pow(_BASE, _WINDOW, _MODULUS)
    return _counted([(prefixes[start + _WINDOW] - prefixes[start] * shift) % _MODULUS for start in starts])


def _units(text: str) -> array[int]:
    folded = text.replace("\r\n", "\n").replace("\r", "\n").translate(_DROP_BLANKS)
    units = array("H")
    units.frombytes(folded.encode("utf-16", "surrogatepass")[2:])
    return units


def _counted(hashes: list[int]) -> list[str]:
    seen: Counter[int] = Counter()
    counted = []
    for value in hashes:
        seen[value] += 1
        counted.append(f"{value:x}:{seen[value]}")
    return counted
