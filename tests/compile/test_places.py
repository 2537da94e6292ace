"""From the compiler's line and column to an expression."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.places import Place, Places
from tritonaudit.finding import Span

TEXT = """\
import triton


@triton.jit
def kernel(x_ptr):
    v = tl.load(x_ptr + 1).to(tl.float32) * 2
    é = "ü"; tl.store(x_ptr, v)
    w = (tl.load(x_ptr) +
         tl.load(x_ptr + 4))
    if w:
        class Inner:
            @triton.jit
            def nested(y_ptr):
                tl.store(y_ptr, tl.load(y_ptr))
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "kernels.py"
    file.write_text(TEXT, encoding="utf-8")
    return str(file)


def text_at(path: str, line: int, column: int) -> str:
    span = Places().expression(path, line, column)
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    assert span.line == span.end_line
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]


def test_a_memory_access_comes_before_what_is_made_of_it(path: str) -> None:
    assert text_at(path, 6, 9) == "tl.load(x_ptr + 1)"


def test_columns_count_bytes(path: str) -> None:
    assert text_at(path, 7, 16) == "tl.store(x_ptr, v)"


def test_the_second_line_of_an_expression(path: str) -> None:
    assert text_at(path, 9, 10) == "tl.load(x_ptr + 4)"


def test_an_indented_kernel_is_compiled_without_its_indentation(path: str) -> None:
    assert text_at(path, 14, 5) == "tl.store(y_ptr, tl.load(y_ptr))"


def test_where_nothing_stands_it_is_one_character(path: str) -> None:
    assert Places().expression(path, 2, 3) == Span(2, 3, 2, 4)
    assert Places().expression("/nowhere/kernels.py", 5, 1) == Span(5, 1, 5, 2)


def test_the_name_of_a_function(path: str) -> None:
    assert Places().name(path, 5) == Span(5, 5, 5, 11)
    assert Places().name(path, 13) == Span(13, 17, 13, 23)
    assert Places().name("/nowhere/kernels.py", 5) == Span(5, 1, 5, 2)


def test_an_access_is_found_from_its_argument(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    lines = ("def kernel():", "    tl.store(out + i,", "             tl.load(x + i,", "                     mask=m))")
    file.write_text("\n".join(lines))
    places = Places()
    assert places.access(str(file), 3, 21, AccessKind.LOAD) == Span(3, 14, 4, 29)
    assert places.access(str(file), 3, 21, AccessKind.STORE) == Span(2, 5, 4, 30)
    assert places.access(str(file), 2, 14, AccessKind.LOAD) == Span(2, 14, 2, 21)  # in no load: what begins there


def test_a_line_is_its_one_memory_access_or_what_begins_it(path: str) -> None:
    places = Places()
    assert places.line(path, 6) == Place(Span(6, 9, 6, 27), "load")
    assert places.line(path, 9) == Place(Span(9, 10, 9, 28), "load")
    assert places.line(path, 14) == Place(Span(14, 17, 14, 48))  # two
    assert places.line(path, 10) == Place(Span(10, 5, 10, 6))  # an `if`
    assert places.line(path, 99) == Place(Span(99, 1, 99, 2))
