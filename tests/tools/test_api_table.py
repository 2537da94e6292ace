"""The script that makes the table of Triton's names, on wheels of our own making."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from tests.checkout import ROOT
from tritonaudit.api.table import Definition, Table

CORE = '''
from .._utils import helper
import os

def _tensor_member_fn(fn):
    setattr(tensor, fn.__name__, fn if isinstance(fn, JITCallable) else fn)
    return fn

class base:
    def known(self, x): ...

class tensor(base):
    def __init__(self, handle, type):
        self.handle = handle
    @property
    def T(self): ...
    def sum(self, axis=None) -> "tensor": ...

class dtype:
    def is_int(self): ...

class constexpr:
    value = 3

@_tensor_member_fn
@builtin
def load(pointer, mask=None, *, old=None, _semantic=None):
    """
    :param old: Deprecated.
    """
    load.__doc__ = "other"

@builtin
def gone(x, _semantic=None):
    """It has been removed."""
    raise NotImplementedError("it has been removed")

@builtin
def going(x, flag=None):
    warn("going is deprecated")
    if flag is not None:
        warn("flag is deprecated")
'''

FILES = {
    "triton/__init__.py": "from .runtime import Config\nfrom . import language\nfrom .runtime.jit import jit\n"
    "alias = language.core.load\n",
    "triton/_utils.py": "def helper(x): ...\n",
    "triton/runtime/__init__.py": "from .autotuner import Config\n",
    "triton/runtime/jit.py": "def jit(fn=None, *, debug=None): ...\n",
    "triton/runtime/autotuner.py": "class Config:\n    def __init__(self, kwargs, num_warps=4): ...\n",
    "triton/language/__init__.py": "from . import core\nfrom .core import load, gone, going, dtype, tensor\n"
    "if True:\n    from .standard import *\n",
    "triton/language/core.py": CORE,
    "triton/language/standard.py": "from . import core\n_private = 1\n\n@core._tensor_member_fn\n@jit\n"
    "def sum(x, axis=None): ...\n",
    "triton/language/math.py": "@core.extern\ndef exp(arg0, _builder=None): ...\n",
    "triton/testing.py": "from dataclasses import dataclass\n\n@dataclass\nclass Mark:\n    x: int\n    y: int = 0\n",
    "triton/broken.txt": "not Python",
}


def wheel(folder: Path, release: str, **changed: str) -> None:
    with zipfile.ZipFile(folder / f"triton-{release}-cp311-cp311-manylinux_2_27_x86_64.whl", "w") as archive:
        for name, text in {**FILES, **changed}.items():
            archive.writestr(name, text)


def table_of(folder: Path) -> Table:
    output = folder / "table.json"
    command = [sys.executable, "tools/api_table", str(folder), "--output", str(output)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    data: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return Table(data)


def test_names_are_followed_to_their_definitions(tmp_path: Path) -> None:
    wheel(tmp_path, "3.0.0")
    table = table_of(tmp_path)
    expected = {
        "triton.language.load": Definition("builtin", "pointer; mask=None; *; ~old=None"),
        "triton.alias": Definition("builtin", "pointer; mask=None; *; ~old=None"),
        "triton.language.gone": Definition("builtin", "x", "removed"),
        "triton.language.going": Definition("builtin", "x; ~flag=None", "deprecated"),
        "triton.language.sum": Definition("jit", "x; axis=None"),
        "triton.language.math.exp": Definition("builtin", "arg0"),
        "triton.language.core": Definition("module"),
        "triton.language.core.helper": Definition("function", "x"),
        "triton.language.core.os": Definition("value"),
        "triton.language.tensor.load": Definition("builtin", "mask=None; *; ~old=None"),
        "triton.language.tensor.sum": Definition("jit", "axis=None"),
        "triton.language.tensor.T": Definition("property", ""),
        "triton.language.tensor.known": Definition("function", "x"),
        "triton.language.tensor.handle": Definition("value"),
        "triton.jit": Definition("function", "fn=None; *; debug=None"),
        "triton.Config": Definition("class", "kwargs; num_warps=4"),
        "triton.testing.Mark": Definition("class", "x; y=0"),
    }
    assert {name: table.name(name).definitions.get((3, 0)) for name in expected} == expected
    assert not table.name("triton.language._private").definitions
    assert not table.name("triton.broken").definitions


def test_what_stays_the_same_is_written_once_and_the_last_patch_counts(tmp_path: Path) -> None:
    added = "from .language import core\ndef new(x): ...\n"
    wheel(tmp_path, "3.0.0")
    wheel(tmp_path, "3.1.0", **{"triton/testing.py": "nothing = 1\n"})
    wheel(tmp_path, "3.1.1", **{"triton/testing.py": added})
    wheel(tmp_path, "3.2.0", **{"triton/testing.py": added.replace("(x)", "(x, y)")})
    table = table_of(tmp_path)
    assert table.releases == ((3, 0), (3, 1), (3, 2))
    assert [d.text for d in table.name("triton.testing.new").definitions.values()] == ["x", "x; y"]
    assert list(table.name("triton.testing.Mark").definitions) == [(3, 0)]
    assert not table.name("triton.testing.nothing").definitions
    text = (tmp_path / "table.json").read_text(encoding="utf-8")
    assert text.count('"pointer; mask=None; *; ~old=None"') == 1


def test_a_jit_member_that_is_wrapped_in_plain_python_does_not_work(tmp_path: Path) -> None:
    old = CORE.replace("fn if isinstance(fn, JITCallable) else fn", "fn")
    wheel(tmp_path, "3.0.0", **{"triton/language/core.py": old})
    table = table_of(tmp_path)
    assert not table.name("triton.language.tensor.sum").definitions
    assert table.name("triton.language.tensor.load").definitions


def test_a_folder_without_wheels_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "tools/api_table", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "holds no wheel of Triton" in ran.stderr
