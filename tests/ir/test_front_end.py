"""What the front end makes of kernels: the types of values, what each release rejects, and of what it says nothing."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tritonaudit.config import Config
from tritonaudit.domains.analysis import NotAnalysed, analyse
from tritonaudit.engine import check_text
from tritonaudit.ir.mistakes import Mistake, MistakeKind
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import outline
from tritonaudit.target import Target

_HEAD = "import math\nimport torch\nimport triton\nimport triton.language as tl\n\n"


def mistakes(text: str, tmp_path: Path, target: str = ">=3.2") -> list[Mistake]:
    """Of all kernels of a file."""
    module = outline(str(tmp_path / "kernels.py"), _HEAD + dedent(text))
    found: list[Mistake] = []
    for facts in analyse(module, Project(tmp_path), Target.parse(target)):
        assert not isinstance(facts, NotAnalysed)
        found.extend(facts.mistakes)
    return found


def kinds(body: str, tmp_path: Path, target: str = ">=3.2", parameters: str = "x_ptr, out_ptr, n") -> list[str]:
    """The kinds of mistakes in one kernel with this body."""
    text = f"@triton.jit\ndef kernel({parameters}):\n" + indent(dedent(body).strip("\n"), "    ") + "\n"
    return [mistake.kind.name for mistake in mistakes(text, tmp_path, target)]


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        ("tl.float16", "tl.float16", "tl.float16"),
        ("tl.bfloat16", "tl.float16", "tl.float16"),
        ("tl.bfloat16", "tl.float32", "tl.float32"),
        ("tl.int8", "tl.int8", "tl.int8"),
        ("tl.int8", "tl.float16", "tl.float16"),
        ("tl.int32", "tl.int64", "tl.int64"),
        ("tl.int32", "tl.uint32", "tl.uint32"),
        ("tl.int64", "tl.uint32", "tl.int64"),
    ],
)
def test_tensors_promote_as_triton_does(left: str, right: str, dtype: str, tmp_path: Path) -> None:
    body = f"""
        x = tl.zeros((16,), {left}) * tl.zeros((16,), {right})
        tl.static_assert(x.dtype == {dtype})
    """
    assert kinds(body, tmp_path) == []
    assert kinds(body.replace("==", "!="), tmp_path) == ["STATIC_ASSERT"]


@pytest.mark.parametrize(
    ("expression", "target", "dtype"),
    [
        ("tl.zeros((16,), tl.float16) * 0.5", "==3.1", "tl.float32"),
        ("tl.zeros((16,), tl.float16) * 0.5", "==3.2", "tl.float16"),
        ("tl.zeros((16,), tl.int8) + 1.5", "==3.9", "tl.float32"),
        ("tl.arange(0, 16) / 2", "==3.9", "tl.float32"),
        ("tl.zeros((16,), tl.float16) / tl.zeros((16,), tl.float16)", "==3.9", "tl.float32"),
        ("tl.zeros((16,), tl.int8) & 15", "==3.1", "tl.int32"),
        ("tl.zeros((16,), tl.int8) & 15", "==3.2", "tl.int8"),
        ("tl.zeros((16,), tl.uint8) << 4", "==3.9", "tl.uint8"),
        ("1 << tl.zeros((16,), tl.int64)", "==3.9", "tl.int64"),
        ("(tl.arange(0, 16) > 3) & 1", "==3.9", "tl.int32"),
        ("tl.sum(tl.zeros((16,), tl.bfloat16), 0)", "==3.2", "tl.float32"),
        ("tl.sum(tl.zeros((16,), tl.bfloat16), 0)", "==3.3", "tl.bfloat16"),
        ("tl.max(tl.zeros((16,), tl.float16), 0)", "==3.9", "tl.float32"),
        ("tl.maximum(tl.zeros((16,), tl.float16), 0.0)", "==3.8", "tl.float32"),
        ("tl.maximum(tl.zeros((16,), tl.float16), 0.0)", "==3.9", "tl.float16"),
        ("tl.maximum(tl.zeros((16,), tl.bfloat16), 0.0)", "==3.8", "tl.float32"),
        ("tl.maximum(tl.zeros((16,), tl.bfloat16), 0.0)", "==3.9", "tl.bfloat16"),
        ("tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float16))", "==3.9", "tl.float32"),
        ("tl.dot(tl.zeros((16, 32), tl.int8), tl.zeros((32, 16), tl.int8))", "==3.9", "tl.int32"),
    ],
)
def test_results_have_the_dtype_of_the_release(expression: str, target: str, dtype: str, tmp_path: Path) -> None:
    body = f"x = {expression}\ntl.static_assert(x.dtype != {dtype})"
    assert kinds(body, tmp_path, target) == ["STATIC_ASSERT"]


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("tl.arange(0, 16)[:, None] + tl.arange(0, 32)[None, :]", (16, 32)),
        ("tl.sum(tl.zeros((16, 32), tl.float32), axis=-1)", (16,)),
        ("tl.max(tl.zeros((16, 32), tl.float32), 0, keep_dims=True)", (1, 32)),
        ("tl.trans(tl.zeros((16, 32), tl.float32))", (32, 16)),
        ("tl.zeros((16, 32), tl.float32).reshape(32, 16)", (32, 16)),
        ("tl.join(tl.arange(0, 16), tl.arange(0, 16))", (16, 2)),
        ("tl.expand_dims(tl.arange(0, 16), 0)", (1, 16)),
        ("tl.dot(tl.zeros((16, 32), tl.float16), tl.zeros((32, 64), tl.float16))", (16, 64)),
    ],
)
def test_shapes_are_known(expression: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    tests = " and ".join(f"x.shape[{axis}] == {size}" for axis, size in enumerate(shape))
    body = f"x = {expression}\ntl.static_assert(len(x.shape) == {len(shape)})\ntl.static_assert({tests})"
    assert kinds(body, tmp_path, "==3.9") == []
    assert kinds(body.replace(tests, f"not ({tests})"), tmp_path, "==3.9") == ["STATIC_ASSERT"]


def test_a_launch_gives_dtypes_and_constants(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, BLOCK))
            tl.store(x_ptr + tl.arange(0, BLOCK), tl.exp(x), mask=n)

        def launch():
            x = torch.zeros(64, device="cuda").to(torch.bfloat16)
            kernel[(1,)](x, 7, BLOCK=48)
    """
    found = mistakes(text, tmp_path)
    assert [mistake.kind for mistake in found] == [
        MistakeKind.ARANGE,
        MistakeKind.ARANGE,
        MistakeKind.MATH_DTYPE,
        MistakeKind.MASK_DTYPE,
    ]
    assert found[2].words["dtype"] == "bf16"


