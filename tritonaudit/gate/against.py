"""The result of stage 1: an entry of a history."""

from __future__ import annotations

import re
from pathlib import Path

from tritonaudit.history.entry import Data
from tritonaudit.history.folder import HistoryError, read_history

_NAME = re.compile(r"v([1-9][0-9]*)\.json")


class NoEntry(Exception):
    """A file is not an entry of a history, or none that can be used."""


def entry_in(file: Path) -> Data:
    """The entry in a file `v<N>.json` that `--keep` wrote. Raises NoEntry, also where it is masked."""
    found = _NAME.fullmatch(file.name)
    if found is None:
        raise NoEntry(f"{file} is not an entry of a history, which is called v1.json, v2.json, …")
    try:
        return read_history(file.parent).version(int(found[1])).data
    except HistoryError as error:
        raise NoEntry(str(error)) from error
