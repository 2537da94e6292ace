"""Reading and editing the text of TTIR, as the versions of Triton write it."""

from __future__ import annotations

import pytest

from tritonaudit.compile.ttir import Argument, Location, Module

OLD = """#loc = loc("/project/kernel.py":34:0)
#loc1 = loc(unknown)
module {
  tt.func public @copy(\
%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32} loc("/project/kernel.py":34:0), \
%arg1: i32 loc("/project/kernel.py":34:0), \
%arg10: f32 loc("/project/kernel.py":34:0)) attributes {noinline = false} {
    %0 = arith.muli %arg1, %arg10 : i32 loc(#loc2)
    %1 = tt.load %arg0 : !tt.ptr<f16> loc(#loc5)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/project/kernel.py":35:24)
#loc3 = loc("/project/a \\22b\\22/helper.py":3:7)
#loc4 = loc(callsite(#loc3 at #loc2))
#loc5 = loc(callsite(#loc1 at #loc4))
#loc6 = loc(fused[#loc1, #loc2])
"""
NEW = """#loc = loc("/project/kernel.py":34:1)
#loc1 = loc("src"(#loc))
#loc2 = loc("n"(#loc))
module {
  tt.func public @copy(\
%src: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("src"(#loc)), \
%n: i64 {tt.divisibility = 8 : i32} loc("n"(#loc)), \
%desc: !tt.tensordesc<tensor<64x64xf16>> loc("desc"(#loc))) {
    %x = tt.load %src : !tt.ptr<f32> loc(#loc3)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc3 = loc("x"(#loc4))
#loc4 = loc("/project/kernel.py":38:9)
"""


def test_arguments() -> None:
    divisible, plain, number = Module(OLD).arguments
    assert (divisible.name, divisible.type, divisible.divisibility) == ("arg0", "!tt.ptr<f16>", 16)
    assert divisible.is_pointer
    assert not divisible.is_integer
    assert (plain.name, plain.type, plain.divisibility, plain.is_integer) == ("arg1", "i32", 1, True)
    assert number.type == "f32"
    assert not number.is_integer
    assert not number.is_pointer
    assert divisible.parameter is None


def test_arguments_have_their_names_where_the_module_tells_them() -> None:
    src, n, descriptor = Module(NEW).arguments
    assert [src.parameter, n.parameter, descriptor.parameter] == ["src", "n", "desc"]
    assert (n.divisibility, n.type) == (8, "i64")
    assert descriptor.type == "!tt.tensordesc<tensor<64x64xf16>>"


@pytest.mark.parametrize("text", [OLD, NEW])
def test_an_argument_is_written_as_it_was_read(text: str) -> None:
    assert ", ".join(map(str, Module(text).arguments)) in text


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        ("#loc2", Location("/project/kernel.py", 35, 24)),
        ("#loc4", Location('/project/a "b"/helper.py', 3, 7)),
        ("#loc5", Location('/project/a "b"/helper.py', 3, 7)),
        ("#loc6", Location("/project/kernel.py", 35, 24)),
        ("#loc1", None),
    ],
)
def test_locations(alias: str, expected: Location | None) -> None:
    assert Module(OLD).location(f"%0 = tt.load %p : f32 loc({alias})") == expected


def test_a_named_location_is_the_place_that_it_names() -> None:
    assert Module(NEW).location("%x = tt.load %src loc(#loc3)") == Location("/project/kernel.py", 38, 9)


def test_where_columns_begin() -> None:
    assert Module(OLD).counts_columns_from_zero
    assert not Module(NEW).counts_columns_from_zero


def test_assuming_divisibility_keeps_what_else_is_known() -> None:
    edited = Module(OLD).assuming(divisible=["arg1", "arg0"])
    first, second, third = edited.arguments
    assert first.attributes == (("tt.divisibility", "16 : i32"), ("tt.pointer_range", "32 : i32"))
    assert second.divisibility == 16
    assert third == Module(OLD).arguments[2]
    assert edited.body == Module(OLD).body


def test_assuming_one_puts_a_constant_in_the_place_of_that_argument_only() -> None:
    edited = Module(OLD).assuming(one=["arg1"])
    assert edited.arguments == Module(OLD).arguments
    assert "    %one_for_arg1 = arith.constant 1 : i32\n" in edited.body
    assert "arith.muli %one_for_arg1, %arg10 : i32" in edited.body


def test_matrix_products() -> None:
    text = """
    %1 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %2 = tt.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %3 = tt.dot %d, %e, %c : tensor<64x32xf8E4M3FN> * tensor<32x64xf8E4M3FN> -> tensor<64x64xf32>
    %4 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x16xi8>, tensor<64x2xi8> * tensor<32x64xi8> -> tensor<64x64xf32>
    """  # noqa: E501
    assert Module(text).dots() == (("fp16", 2), ("fp8e4nv", 1), ("e2m1", 1))


def test_text_without_a_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="no kernel"):
        _ = Module("module {}").arguments


def test_an_argument_tells_of_itself() -> None:
    argument = Argument("n", "i32", (("tt.divisibility", "16 : i32"),), 'loc("n"(#loc))', "n")
    assert str(argument) == '%n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))'
