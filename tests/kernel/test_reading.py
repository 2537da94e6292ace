"""What the text of a kernel and of its launch says by itself: tuples, conditions, flags, scans, buffers, keys."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tritonaudit.kernel.conditions import numeric_conditions
from tritonaudit.kernel.late_flags import late_flags
from tritonaudit.kernel.launch import launches_of
from tritonaudit.kernel.one_element_tuples import one_element_tuples
from tritonaudit.kernel.partials import narrow_partials
from tritonaudit.kernel.scans import carried_scans
from tritonaudit.kernel.tuning import sets_up, tuners
from tritonaudit.source.outline import JitFunction, Module, outline

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\nfrom elsewhere import helper, tuned\n\n"


def kernel(body: str, above: str = "", below: str = "") -> tuple[Module, JitFunction]:
    """A kernel with this body and what stands above it and below it in its file."""
    head = "@triton.jit\ndef kernel(x_ptr, y_ptr, n, FLAG: tl.constexpr, BLOCK: tl.constexpr):\n"
    module = outline("m.py", IMPORTS + dedent(above) + head + indent(dedent(body), "    ") + "\n\n" + dedent(below))
    return module, module.jit[0]


# -- tuples of one element ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    ["tl.load(p)", "y_ptr + p", "p < n", "helper(p, n)", "tl.store(p, 1)"],
)
def test_a_tuple_of_one_block_that_is_used_as_the_block_is_found(use: str) -> None:
    found = list(one_element_tuples(*kernel(f"p = (x_ptr + tl.arange(0, BLOCK),)\nq = {use}\ntl.store(y_ptr, q)")))
    assert [each.name for each in found] == ["p"]


@pytest.mark.parametrize(
    "body",
    [
        "p = (x_ptr + tl.arange(0, BLOCK),)\nq = tl.load(p[0])",
        "p = (x_ptr + tl.arange(0, BLOCK),)\n(q,) = p",
        "p = (tl.load(x_ptr),)\nq = helper(p + (1,))",
        "p = (BLOCK,)\nq = tl.zeros(p, tl.float32)",
        "p = (n,)\nq = helper(p)",
        "p = (tl.arange(0, BLOCK),)\nfor q in p:\n    tl.store(y_ptr, q)",
        "p = (x_ptr, y_ptr)\nq = helper(p)",
    ],
)
def test_a_tuple_that_is_meant_is_not(body: str) -> None:
    assert list(one_element_tuples(*kernel(body))) == []


# -- conditions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    ["x & 1", "x >> 3", "x % 2", "x.to(tl.int32)", "tl.cast(x, tl.float32)", "(x & 1)[:, None]", "(x > 0) * 2"],
)
def test_arithmetic_and_casts_make_numbers(condition: str) -> None:
    body = f"x = tl.load(x_ptr)\nc = {condition}\ny = tl.where(c, 1.0, 0.0)\nz = tl.where({condition}, 1.0, 0.0)"
    assert len(list(numeric_conditions(*kernel(body)))) == 2


@pytest.mark.parametrize(
    "condition",
    ["x", "x > 0", "(x & 1) != 0", "x.to(tl.int1)", "(x > 0) & (n > 1)", "n", "FLAG", "helper(x)", "x > 0 and n > 1"],
)
def test_what_may_be_a_condition_is_not_reported_of(condition: str) -> None:
    assert list(numeric_conditions(*kernel(f"x = tl.load(x_ptr)\ny = tl.where({condition}, 1.0, 0.0)"))) == []


def test_a_name_is_a_number_where_all_its_values_are() -> None:
    body = "if FLAG:\n    c = n & 1\nelse:\n    c = {}\ny = tl.where(c, 1.0, 0.0)"
    assert len(list(numeric_conditions(*kernel(body.format("n >> 1"))))) == 1
    assert list(numeric_conditions(*kernel(body.format("n > 1")))) == []


# -- flags -------------------------------------------------------------------------------------------------------


def flags(test: str, body: str, above: str = "") -> list[tuple[str, str | None, str | None]]:
    before = "pid = tl.program_id(0)\nbest = 0\nx = tl.load(x_ptr)\n"
    found = late_flags(*kernel(f"{before}if {test}:\n    {body}\ntl.store(y_ptr, x + best)", above))
    return [(each.flag, each.pointer, each.variable) for each in found]


def test_a_pointer_that_is_none_without_the_flag_is_named() -> None:
    assert flags("y_ptr is not None and pid == 0", "x += tl.load(y_ptr)") == [("y_ptr is not None", "y_ptr", None)]
    above = '@triton.heuristics({"FLAG": lambda args: args["y_ptr"] is not None})\n'
    assert flags("pid == 0 and FLAG", "x += tl.load(y_ptr)", above) == [("FLAG", "y_ptr", None)]


def test_a_number_that_gets_a_type_is_named() -> None:
    assert flags("FLAG and x > 0", "best = tl.load(x_ptr + 1)") == [("FLAG", None, "best")]


@pytest.mark.parametrize(
    ("test", "body"),
    [
        ("FLAG and x > 0", "x = x * 2"),
        ("FLAG and BLOCK > 64", "best = tl.load(x_ptr + 1)"),
        ("FLAG or x > 0", "best = tl.load(x_ptr + 1)"),
        ("x > 0 and pid == 0", "best = tl.load(x_ptr + 1)"),
        ("FLAG", "best = tl.load(x_ptr + 1)"),
    ],
)
def test_other_branches_are_left_alone(test: str, body: str) -> None:
    assert flags(test, body) == []


# -- scans -------------------------------------------------------------------------------------------------------

SCAN = """\
carry = 0.0
for i in range(n):
    p = tl.load(x_ptr + i * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
    {}
    tl.store(y_ptr + i, {})
    {}
"""


@pytest.mark.parametrize(
    "prefix",
    ["prefix = carry + tl.cumsum(p, 0)", "prefix = tl.cumsum(p, 0) + carry", "s = tl.cumsum(p); prefix = carry + s"],
)
def test_a_scan_that_is_compared_and_carried_by_a_sum_is_found(prefix: str) -> None:
    found = list(carried_scans(*kernel(SCAN.format(prefix, "prefix < n", "carry += tl.sum(p, 0)"))))
    assert [(each.carry, each.operand) for each in found] == [("carry", "p")]


@pytest.mark.parametrize(
    ("use", "carry"),
    [
        ("prefix", "carry += tl.sum(p, 0)"),
        ("prefix < n", "carry += tl.max(prefix, 0)"),
        ("prefix == n", "carry += tl.sum(p, 0)"),
        ("prefix < n", "carry += tl.sum(p * p, 0)"),
    ],
)
def test_other_scans_are_left_alone(use: str, carry: str) -> None:
    assert list(carried_scans(*kernel(SCAN.format("prefix = carry + tl.cumsum(p, 0)", use, carry)))) == []


# -- buffers -----------------------------------------------------------------------------------------------------


def partials(allocation: str, after: str) -> list[str]:
    below = f"def total(x, k):\n    parts = {allocation}\n    kernel[(k,)](x, parts, k, True, 64)\n    return {after}\n"
    module, function = kernel("tl.store(y_ptr, tl.load(x_ptr))", below=below)
    found = narrow_partials(launches_of(module)[function], {"y_ptr"})
    return [ast.unparse(each.dtype) for each in found]


@pytest.mark.parametrize(
    ("allocation", "dtype"),
    [
        ("torch.empty(k, dtype=x.dtype)", "x.dtype"),
        ("torch.zeros((k, 4), device=x.device, dtype=torch.bfloat16)", "torch.bfloat16"),
        ("x.new_empty(k, dtype=torch.half)", "torch.half"),
    ],
)
@pytest.mark.parametrize("after", ["parts.sum(dim=0)", "torch.sum(parts, 0)"])
def test_a_narrow_buffer_that_is_summed_is_found(allocation: str, dtype: str, after: str) -> None:
    assert partials(allocation, after) == [dtype]


def test_a_buffer_that_is_laid_out_anew_before_it_is_summed_has_no_parts() -> None:
    assert partials("torch.empty(k, dtype=x.dtype)\n    rest = x", "parts.sum(0)") == ["x.dtype"]
    again = "kernel[(k,)](x, parts, k, True, 64)\n    parts = parts.reshape(2, -1)\n    total"
    below = (
        f"def total(x, k):\n    parts = torch.empty(k, dtype=x.dtype)\n    {again} = parts.sum(0)\n    return total\n"
    )
    module, function = kernel("tl.store(y_ptr, tl.load(x_ptr))", below=below)
    assert list(narrow_partials(launches_of(module)[function], {"y_ptr"})) == []


@pytest.mark.parametrize(
    ("allocation", "after"),
    [
        ("torch.empty(k, dtype=torch.float32)", "parts.sum(0)"),
        ("torch.empty(k)", "parts.sum(0)"),
        ("torch.empty(k, dtype=x.dtype)", "parts"),
        ("torch.empty(k, dtype=x.dtype)", "x.sum()"),
        ("torch.empty(k, dtype=other.dtype)", "parts.sum()"),
    ],
)
def test_other_buffers_are_left_alone(allocation: str, after: str) -> None:
    assert partials(allocation, after) == []


# -- autotuners --------------------------------------------------------------------------------------------------


def test_an_autotuner_of_the_projects_own_is_called_as_tritons_is() -> None:
    for decorator, own in (("triton.autotune", True), ("tuned", False)):
        module, function = kernel("pass", f'@{decorator}(configs=[], key=["n"])\n')
        assert [is_own for _, is_own in tuners(module, function)] == [own]
    assert list(tuners(*kernel("pass", "@tuned(3)\n"))) == []


@pytest.mark.parametrize(
    ("before", "configs", "expected"),
    [
        ("", "[triton.Config({}, pre_hook=print)]", True),
        ("def made():\n    return [triton.Config({}, pre_hook=print)]\n\n", "made()", True),
        ("CONFIGS = [triton.Config({}, pre_hook=print)]\n", "CONFIGS", True),
        ("CONFIGS = [triton.Config({})]\n", "CONFIGS", False),
    ],
)
def test_hooks_are_seen_where_the_file_makes_the_configs(before: str, configs: str, expected: bool) -> None:
    module, function = kernel("pass", f'{before}@triton.autotune(configs={configs}, key=["n"])\n')
    ((autotune, _),) = tuners(module, function)
    assert sets_up(module, autotune) is expected
