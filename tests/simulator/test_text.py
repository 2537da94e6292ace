"""TTIR's text in detail: constants, types, attributes, locations, and what is not understood."""

from __future__ import annotations

import cProfile
import math

import pytest

from tritonaudit.simulator.ir import Constant, Function, Location, Operation, Type
from tritonaudit.simulator.parse import UnsupportedText, parse_module

HEAD = """\
#loc = loc("/k.py":3:1)
module {
  tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x_ptr"(#loc)), %n: i32 loc(#loc)) \
attributes {noinline = false} {
"""
TAIL = """
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""


def kernel(*lines: str, aliases: str = "") -> Function:
    """A kernel of those operations, each of which gets a location if it has none, indented as MLIR prints them."""
    located = [f"    {line}" if "loc(" in line else f"    {line} loc(#loc)" for line in lines]
    return parse_module(HEAD + "\n".join(located) + TAIL + aliases).kernel


def operation(*lines: str, aliases: str = "") -> Operation:
    """The last of them."""
    return kernel(*lines, aliases=aliases).region.block.operations[-2]


def result(*lines: str) -> Type:
    """The type of the result of the last of them."""
    function = kernel(*lines)
    (value,) = function.region.block.operations[-2].results
    return function.types[value]


def constant(text: str) -> tuple[int | float, ...]:
    value = operation(f"%0 = arith.constant {text}").attributes["value"]
    assert isinstance(value, Constant)
    return value.elements


# -- constants ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("true", (1,)),
        ("-7 : i32", (-7,)),
        ("-9223372036854775808 : i64", (-(2**63),)),
        ("5.000000e-01 : f32", (0.5,)),
        ("9.99999974E-6 : f32", (9.99999974e-6,)),
        ("0xFF800000 : f32", (-math.inf,)),
        ("0x7FEFFFFFFFFFFFFF : f64", (1.7976931348623157e308,)),
        ("dense<0xFC00> : tensor<8xf16>", (-math.inf,)),
        ("dense<0x7F80> : tensor<8xbf16>", (math.inf,)),
        ("dense<0x7C> : tensor<8xf8E5M2>", (math.inf,)),
        ("dense<0x7E> : tensor<8xf8E4M3FN>", (448.0,)),
        ("dense<0x7F> : tensor<8xf8E4M3FNUZ>", (240.0,)),
        ("dense<0x01> : tensor<8xf8E5M2FNUZ>", (2.0**-17,)),
        ("dense<false> : tensor<8xi1>", (0,)),
        ("dense<[[1, 2], [-3, 4]]> : tensor<2x2xi32>", (1, 2, -3, 4)),
        ("dense<[0x7F800000, 1.500000e+00]> : tensor<2xf32>", (math.inf, 1.5)),
        ('dense<"0x01000000FEFFFFFF"> : tensor<2xi32>', (1, -2)),
        ('dense<"0x0000803F000080FF"> : tensor<2xf32>', (1.0, -math.inf)),
    ],
)
def test_constants_are_decoded_by_their_type(text: str, elements: tuple[int | float, ...]) -> None:
    assert constant(text) == elements


@pytest.mark.parametrize(
    "text",
    ["0x7FC00000 : f32", "0x7F : f8E4M3FN", "0x80 : f8E4M3FNUZ", "0x7E : f8E5M2", "0xFFC0 : bf16", "0x7E00 : f16"],
)
def test_what_is_not_a_number_is_nan(text: str) -> None:
    (value,) = constant(text)
    assert math.isnan(value)


# -- types -------------------------------------------------------------------------------------------------------------

FLOATS = "%0 = arith.constant dense<0.000000e+00> : tensor<8x4xf32>"
INTEGERS = "%0 = arith.constant dense<0> : tensor<8x4xi32>"
TRUTHS = "%1 = arith.constant dense<true> : tensor<8x4xi1>"


@pytest.mark.parametrize(
    ("lines", "type"),
    [
        ((FLOATS, "%1 = arith.cmpf ogt, %0, %0 : tensor<8x4xf32>"), Type("i1", (8, 4))),
        ((FLOATS, TRUTHS, "%2 = arith.select %1, %0, %0 : tensor<8x4xi1>, tensor<8x4xf32>"), Type("f32", (8, 4))),
        ((INTEGERS, "%1 = arith.index_cast %n : i32 to index"), Type("index")),
        (("%0 = tt.addptr %arg0, %n : !tt.ptr<f32>, i32",), Type("ptr", (), Type("f32"))),
        (("%0 = tt.load %arg0 : !tt.ptr<f32>",), Type("f32")),
        (
            (
                "%0 = arith.constant 4 : i64",
                "%1 = tt.make_tensor_ptr %arg0, [%0, %0], [%0, %0], [%n, %n] {order = array<i32: 1, 0>} "
                ": <tensor<8x4xf32>>",
                "%2 = tt.advance %1, [%n, %n] : <tensor<8x4xf32>>",
                "%3 = tt.load %2 {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<8x4xf32>>",
            ),
            Type("f32", (8, 4)),
        ),
        (("%0 = ub.poison : tensor<8xbf16, #ttg.blocked<{sizePerThread = [1]}>>",), Type("bf16", (8,))),
        (
            ("%0 = tt.splat %arg0 : !tt.ptr<f32, 1> -> tensor<8x!tt.ptr<f32, 1>>",),
            Type("ptr", (8,), Type("f32")),
        ),
    ],
)
def test_results_have_types_that_the_text_leaves_out(lines: tuple[str, ...], type: Type) -> None:
    assert result(*lines) == type


def test_a_block_pointer_tells_its_groups_of_operands() -> None:
    made = operation(
        "%0 = arith.constant 4 : i64",
        "%1 = tt.make_tensor_ptr %arg0, [%0, %0], [%0, %0], [%n, %n] {order = array<i32: 1, 0>} : <tensor<8x4xf32>>",
    )
    assert made.segments == (1, 2, 2, 2)
    assert made.attributes == {"order": (1, 0)}


def test_a_name_may_stand_for_several_values() -> None:
    function = kernel(
        "%0:2 = tt.call @pair(%n) : (i32) -> (i32, f32)",
        "%1 = arith.addi %0#0, %n : i32",
        "%2 = arith.negf %0#1 : f32",
    )
    call, add, negate, _ = function.region.block.operations
    assert (add.operands[0], negate.operands[0]) == call.results
    assert [function.types[value].element for value in call.results] == ["i32", "f32"]


# -- attributes --------------------------------------------------------------------------------------------------------


def test_flags_and_words_are_attributes() -> None:
    assert operation("%0 = arith.addi %n, %n overflow<nsw, nuw> : i32").attributes == {"overflow": ("nsw", "nuw")}
    assert operation("%0 = arith.cmpi slt, %n, %n : i32").attributes == {"predicate": "slt"}
    assert operation("%0 = tt.get_program_id y : i32").attributes == {"axis": "y"}
    assert operation(INTEGERS, "%1 = tt.reshape %0 allow_reorder : tensor<8x4xi32> -> tensor<32xi32>").attributes == {
        "allow_reorder": True
    }


def test_the_generic_form_is_read_too() -> None:
    found = operation(
        "%t = arith.constant true",
        '%0 = "tt.load"(%arg0, %t) <{cache = 1 : i32, isVolatile = false, operandSegmentSizes = array<i32: 1, 1, 0>}> '
        ": (!tt.ptr<f32>, i1) -> f32",
    )
    assert (found.name, found.segments, found.attributes) == ("tt.load", (1, 1, 0), {"cache": 1, "isVolatile": False})


def test_strings_are_unescaped() -> None:
    found = operation(r'tt.assert %n, "\22a\22 \\ b\0A\C3\A9" : i32')
    assert found.attributes["message"] == '"a" \\ b\né'


def test_a_block_that_prints_no_end_has_one() -> None:
    choice = operation("%t = arith.constant true", "scf.if %t {\n} else {\n}")
    assert [[found.name for found in region.block.operations] for region in choice.regions] == [["scf.yield"]] * 2
    loop = operation("scf.for unsigned %i = %n to %n step %n : i32 {\n} {tt.flatten}")
    assert [found.name for found in loop.regions[0].block.operations] == ["scf.yield"]
    assert loop.attributes == {"unsignedCmp": True, "tt.flatten": True}


# -- locations ---------------------------------------------------------------------------------------------------------

HERE = Location("/k.py", 3, 1)


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("#loc", HERE),
        ("unknown", None),
        ('"total"', None),
        ('"/a \\22b\\22.py":7:0', Location('/a "b".py', 7, 0)),
        ('"/a.py":7:2 to 8:5', Location("/a.py", 7, 2)),
        ('"/a.py":7:2 to :5', Location("/a.py", 7, 2)),
        ('"x"(#loc)', Location("/k.py", 3, 1, "x")),
        ("fused[unknown, #loc]", HERE),
        ('fused<"why">["/a.py":7:2, #loc]', Location("/a.py", 7, 2)),
        ('callsite("/a.py":7:2 at #loc)', Location("/a.py", 7, 2, "", (HERE,))),
        ("callsite(unknown at #loc)", HERE),
        (
            'callsite("y"("/a.py":7:2) at callsite("/b.py":8:3 at #loc))',
            Location("/a.py", 7, 2, "y", (Location("/b.py", 8, 3), HERE)),
        ),
        ("#later", Location("/a.py", 7, 2, "z", (HERE,))),
    ],
)
def test_locations_are_resolved(text: str, location: Location | None) -> None:
    aliases = '#loc7 = loc("z"(#loc8))\n#loc8 = loc(callsite("/a.py":7:2 at #loc))\n'
    written = text.replace("#later", "#loc7")
    assert operation(f"%0 = tt.get_program_id x : i32 loc({written})", aliases=aliases).location == location


def test_names_are_the_sources_where_the_text_has_them() -> None:
    function = kernel('%x_3 = tt.load %arg0 : !tt.ptr<f32> loc("x"(#loc))', "%y = tt.load %arg0 : !tt.ptr<f32>")
    assert function.names == {0: "x_ptr", 1: "n", 2: "x"}
    unnamed = HEAD.replace('loc("x_ptr"(#loc))', "loc(#loc)")
    assert parse_module(unnamed + TAIL).kernel.names == {1: "n"}


# -- what is not understood --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = tt.load %q : !tt.ptr<f32>", "`%q` is not a value known here"),
        ("%0 = tt.load %arg0 sideways : !tt.ptr<f32>", "tt.load: `sideways` is not understood"),
        ("%0 = tt.load %arg0 : tensor<4xf33x>", "`tensor<4xf33x>` is not a known type"),
        ("%0 = tt.new_thing %n, %n : i32, i64", "tt.new_thing: 2 types for 1 results"),
        ("%0 = arith.constant dense<abc> : tensor<4xf32>", "`<abc>` is not a constant of the type f32"),
        ("cf.br ^bb1 loc(#loc9)", "the location `#loc9` is not defined"),
        ("cf.br ^bb2 loc(#loc)\n^bb2:", "expected the block `^bb1` instead of `^bb2`"),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(line: str, message: str) -> None:
    with pytest.raises(UnsupportedText) as caught:
        kernel("%x = tt.get_program_id x : i32", "%y = tt.get_program_id y : i32", line)
    assert caught.value.message == message
    assert caught.value.line == 6 + line.count("\n")


def test_a_text_that_ends_too_early_is_not_understood() -> None:
    text = HEAD + TAIL
    for end in range(len(text) - 12):
        with pytest.raises(UnsupportedText):
            parse_module(text[:end])


def test_a_location_that_leads_to_itself_is_none() -> None:
    aliases = "#loc7 = loc(fused[#loc8])\n#loc8 = loc(fused[#loc7])\n"
    assert operation("%0 = tt.get_program_id x : i32 loc(#loc7)", aliases=aliases).location is None


@pytest.mark.parametrize(
    "line",
    [
        "%x = arith.addi %n, %n : i32 loc(#loc)",
        "%x = arith.cmpi slt, %n, %n : i32 loc(#loc)",
        "%x = tt.load %arg0 : !tt.ptr<f32> loc(#loc)",
        "%x = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc(#loc)",
        "%x = tt.splat %n : i32 -> tensor<4xi32> loc(#loc)",
        "%x = arith.sitofp %n : i32 to f32 loc(#loc)",
        "%x, %y = tt.split %arg0 : tensor<4x2xi32> -> tensor<4xi32> loc(#loc)",
        "%x:2 = tt.made_up %n, %n : i32 -> i32 loc(#loc)",
        "tt.store %arg0, %n : !tt.ptr<f32> loc(#loc)",
        "%x = tt.addptr %arg0, %n : !tt.ptr<f32, 3>, i32 loc(#loc)",
    ],
)
def test_how_a_line_is_spaced_changes_nothing(line: str) -> None:
    plain = f"    {line}\n"
    spaced = line.replace(" ", "  ").replace(" loc", "\n loc").replace("<f32,  3>", "<f32, 3>")
    assert parse_module(HEAD + plain + TAIL).kernel == parse_module(HEAD + spaced + TAIL).kernel


def test_the_work_grows_with_the_length() -> None:
    line = "%{} = arith.addi %n, %n overflow<nsw> : i32 loc(callsite(#loc at #loc))"

    def calls(lines: int) -> int:
        text = HEAD + "\n".join(line.format(place) for place in range(lines)) + TAIL
        profile = cProfile.Profile()
        profile.runcall(parse_module, text)
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(4_000) < 5 * calls(1_000)
