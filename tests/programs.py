"""`python` and `tritonaudit` as programs, as installing leaves them, wherever the tests run from."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.checkout import ROOT

_TRITONAUDIT = """\
#!{python}
import sys
sys.path[:0] = {path!r}
from tritonaudit.cli import main
main()
"""


def install_programs(folder: Path) -> Path:
    """The folder, with both programs in it."""
    folder.mkdir(exist_ok=True)
    path = [str(ROOT), *filter(None, sys.path)]
    texts = {
        "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        "tritonaudit": _TRITONAUDIT.format(python=sys.executable, path=path),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder
