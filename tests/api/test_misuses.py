"""What is found in a file: which names, in which releases, and where tests of the release stand before them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tritonaudit.api.facts import Examiner
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import outline
from tritonaudit.target import Target, written

HEAD = "import triton\nimport triton.language as tl\n"


def misuses(text: str, target: str = ">=3.2", path: Path = Path("/nowhere/kernel.py")) -> list[str]:
    """Kind, name, parameter and releases of each, with a `?` where it is not sure."""
    module = outline(str(path), HEAD + textwrap.dedent(text))
    facts = Examiner(Project(path.parent)).examine(module, Target.parse(target))
    return [
        " ".join(
            filter(
                None,
                (
                    found.problem.kind.name,
                    found.problem.name.dotted.removeprefix("triton.").removeprefix("language."),
                    found.problem.parameter,
                    f"{written(found.problem.versions[0])}-{written(found.problem.versions[-1])}",
                    None if found.sure else "?",
                ),
            )
        )
        for found in facts.misuses
    ]


GATHER = "NOT_YET gather 3.2-3.2"


# -- names and parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.cidv(1, 2)", ["UNKNOWN cidv 3.2-3.9"]),
        ("tl.gather(a, b, 0)", [GATHER]),
        ("tl.libdevice.tanh(a)", ["GONE libdevice 3.2-3.9"]),
        ("tl.math.tanh(a)", ["GONE math.tanh 3.2-3.9"]),
        ("tl.make_block_ptr(a, b, c, d, e, f)", ["GONE make_block_ptr 3.9-3.9"]),
        ("tl.load(a, masks=b)", ["UNKNOWN load masks 3.2-3.9"]),
        ("tl.load(a, boundary_check=(0,))", ["GONE load boundary_check 3.9-3.9"]),
        ("tl.range(a, warp_specialize=True)", ["NOT_YET range warp_specialize 3.2-3.3"]),
        ("tl.dot(a, b, allow_tf32=True)", ["DEPRECATED dot allow_tf32 3.2-3.9 ?"]),
        ("tl.arange(8)", ["MISSING arange end 3.2-3.9"]),
        ("tl.sum(a, 0, False, tl.float32, 1)", ["TOO_MANY sum 3.2-3.9"]),
        ("tl.arange(tl.cidv(1, 2), tl.full([1], 0, tl.fp32))", ["UNKNOWN cidv 3.2-3.9", "UNKNOWN fp32 3.2-3.9"]),
        ("tl.extra.libdevice.tanh(a)", ["BY_PATH extra.libdevice.tanh 3.2-3.5"]),
        ("tl.extra.cuda.libdevice.tanh(a)", []),
        ("tl.load(a, b, c)", []),
        ("tl.load(a, *b)", []),
        ("tl.arange(*a)", []),
        ("tl.zeros(**a)", []),
        ("tl.static_print(a, b, c, d)", []),
        ("triton.cdiv(a, b) + triton.next_power_of_2(a)", []),
        ("triton.runtime.driver.active.utils.anything(a)", []),
        ("a.tl.mean(b)", []),
    ],
)
def test_a_use_is_judged_by_the_releases_of_the_target(expression: str, expected: list[str]) -> None:
    found = misuses(f"def f(a, b, c, d, e, f):\n    return {expression}\n")
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(("target", "expected"), [("==3.2", ["NOT_YET gather 3.2-3.2"]), (">=3.3", []), ("==3.9", [])])
def test_the_target_decides(target: str, expected: list[str]) -> None:
    assert misuses("x = tl.gather\n", target) == expected


@pytest.mark.parametrize(
    "text",
    [
        "from triton.language import gather\n",
        "import triton.language as t\nx = t.gather\n",
        "from triton import language\nx = language.gather\n",
        "find = tl.gather\n",
        "import triton as tr\nx = tr.language.gather\n",
        "def f():\n    from triton.language import gather\n",
        "def f():\n    import triton.language as t\n    return t.gather\n",
    ],
)
def test_however_it_is_imported(text: str) -> None:
    assert misuses(text) == [GATHER]


@pytest.mark.parametrize(
    "text",
    [
        "def f(tl):\n    return tl.gather\n",
        "def f():\n    tl = 3\n    return tl.gather\n",
        "f = lambda tl: tl.gather\n",
        "tl.gather = None\nx = tl.gather\n",
        "import tinylib as tl\nx = tl.gather\n",
        "for tl in (): pass\nx = tl.gather\n",
        "try:\n    from triton.language import exp\nexcept ImportError:\n    from torch import exp\nexp(1, 2, 3)\n",
        "from . import triton as t\nx = t.gather\n",
    ],
)
def test_another_meaning_of_the_name_is_not_judged(text: str) -> None:
    assert [found for found in misuses(text) if "gather" in found or "TOO_MANY" in found] == []


def test_a_name_is_followed_through_the_files_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import triton.language as tl\nfind = tl.gather\nexp = tl.exp\n")
    (tmp_path / "two.py").write_text(
        "import triton.language as tl\nif x:\n    exp = tl.exp\nelse:\n    exp = tl.math\n"
    )
    calls = "find(1, 2, 3, 4)\nexp(1, 2)\nother(1, 2)"
    text = "from ops import find, exp\nfrom two import exp as other\n" + kernel(calls)
    found = misuses(text, path=tmp_path / "kernel.py")
    assert found == ["TOO_MANY gather 3.3-3.9", "TOO_MANY exp 3.2-3.9"]


# -- tests of the release ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'if hasattr(tl, "gather"):\n    x = tl.gather\n',
        'if not hasattr(tl, "gather"):\n    pass\nelse:\n    x = tl.gather\n',
        'x = tl.gather if hasattr(tl, "gather") else None\n',
        'x = hasattr(tl, "gather") and tl.gather\n',
        'HAS = hasattr(tl, "gather")\nif HAS:\n    x = tl.gather\n',
        'HAS = tl.constexpr(hasattr(tl, "gather"))\nif a and HAS:\n    x = tl.gather\n',
        'def has():\n    return hasattr(tl, "gather")\nif has():\n    x = tl.gather\n',
        'if triton.__version__ >= "3.3":\n    x = tl.gather\n',
        'if triton.__version__ >= "3.3.1":\n    x = tl.gather\n',
        'if "3.2" < triton.__version__:\n    x = tl.gather\n',
        "if tuple(map(int, triton.__version__.split('.')[:2])) > (3, 2):\n    x = tl.gather\n",
        'from packaging import version as v\nif v.parse(triton.__version__) > v.parse("3.2.9"):\n    x = tl.gather\n',
        'V = Version(triton.__version__)\nOLD = V < Version("3.3")\nif not OLD:\n    x = tl.gather\n',
        'def f():\n    if triton.__version__ < "3.3":\n        return\n    x = tl.gather\n',
        'assert triton.__version__ >= "3.3"\nx = tl.gather\n',
        "try:\n    x = tl.gather\nexcept AttributeError:\n    x = None\n",
        "if supports_gather():\n    x = tl.gather\n",
        "from somewhere import HAS_GATHER\nif HAS_GATHER:\n    x = tl.gather\n",
        "try:\n    import triton.tools.tensor_descriptor\n    x = tl.gather\nexcept ImportError:\n    pass\n",
        'def f():\n    return tl.gather\n\ndef g():\n    if hasattr(tl, "gather"):\n        return f()\n',
        "@pytest.mark.skipif(old, reason='old')\ndef f():\n    return tl.gather\n",
        "if TYPE_CHECKING:\n    x = tl.make_tensor_descriptor\n",
    ],
)
def test_a_test_of_the_release_is_respected(text: str) -> None:
    assert [found for found in misuses(text) if "gather" in found] == []


@pytest.mark.parametrize(
    "text",
    [
        'if triton.__version__ < "3.3":\n    x = tl.gather\n',
        'if triton.__version__ >= "3.2":\n    x = tl.gather\n',
        'if hasattr(tl, "load"):\n    x = tl.gather\n',
        'if hasattr(tl, "gather"):\n    pass\nelse:\n    x = tl.gather\n',
        "if n > 3:\n    x = tl.gather\n",
        "if HAS_TRITON:\n    x = tl.gather\n",
        "try:\n    def f():\n        return tl.gather\nexcept ImportError:\n    pass\n",
        'def f():\n    return tl.gather\n\ndef g():\n    if hasattr(tl, "gather"):\n        f()\n    return f()\n',
    ],
)
def test_another_test_is_none(text: str) -> None:
    assert misuses(text) == [GATHER]


def kernel(body: str) -> str:
    return f"@triton.jit\ndef kernel(x, n, FLAG: tl.constexpr):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"


def test_a_branch_that_the_compiler_may_drop_is_not_sure_unless_names_are_looked_up_all_the_same() -> None:
    assert misuses(kernel("if FLAG:\n    tl.topk(x, 2)"), ">=3.2") == ["NOT_YET topk 3.2-3.3"]
    assert misuses(kernel("if FLAG:\n    tl.squeeze(x, 0)"), ">=3.5") == ["NOT_YET squeeze 3.5-3.6 ?"]
    assert misuses(kernel("if FLAG:\n    tl.load(x, masks=n)")) == ["UNKNOWN load masks 3.2-3.9 ?"]
    assert misuses(kernel("if n > 3:\n    tl.load(x, masks=n)")) == ["UNKNOWN load masks 3.2-3.9"]


# -- other makers' Triton ------------------------------------------------------------------------------------------


def test_the_triton_of_another_maker_is_not_judged() -> None:
    assert misuses("import triton.language.extra.cann\nx = tl.extract_slice\n") == []
    assert misuses("x = tl.extract_slice\n", path=Path("/nowhere/backend/_ascend/kernel.py")) == []
    assert misuses("x = tl.extract_slice\n") == ["UNKNOWN extract_slice 3.2-3.9"]


def test_where_a_tensor_lies_says_nothing_of_the_release() -> None:
    text = """
        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, tl.gather(tl.load(x_ptr), 0, 0))

        def run(x):
            if not x.is_cuda:
                return x * 2
            kernel[(1,)](x)
    """
    assert misuses(text) == [GATHER]