def test_what_launches_disagree_on_is_not_known(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def kernel(x_ptr, BLOCK: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, BLOCK))
            tl.store(x_ptr + tl.arange(0, BLOCK), tl.exp(x))

        def launch(y):
            kernel[(1,)](torch.zeros(64, dtype=torch.float16), BLOCK=64)
            kernel[(1,)](torch.zeros(64, dtype=torch.float32), BLOCK=128)
    """
    assert mistakes(text, tmp_path) == []


def test_a_helper_is_read_with_the_types_of_its_arguments(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def soft(x, WIDE: tl.constexpr):
            if WIDE:
                x = x.to(tl.float32)
            return tl.exp(x)

        @triton.jit
        def kernel(out_ptr):
            x = tl.zeros((16,), tl.float16)
            tl.store(out_ptr + tl.arange(0, 16), soft(x, True))
            tl.store(out_ptr + tl.arange(0, 16), soft(x, False))
    """
    assert [(mistake.kind, mistake.node.lineno) for mistake in mistakes(text, tmp_path)] == [
        (MistakeKind.MATH_DTYPE, 11)
    ]


def test_a_mistake_of_a_helper_is_reported_once(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def last(x_ptr, n):
            for i in range(n):
                x = tl.load(x_ptr + i)
            return x

        @triton.jit
        def kernel(x_ptr, out_ptr, n):
            tl.store(out_ptr, last(x_ptr, n) + last(x_ptr + 1, n))
    """
    assert [mistake.kind for mistake in mistakes(text, tmp_path)] == [MistakeKind.ONE_PATH]


@pytest.mark.parametrize(
    ("target", "releases"),
    [("==3.3", [(3, 3)]), (">=3.2", [(3, 2), (3, 3), (3, 4)]), (">=3.5", [])],
)
def test_a_mistake_says_in_which_releases_it_is_one(
    target: str, releases: list[tuple[int, int]], tmp_path: Path
) -> None:
    body = "x = tl.dot(tl.zeros((8, 16), tl.float16), tl.zeros((16, 16), tl.float16))\ntl.store(out_ptr, tl.sum(x))"
    text = "@triton.jit\ndef kernel(out_ptr):\n" + indent(body, "    ")
    assert [list(mistake.releases) for mistake in mistakes(text, tmp_path, target)] == ([releases] if releases else [])


@pytest.mark.parametrize(
    ("expression", "since"),
    [
        ("tl.program_id(0) + 0xFFFFFFFF", (3, 3)),
        ("tl.program_id(0) & 0xFFFFFFFF", (3, 3)),
        ("tl.arange(0, 16).to(tl.int8) << 200", (3, 3)),
        ("tl.where(n > 0, tl.program_id(0), 0xFFFFFFFF)", (3, 3)),
        ("tl.program_id(0) < 0xFFFFFFFF", (3, 9)),
        ("tl.arange(0, 16).to(tl.uint8) != -1", (3, 9)),
    ],
)
def test_a_number_must_fit_into_the_dtype_that_it_takes(
    expression: str, since: tuple[int, int], tmp_path: Path
) -> None:
    text = f"@triton.jit\ndef kernel(out_ptr, n):\n    x = {expression}\n"
    refused = mistakes(text, tmp_path, ">=3.3")
    assert [(mistake.kind, mistake.releases[0], mistake.releases[-1]) for mistake in refused] == [
        (MistakeKind.OUT_OF_RANGE, since, (3, 9))
    ]


@pytest.mark.parametrize(
    ("operator", "target", "found"),
    [("&", "==3.1", []), ("&", "==3.2", ["wraps"]), ("<", "==3.2", []), ("<", "==3.8", [])],
)
def test_a_number_that_does_not_fit_wraps_in_one_release(
    operator: str, target: str, found: list[str], tmp_path: Path
) -> None:
    text = f"@triton.jit\ndef kernel(out_ptr):\n    x = tl.program_id(0) {operator} 0xFFFFFFFF\n"
    assert [mistake.what for mistake in mistakes(text, tmp_path, target)] == found


def test_nothing_is_refused_in_the_name_of_a_vendors_compiler(tmp_path: Path) -> None:
    text = _HEAD + dedent("""
        @triton.jit
        def kernel(x_ptr, out_ptr, n, rows):
            x = tl.load(x_ptr + tl.arange(0, 24))
            y = tl.zeros((rows,), tl.float32)
            for i in range(n):
                if i == 3:
                    continue
                x[i] = y[i]
    """)

    def codes(path: str) -> set[str]:
        return {finding.code for finding in check_text(text.encode(), tmp_path / path, Config(tmp_path)).findings}

    assert codes("backend/kernel.py") >= {"TAC102", "TAC103", "TAC104", "TAC123"}
    assert {code for code in codes("backend/_ascend/kernel.py") if code.startswith("TAC")} == set()


def test_recursion_on_a_constant_ends_where_an_else_ends_it(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def down(x, K: tl.constexpr):
            if K == 0:
                return x
            {}return down(x + 1, K - 1)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, down(tl.program_id(0), 3))
    """
    nested = text.format("else:\n                ")
    assert [mistake.kind for mistake in mistakes(nested, tmp_path, "==3.9")] == []
    assert {mistake.kind for mistake in mistakes(text.format(""), tmp_path, "==3.9")} == {MistakeKind.RECURSION}
    assert {mistake.kind for mistake in mistakes(nested, tmp_path, "==3.4")} == {MistakeKind.RECURSION}


FOLKLORE = {
    "arange need not start at 0": "i = tl.arange(3, 11)\ntl.store(out_ptr + i, 1.0)",
    "a masked load needs no other": "x = tl.load(x_ptr + tl.arange(0, 16), mask=tl.arange(0, 16) < n)",
    "and of conditions compiles": "m = (tl.arange(0, 16) < n) and (tl.arange(0, 16) > 1)",
    "not of a condition compiles": "m = not (tl.arange(0, 16) < n)",
    "an early return": "if tl.program_id(0) > 3:\n    return\ntl.store(out_ptr, 1.0)",
    "a while loop of the run": "i = 0\nwhile i < 10:\n    i += 1\ntl.store(out_ptr, i)",
    "an if on a scalar": "if n:\n    tl.store(out_ptr, 1.0)",
    "a conditional expression": "tl.store(out_ptr, 1.0 if n > 3 else 2.0)",
    "print and assert": "print('n', n)\nassert n > 0\ntl.device_print('n', n)",
    "attributes of math": "tl.store(out_ptr, math.pi * 2 + math.inf)",
    "float of a string": "tl.store(out_ptr, float('-inf'))",
    "int64 offsets": "tl.store(out_ptr + tl.program_id(0).to(tl.int64) * n, 1.0)",
    "fp32 += bf16": "a = tl.zeros((16,), tl.float32)\nfor i in range(n):\n    a += tl.zeros((16,), tl.bfloat16)",
    "a mask that broadcasts": "p = x_ptr + tl.zeros((16, 16), tl.int32)\n"
    "tl.load(p, mask=(tl.arange(0, 16) < n)[:, None])",
    "tuples": "a, b = (1, 2)\nt = (a, b)\ntl.store(out_ptr, t[0] + b)",
    "is None": "if x_ptr is None:\n    tl.store(out_ptr, 1.0)",
}


@pytest.mark.parametrize("body", FOLKLORE.values(), ids=FOLKLORE.keys())
def test_what_is_said_to_be_wrong_and_is_not(body: str, tmp_path: Path) -> None:
    assert kinds(body, tmp_path, ">=3.5") == []


def test_constexprs_in_strings_are_seen(tmp_path: Path) -> None:
    body = "tl.store(out_ptr + tl.arange(0, B), tl.arange(0, C))"
    assert kinds(body, tmp_path, parameters='out_ptr, B: "tl.constexpr", C: tl.constexpr = 16') == []


def test_what_is_not_known_is_not_judged(tmp_path: Path) -> None:
    body = """
        x = tl.load(x_ptr)
        y = tl.exp(x) + thing(x) * n
        for i in range(n):
            x = thing(x, i)
        if FLAG:
            z = 1
        if FLAG:
            x += z
        tl.store(out_ptr + n, x @ y if MODE == "dot" else x)
    """
    text = "from elsewhere import thing\n\n@triton.jit\n"
    text += "def kernel(x_ptr, out_ptr, n, FLAG: tl.constexpr, MODE: tl.constexpr):\n"
    text += indent(dedent(body).strip("\n"), "    ")
    assert [mistake.kind.name for mistake in mistakes(text, tmp_path)] == ["MATMUL"]


HELPER = """
@triton.jit
def scaled(x_ptr, group, n):
    if group > 0 and n > 0:
        first = tl.load(x_ptr)
    else:
        other = tl.load(x_ptr + 1)
    if group > 0 and n > 0:
        return first
    else:
        return other
"""


def test_a_helper_tests_what_its_callers_may_give_as_constants(tmp_path: Path) -> None:
    kernel = (
        "@triton.jit\ndef kernel(x_ptr, out_ptr, n: tl.constexpr, GROUP: tl.constexpr):\n    tl.store(out_ptr, {})\n"
    )
    assert [m.kind.name for m in mistakes(HELPER + kernel.format("scaled(x_ptr, GROUP, n)"), tmp_path)] == []


def test_what_a_kernel_tests_itself_is_known_when_it_runs(tmp_path: Path) -> None:
    body = "if n > 0:\n    first = tl.load(x_ptr)\nif n > 0:\n    tl.store(out_ptr, first)"
    assert kinds(body, tmp_path) == ["ONE_PATH"]


ALONE = """
    @triton.jit
    def kernel(x_ptr, mask, out_ptr):
        {docstring}
        total = tl.sum(mask.to(tl.int32), axis=0)
        {second}
        tl.store(out_ptr, total)
"""


def test_what_a_docstring_speaks_of_is_not_called(tmp_path: Path) -> None:
    text = ALONE.format(docstring="'Use it as kernel(x_ptr, mask, out_ptr).'", second="pass")
    assert [one.kind for one in mistakes(text, tmp_path)] == [MistakeKind.AXIS]


def test_a_function_that_asks_for_the_shape_of_a_parameter_is_a_helper(tmp_path: Path) -> None:
    text = ALONE.format(docstring="width = mask.shape[0]", second="pass")
    assert mistakes(text, tmp_path) == []
