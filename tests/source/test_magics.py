"""Cells of a notebook as Python: magics and shell escapes give way, and every line stays where it is."""

from __future__ import annotations

import ast

import pytest

from tritonaudit.source.magics import python_of


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if True:\n    !pip install triton\nx = 1", "if True:\n    pass\nx = 1"),
        ("!pip install \\\n  triton \\\n  torch\nx = 1", "pass\n\n\nx = 1"),
        ("files = !ls *.py\nx = 1", "files = get_ipython()\nx = 1"),
        ("a, b = %sql select 1", "a, b = get_ipython()"),
        ("a['='], b: list = !ls (", "a['='], b: list = get_ipython()"),
        ("x = \\\n  !ls \\\n foo\ny = 1", "x = \\\n  get_ipython()\n\ny = 1"),
        ("a['b'].c?\n%time?\n*.ipynb??", "pass\npass\npass"),
        ("files = !ls \\\n  -l\nx = 1", "files = get_ipython()\n\nx = 1"),
        ("kernel?\nx = 1", "pass\nx = 1"),
        ("?kernel\n??kernel.fn\nx = 1", "pass\npass\nx = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture out\nx = 1", "\n\nx = 1"),
        ("%%time\n!ls\nx = 1", "\npass\nx = 1"),
    ],
)
def test_what_only_ipython_understands_gives_way(cell: str, python: str) -> None:
    assert python_of(cell) == python


@pytest.mark.parametrize(
    "cell",
    [
        "x = (a\n     % b)\n!ls",
        "x = '''\n!ls\n%time\n'''\n!ls",
        "x = f(1,  # why?\n      2)\n!ls",
        "x = a \\\n    % b\n!ls",
        "x = a != b\n!ls",
        "x = {'a': 1,\n     'b': '}'}\n!ls",
        'x = "it\'s"\n!ls',
        "x = 'a\\\n!ls'\n!ls",
        'print("loss = %f" % loss)\n!ls',
        "print('a = !b')\n!ls",
        "message = f'lr=%s'\n!ls",
        "plt.title(f'n={n!r}, {p=!s}, p=%.2f' % p)\n!ls",
        "def f(a, b='%'): return a\n!ls",
        'y = f(1, b="%")  # x = !ls\n!ls',
        '"""why?\nso"""\n!ls',
    ],
)
def test_what_only_looks_like_a_magic_stays(cell: str) -> None:
    found = python_of(cell)
    assert found == cell.removesuffix("!ls") + "pass"
    ast.parse(found)


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%time k[(8,)](x, n)", "pass; k[(8,)](x, n)"),
        ("%time y = f(x)", "pass; y = f(x)"),
        ("%timeit k[(8,)](x, n)", "pass;   k[(8,)](x, n)"),
        ("if x:\n  %timeit -n 10 -r3 -qo k[(8,)](x, n)", "if x:\n  pass;                 k[(8,)](x, n)"),
        ("%prun -l 7 -s cumulative f(x)", "pass;                    f(x)"),
        ("%timeit k[(8,)](x, \\\n    n)\nx = 1", "pass;   k[(8,)](x, \\\n    n)\nx = 1"),
        ("y = %time f(x)", "y =       f(x)"),
        ("y = %timeit -o f(x)", "y = eval(      f(x))"),
        ("%%timeit f(x)\ng(x)", "pass;    f(x)\ng(x)"),
    ],
)
def test_what_a_magic_runs_stays_in_its_place(cell: str, python: str) -> None:
    assert python_of(cell) == python
    ast.parse(python)


@pytest.mark.parametrize(
    "line",
    ["%timeit y = f(x)", "%time for i in range(3): f(x)", "%timeit", "%time f(", "%timeitem f(x)", "%run -p f.py"],
)
def test_what_cannot_stand_there_or_is_not_run_goes(line: str) -> None:
    assert python_of(line) == "pass"


def test_what_is_python_already_is_not_touched() -> None:
    cell = "x = '''\n!ls\n'''\n"
    assert python_of(cell) is cell


@pytest.mark.parametrize(
    "cell", ["%%bash\nls", "%%writefile kernel.py\nimport triton\n", "%%javascript\nalert(1)", "%%\nx"]
)
def test_a_cell_for_something_else_is_no_python(cell: str) -> None:
    assert python_of(cell) is None


@pytest.mark.parametrize(
    "cell", ["", "\n\n", "!", "%", "x = (\n", "'''", '"', "x = [\n!ls", "\\", "!ls \\", "\t%x\r\n"]
)
def test_a_cell_keeps_its_lines_whatever_it_holds(cell: str) -> None:
    assert (python_of(cell) or "").count("\n") == cell.count("\n")
