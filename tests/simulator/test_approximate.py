"""Functions as the PTX that Triton makes of them, against what an H100 gave; and PTX on its own."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from tests.simulator.kernels import VERSION
from tritonaudit import simulate
from tritonaudit.simulator import approximate
from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.ptx.code import Code, parse
from tritonaudit.simulator.ptx.execution import run

GIVEN: dict[str, tuple[tuple[str, ...], ...]] = {
    "math.exp": (
        ("-0x1.04e886p+0", "0x1.718ep-2"),
        ("-0x1.3a9552p+5", "0x1.347acap-57"),
        ("0x1.33776cp+1", "0x1.617a12p+3"),
        ("-0x1.c51708p-6", "0x1.f208fp-1"),
        ("-0x1.3fac76p+1", "0x1.511412p-4"),
    ),
    "math.log": (
        ("0x1.1b77ecp+1", "0x1.97137cp-1"),
        ("0x1.398906p+3", "0x1.241e58p+1"),
        ("0x1.eda78p+1", "0x1.598cd6p+0"),
        ("0x1.107c36p+1", "0x1.82d7fap-1"),
        ("0x1.09c0eap+1", "0x1.76093cp-1"),
    ),
    "math.erf": (
        ("-0x1.04e886p+0", "-0x1.b375ccp-1"),
        ("0x1.33776cp+1", "0x1.ffa6b8p-1"),
        ("-0x1.c51708p-6", "-0x1.ff2082p-6"),
        ("-0x1.3fac76p+1", "-0x1.ffc9eep-1"),
        ("0x1.1b77ecp+1", "0x1.ff1c5ep-1"),
    ),
    "math.sin": (
        ("-0x1.ca4964p+36", "-0x1.a48a44p-1"),
        ("-0x1.f7fd48p+60", "0x1.3810c2p-3"),
        ("-0x1.04e886p+0", "-0x1.b40ebep-1"),
        ("-0x1.3a9552p+5", "-0x1.ff47fp-1"),
        ("0x1.33776cp+1", "0x1.590ce6p-1"),
    ),
    "__nv_tanhf": (
        ("-0x1.04e886p+0", "-0x1.89ffc6p-1"),
        ("0x1.33776cp+1", "0x1.f7ad0cp-1"),
        ("-0x1.c51708p-6", "-0x1.c4f978p-6"),
        ("-0x1.3fac76p+1", "-0x1.f91c9ap-1"),
        ("0x1.1b77ecp+1", "0x1.f3ef02p-1"),
    ),
    "__nv_log1pf": (
        ("0x1.33776cp+1", "0x1.397178p+0"),
        ("-0x1.c51708p-6", "-0x1.cb791p-6"),
        ("0x1.1b77ecp+1", "0x1.2aee86p+0"),
        ("0x1.398906p+3", "0x1.308ed4p+1"),
        ("0x1.eda78p+1", "0x1.949212p+0"),
    ),
    "__nv_powf": (
        ("0x1.1b77ecp+1", "0x1.326b8ep-7", "0x1.01e912p+0"),
        ("0x1.398906p+3", "0x1.bf8398p+0", "0x1.b0365ep+5"),
        ("0x1.eda78p+1", "-0x1.4470e8p-1", "0x1.b357f4p-2"),
        ("0x1.107c36p+1", "0x1.b33cc8p+0", "0x1.ce786ep+1"),
        ("0x1.09c0eap+1", "-0x1.125dd6p-8", "0x1.fe6fbep-1"),
    ),
    "arith.divf": (
        ("-0x1.04e886p+0", "0x1.83c92p+0", "-0x1.587b4ep-1"),
        ("-0x1.3a9552p+5", "-0x1.5d964cp+103", "0x1.ccbbe4p-99"),
        ("0x1.33776cp+1", "-0x1.f2d51ap-14", "-0x1.3b9526p+14"),
        ("-0x1.c51708p-6", "0x1.94317ap-1", "-0x1.1ef82p-5"),
        ("-0x1.3fac76p+1", "-0x1.abe624p+0", "0x1.7e80fp+0"),
    ),
    "__nv_tgammaf": (
        ("-0x1.04e886p+0", "0x1.9e15f6p+5"),
        ("0x1.33776cp+1", "0x1.3e6da4p+0"),
        ("-0x1.c51708p-6", "-0x1.262082p+5"),
        ("-0x1.3fac76p+1", "-0x1.e56052p-1"),
        ("0x1.1b77ecp+1", "0x1.1c5426p+0"),
    ),
}
"""Operands and result, as an H100 gave it (Triton 3.6)."""


CHANGED = ("math.erf", "__nv_powf", "__nv_tgammaf")
"""Functions of which Triton brings another edition from 3.7 on."""


@pytest.mark.parametrize("name", GIVEN)
def test_functions_give_the_gpus_bits(name: str) -> None:
    if name in CHANGED and VERSION > (3, 6):
        pytest.skip("other coefficients")
    *operands, expected = (torch.tensor(column) for column in zip(*numbers(GIVEN[name]), strict=True))
    is_symbol = name.startswith("__")
    operation, symbol = ("tt.extern_elementwise", name) if is_symbol else (name, "")
    code = approximate.code_of(operation, symbol, ("f32",) * len(operands), "f32")
    assert code is not None
    assert approximate.computed(code, operands, Type("f32")).tolist() == expected.tolist()


def numbers(rows: tuple[tuple[str, ...], ...]) -> list[list[float]]:
    return [[float.fromhex(number) for number in row] for row in rows]


def test_operands_of_different_shapes() -> None:
    code = approximate.code_of("arith.divf", "", ("f32", "f32"), "f32")
    assert code is not None
    a, b = torch.arange(1.0, 5.0).reshape(1, 4), torch.tensor([[1.0], [2.0]])
    assert approximate.computed(code, [a, b], Type("f32")).tolist() == (a / b).tolist()


@triton.jit
def funnel(source, target):  # type: ignore[no-untyped-def]
    places = tl.arange(0, 16)
    x = tl.load(source + places)
    y = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 5;", "=r,r", [x], tl.int32, is_pure=True, pack=1)
    tl.store(target + places, y)


def test_inline_assembly_is_executed_as_it_stands() -> None:
    source, target = torch.arange(16, dtype=torch.int32) << 26, torch.zeros(16, dtype=torch.int32)
    simulate(funnel, (1,), source, target, as_gpu=True)
    assert target.tolist() == [(number >> 1) - ((number & 1) << 31) for number in range(16)]


def body(text: str) -> Code:
    lines = "\n".join(text.split("; "))
    return parse(
        f""".visible .entry f(
  .param .u64 a,
  .param .u64 o
)
.reqntid 128
{{
  ld.param.b64 %rd1, [f_param_0];
  ld.param.b64 %rd2, [f_param_1];
  ld.global.b32 {{ %r1 }}, [ %rd1 + 0 ];
  {lines}
  st.global.b32 [ %rd2 + 0 ], {{ %r2 }};
  ret;
}}
"""
    )


def result(text: str, *numbers: int) -> list[int]:
    found: list[int] = run(body(text), [torch.tensor(numbers, dtype=torch.int32)], torch.int32).tolist()
    return found


def test_threads_part_at_a_branch_and_loop_on_their_own() -> None:
    text = """mov.b32 %r2, 0;
  $L__BB0_1: setp.le.s32 %p1, %r1, 0;
  @%p1 bra $L__BB0_2;
  add.s32 %r2, %r2, %r1;
  add.s32 %r1, %r1, -1;
  bra.uni $L__BB0_1;
  $L__BB0_2:"""
    assert result(text, 0, 1, 4, 10) == [0, 1, 10, 55]


def test_carries_go_from_one_instruction_to_the_next() -> None:
    text = "add.cc.u32 %r3, %r1, 1; addc.u32 %r2, 5, 0;"
    assert result(text.replace("; ", ";\n"), -1, 7) == [6, 5]


def test_a_threads_own_memory() -> None:
    text = """mov.b64 %rd3, __local_depot0;
  st.local.b32 [%rd3+4], %r1;
  st.local.b32 [%rd3+8], 9;
  ld.local.b32 %r2, [%rd3+4];"""
    assert result(text, 3, -4) == [3, -4]


def test_shifts_stop_at_the_width() -> None:
    assert result("shr.s32 %r2, -8, %r1;", 1, 40, -1) == [-4, -1, -1]
    assert result("shl.b32 %r2, 1, %r1;", 1, 31, 32) == [2, -(2**31), 0]
    assert result("shf.l.wrap.b32 %r2, -1, 0, %r1;", 1, 33) == [1, 1]


def test_subnormal_numbers_are_flushed_where_an_instruction_says_so() -> None:
    smallest = 1 << 22
    assert result("add.f32 %r2, %r1, 0f00000000;", smallest) == [smallest]
    assert result("add.ftz.f32 %r2, %r1, 0f00000000;", smallest) == [0]


def test_what_is_not_known_is_said() -> None:
    with pytest.raises(Unsupported, match=r"lg2\.approx\.f32"):
        result("lg2.approx.f32 %r2, %r1;", 1)
