"""Notebooks as one module: where its lines stand, and edits that leave the rest of the file as it was."""

from __future__ import annotations

import json
import random
import time

import pytest

from tests.notebooks import code, markdown, notebook
from tritonaudit.finding import Edit, Span
from tritonaudit.source.notebook import NotANotebook, Notebook, edited, is_as_sound

TWO = (markdown("text"), code("import os\nx = 1"), code("y = 2\n\nz = 3\n"))


def replaced(raw: str, cell: int, line: int, columns: tuple[int, int], text: str) -> str:
    return edited(raw, [Edit(Span(line, columns[0], line, columns[1], cell), text)])


def texts(raw: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


def test_the_code_cells_are_one_module_in_their_order() -> None:
    read = Notebook.read(notebook(*TWO))
    assert read.module == "import os\nx = 1\ny = 2\n\nz = 3\n"
    assert [read.place(line) for line in (1, 2, 3, 4, 5)] == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    assert read.placed(Span(5, 1, 5, 6)) == Span(3, 1, 3, 6, 3)


@pytest.mark.parametrize("source", ["x = 1\ny = 2", ["x = 1\n", "y = 2"], ["x =", " 1\ny", " = 2"]])
def test_a_cell_may_be_written_as_a_text_or_as_a_list_of_parts(source: object) -> None:
    assert Notebook.read(notebook(code("", source=source))).module == "x = 1\ny = 2"


def test_a_cell_that_is_no_python_costs_the_others_nothing() -> None:
    read = Notebook.read(notebook(code("x = 1"), code("def f(:\n"), code("y = 2")))
    assert read.module == "x = 1\ny = 2"
    assert [(one.cell, one.line, one.column) for one in read.broken] == [(2, 1, 7)]
    assert read.place(2) == (3, 1)


def test_a_cell_with_a_language_of_its_own_is_not_read() -> None:
    read = Notebook.read(notebook(code("x = 1"), code("select 1", metadata={"vscode": {"languageId": "sql"}})))
    assert (read.module, read.broken) == ("x = 1", ())


def test_cells_for_other_programs_are_named_where_they_may_hold_kernels() -> None:
    kernel = "import triton\n@triton.jit\ndef f(): pass"
    read = Notebook.read(notebook(code(f"%%writefile k.py\n{kernel}"), code("%%bash\nls"), code("x = 1")))
    assert read.elsewhere == ((1, "%%writefile"),)
    rust = {"vscode": {"languageId": "rust"}}
    cells = code(kernel, metadata=rust), code("fn main() {}", metadata=rust)
    assert Notebook.read(notebook(*cells)).elsewhere == ((1, "rust"),)
    other = Notebook.read(notebook(code(kernel), language="R"))
    assert (other.module, other.elsewhere) == ("", ((1, "another language"),))


@pytest.mark.parametrize(
    ("raw", "message", "line"),
    [
        ('{\n"cells": [,]}', "it is not JSON: Expecting value", 2),
        ("", "it is not JSON: Expecting value", 1),
        ("[]", "it is JSON, but not a notebook", None),
        ("{}", "it is JSON, but has no list of cells", None),
        (
            '{"worksheets": []}',
            "it is a notebook of version 3 or before; `jupyter nbconvert --to notebook` brings it",
            None,
        ),
        ("[" * 100_000, "its JSON is nested too deeply", None),
        ('{"cells": [], "n": ' + "1" * 5000 + "}", "it is not JSON that Python can read: Exceeds the limit", None),
        (
            notebook(code("x = 1"), code("", source=["x = 1", 2])),
            "the source of cell 2 is neither a string nor a list of strings",
            25,
        ),
        (
            notebook(code("", source={"a": "x"}), indent=None),
            "the source of cell 1 is neither a string nor a list of strings",
            1,
        ),
    ],
)
def test_what_is_no_notebook_says_why(raw: str, message: str, line: int | None) -> None:
    with pytest.raises(NotANotebook) as caught:
        Notebook.read(raw)
    assert caught.value.message.startswith(message)
    assert caught.value.line == line


# -- places in the file --------------------------------------------------------------------------------------------


def test_a_place_in_a_cell_is_one_of_the_file() -> None:
    raw = notebook(markdown("text"), code('s = "\\\\"\n\tvalue = "ü"  # 😀 end'), ensure_ascii=True)
    read = Notebook.read(raw)
    line = read.cell(2).lines[1]
    found = read.in_file(Span(2, line.index("end") + 1, 2, line.index("end") + 4, 2))
    assert raw.split("\n")[found.line - 1][found.column - 1 : found.end_column - 1] == "end"


# -- edits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"indent": 4}, {"indent": None}, {"indent": "\t"}, {"ensure_ascii": True}])
def test_an_edit_changes_its_characters_and_nothing_else(how: dict[str, object]) -> None:
    raw = notebook(*TWO, **how)
    assert replaced(raw, 3, 3, (5, 6), "30") == raw.replace("z = 3", "z = 30")


def test_what_is_written_in_another_way_stays_as_it_was_written() -> None:
    raw = notebook(code("s = '\\u00e9 / ü'\nx = 1\ny = 2")).replace("/", "\\/").replace("x = 1", "\\u0078 = 1")
    changed = replaced(raw, 1, 3, (1, 2), "z")
    assert changed == raw.replace('"y = 2"', '"z = 2"')


def test_a_new_line_is_a_string_of_its_own() -> None:
    raw = notebook(*TWO)
    changed = replaced(raw, 2, 2, (1, 1), 'import sys\nprint("\\n")\n')
    assert texts(changed)[1] == 'import os\nimport sys\nprint("\\n")\nx = 1'
    assert changed == raw.replace('    "x = 1"', '    "import sys\\n",\n    "print(\\"\\\\n\\")\\n",\n    "x = 1"')


def test_a_line_that_is_taken_out_takes_its_string_with_it() -> None:
    raw = notebook(*TWO)
    changed = edited(raw, [Edit(Span(1, 1, 2, 1, 2), "")])
    assert changed == raw.replace('    "import os\\n",\n', "")


def test_a_cell_of_one_line_in_a_file_of_one_line_gets_a_second() -> None:
    raw = notebook(code("x = 1"), indent=None)
    assert json.loads(replaced(raw, 1, 1, (6, 6), "\ny = 2"))["cells"][0]["source"] == ["x = 1\n", "y = 2"]


def test_edits_do_to_the_text_what_they_do_to_the_file() -> None:
    drawn = random.Random(7)
    letters = 'ab \n"\\\tü😀\u2028/'
    for _ in range(300):
        cells = ["".join(drawn.choices(letters, k=drawn.randrange(1, 30))) for _ in range(3)]
        raw = notebook(*(code(text) for text in cells), ensure_ascii=drawn.random() < 0.5)
        number = drawn.randrange(3)
        text = cells[number]
        first, past = sorted(drawn.randrange(len(text) + 1) for _ in range(2))
        new = "".join(drawn.choices(letters, k=drawn.randrange(6)))
        changed = edited(raw, [Edit(Span(*place(text, first), *place(text, past), number + 1), new)])
        assert texts(changed) == [*cells[:number], text[:first] + new + text[past:], *cells[number + 1 :]]


def test_many_places_and_edits_of_a_long_cell_cost_little() -> None:
    raw = notebook(code("x = f(1, 2, 3)  # so\n" * 3000))
    read = Notebook.read(raw)
    spans = [Span(line, 1, line, 2, 1) for line in range(1, 3001)]
    began = time.process_time()
    first = read.in_file(spans[0]).line
    assert [read.in_file(span).line for span in spans] == list(range(first, first + 3000))
    assert read.edited(Edit(span, "y") for span in spans) == raw.replace("x = f", "y = f")
    assert time.process_time() - began < 3  # seconds; minutes where the cell is read again for each


def place(text: str, at: int) -> tuple[int, int]:
    """The line and column of a character."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


def test_a_notebook_is_as_sound_while_no_more_cells_are_broken() -> None:
    sound, broken = notebook(code("x = 1"), code("y = (")), notebook(code("x = ("), code("y = ("))
    assert is_as_sound(sound, sound)
    assert not is_as_sound(broken, sound)
