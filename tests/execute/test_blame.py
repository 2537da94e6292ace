"""Exceptions in one sentence, with the place in the user's code that they come from."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest

from tritonaudit.execute.blame import account_of, described, is_refusal
from tritonaudit.source.decode import decode

HERE = Path(__file__)


def description(function: Callable[[], object]) -> str:
    try:
        function()
    except BaseException as error:
        return described(error)
    raise AssertionError("nothing was raised")


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(HERE.read_text().splitlines(), 1) if text in line)


def test_the_place_is_in_the_users_code_and_not_in_a_library() -> None:
    found = description(lambda: json.loads("{"))
    assert found.startswith("raised json.decoder.JSONDecodeError: Expecting property name")
    assert found.endswith(f"({HERE}:{line_of('json.loads(')})")


def test_the_place_is_never_in_tritonaudit() -> None:
    found = description(lambda: decode(b"# coding: nonsense\n"))
    assert found.startswith("raised tritonaudit.source.decode.Undecodable")
    assert found.endswith(f"({HERE}:{line_of('decode(b')})")


def test_a_neighbour_whose_name_begins_with_ours_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tritonaudit_kernels.py"
    path.write_text("def fail():\n    raise ValueError('so')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert description(lambda: __import__("tritonaudit_kernels").fail()) == f"raised ValueError: so ({path}:2)"
    del sys.modules["tritonaudit_kernels"]


def test_a_file_that_is_no_python_is_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "no_python_at_all.py"
    path.write_text("x = 1\ny = (\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = description(lambda: __import__("no_python_at_all"))
    assert found == f"raised SyntaxError: '(' was never closed ({path}:2)"


def test_where_there_is_no_place_there_is_none() -> None:
    assert described(ValueError("so")) == "raised ValueError: so"
    assert described(KeyboardInterrupt()) == "raised KeyboardInterrupt"


def test_a_text_is_one_line_and_not_long() -> None:
    assert described(ValueError("CUDA error:\n  no kernel\n")) == "raised ValueError: CUDA error: no kernel"
    found = described(ValueError("first " + "word " * 1000 + "last"))
    assert found.startswith("raised ValueError: first word")
    assert found.endswith("word last")
    assert len(found) < 600


def test_a_place_that_names_no_regular_file_is_not_read(tmp_path: Path) -> None:
    """Code that is judged names its own frames: a pipe would never come to its end."""
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    for path, refuses in ((pipe, False), (tmp_path / "wrapper.py", True)):
        text = "raise ValueError('odd')\n"
        if refuses:
            path.write_text(text)
        with pytest.raises(ValueError, match="odd") as raised:
            exec(compile(text, str(path), "exec"))
        assert is_refusal(raised.value) is refuses


def test_an_instruction_without_a_line_belongs_to_its_function() -> None:
    here = sys._getframe()
    nowhere = TracebackType(None, here, 10**6, -1)
    assert nowhere.tb_lineno is None
    account = account_of(ValueError("late").with_traceback(nowhere))
    assert account.frames == ((__file__, here.f_code.co_firstlineno),)
