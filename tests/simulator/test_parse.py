"""Triton's printed IR as data, against what MLIR itself makes of the same text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")

from triton._C import libtriton
from triton._C.libtriton import ir

from tests.compile.programs import VERSION, program
from tests.simulator.kernels import LAUNCHES, Launch
from tritonaudit.simulator.ir import Module, Operation, Region, Type
from tritonaudit.simulator.parse import parse_module
from tritonaudit.simulator.text.tokens import Tokens
from tritonaudit.simulator.text.types import read_type

SUPPORTED = [launch for launch in LAUNCHES if launch.is_supported]


def text_of(launch: Launch) -> str:
    return program(launch.kernel, launch.target, **launch.arguments, **launch.options).ttir


def parsed(name: str) -> Module:
    (launch,) = [launch for launch in LAUNCHES if launch.name == name]
    if not launch.is_supported:
        pytest.skip(f"Triton {'.'.join(map(str, VERSION))} does not compile it")
    return parse_module(text_of(launch))


def walk(region: Region) -> Iterator[Operation]:
    """All operations, those inside of another before it."""
    for block in region.blocks:
        for operation in block.operations:
            for inner in operation.regions:
                yield from walk(inner)
            yield operation


def named(module: Module, name: str) -> list[Operation]:
    return [found for function in module.functions for found in walk(function.region) if found.name == name]


# -- all of it, against MLIR -------------------------------------------------------------------------------------------

Value = tuple[int, int]  # a function's place in the module, and the value's number in it


def ours(module: Module) -> Iterator[tuple[str, list[Value], list[tuple[Value, Type]]]]:
    """The name of each operation, its operands with those passed to other blocks, and its results."""
    for place, function in enumerate(module.functions):
        for operation in walk(function.region):
            operands = [*operation.operands, *(value for _, passed in operation.successors for value in passed)]
            results = [((place, value), function.types[value]) for value in operation.results]
            yield operation.name, [(place, value) for value in operands], results


def theirs(text: str, path: Path) -> list[tuple[str, list[int], list[tuple[int, str]]]]:
    """The same by MLIR, with its own identities of values."""
    path.write_text(text)
    context = ir.context()
    ir.load_dialects(context)
    libtriton.nvidia.load_dialects(context)
    found: list[tuple[str, list[int], list[tuple[int, str]]]] = []

    def visit(operation: Any) -> None:
        results = [operation.get_result(place) for place in range(operation.get_num_results())]
        operands = [operation.get_operand(place).id() for place in range(operation.get_num_operands())]
        found.append((operation.get_name(), operands, [(value.id(), str(value.get_type())) for value in results]))

    module = ir.parse_mlir_module(str(path), context)
    module.walk(visit)
    return [operation for operation in found if operation[0] not in ("tt.func", "builtin.module")]


@pytest.mark.parametrize("launch", SUPPORTED, ids=lambda launch: launch.name)
def test_operations_operands_and_types_are_those_that_mlir_reads(launch: Launch, tmp_path: Path) -> None:
    text = text_of(launch)
    known: dict[int, Value] = {}
    read = list(ours(parse_module(text)))
    expected = theirs(text, tmp_path / "program.ttir")
    assert [name for name, *_ in read] == [name for name, *_ in expected]
    for (name, operands, results), (_, identities, typed) in zip(read, expected, strict=True):
        assert [known.setdefault(*pair) for pair in zip(identities, operands, strict=True)] == operands, name
        for (value, type), (identity, printed) in zip(results, typed, strict=True):
            assert known.setdefault(identity, value) == value, name
            assert type == read_type(Tokens(printed)), name
    assert len(set(known.values())) == len(known)


# -- what some of them must say ----------------------------------------------------------------------------------------


def test_an_early_return_makes_blocks() -> None:
    region = parsed("early_return").kernel.region
    assert [block.operations[-1].name for block in region.blocks] == [
        "cf.cond_br",
        "tt.return",
        "cf.cond_br",
        "tt.return",
        "tt.return",
    ]
    assert [block.operations[-1].successors for block in region.blocks[:1]] == [((1, ()), (2, ()))]


def test_functions_that_are_not_inlined_are_called_by_name() -> None:
    module = parsed("calls")
    callees = [operation.attributes["callee"] for operation in named(module, "tt.call")]
    assert callees == [function.name for function in module.functions if not function.is_public]
    assert [len(module.function(callee).arguments) for callee in callees] == [2, 2, 1]
    assert module.kernel.name == "calls"


def test_accesses_tell_their_masks_apart() -> None:
    module = parsed("elementwise")
    x, y, z = named(module, "tt.load")
    assert [operation.segments for operation in (x, y, z)] == [(1, 1, 0), (1, 1, 1), (1, 1, 1)]
    (store,) = named(module, "tt.store")
    assert store.segments == (1, 1, 1)
    assert z.attributes["isVolatile"] is True


def test_atomics_say_what_they_do() -> None:
    module = parsed("atomics")
    kinds = [operation.attributes["atomic_rmw_op"] for operation in named(module, "tt.atomic_rmw")]
    assert kinds[:9] == ["add", "max", "min", "and", "or", "xor", "exch", "umax", "umin"]
    assert {operation.attributes["sem"] for operation in named(module, "tt.atomic_cas")} == {"acq_rel"}
    assert {operation.segments for operation in named(module, "tt.atomic_rmw")} == {(1, 1, 1)}


def test_a_reduction_has_what_combines_two() -> None:
    module = parsed("reductions")
    by_two = [operation for operation in named(module, "tt.reduce") if len(operation.results) == 2]
    assert by_two
    for operation in by_two:
        block = operation.regions[0].block
        assert operation.attributes["axis"] == 1
        assert [module.kernel.types[value].element for value in block.arguments] == ["f32", "i32", "f32", "i32"]
        assert block.operations[-1].name == "tt.reduce.return"


def test_loops_carry_values() -> None:
    module = parsed("loops")
    loops = named(module, "scf.for")
    carried = [len(loop.results) for loop in loops]
    assert carried == [2, 0, 1]
    assert [len(loop.regions[0].block.arguments) - 1 for loop in loops] == carried
    assert [len(loop.operands) - 3 for loop in loops] == carried
    assert {loop.regions[0].block.operations[-1].name for loop in loops} == {"scf.yield"}
    assert loops[0].attributes["tt.num_stages"] == 3
    assert [module.kernel.types[loop.regions[0].block.arguments[0]].element for loop in loops] == ["i32", "i32", "i64"]


def test_messages_keep_their_text() -> None:
    module = parsed("messages")
    assert [operation.attributes["prefix"] for operation in named(module, "tt.print")] == [
        " x and its program: ",
        " n: ",
        ' only "words" \\ here',
    ]
    assert named(module, "tt.print")[0].attributes["isSigned"] == (0, 1)
    assert named(module, "tt.assert")[0].attributes["message"] == 'not positive: "x"'


def test_a_scaled_product_has_its_scales_behind_the_factors() -> None:
    module = parsed("scaled_product")
    types = module.kernel.types
    both, left = named(module, "tt.dot_scaled")
    assert (both.segments, left.segments) == ((1, 1, 1, 1, 1), (1, 1, 1, 1, 0))
    assert [types[value].element for value in both.operands] == ["f8E5M2", "f8E4M3FN", "f32", "i8", "i8"]
    assert (both.attributes["lhs"], both.attributes["rhs"]) == ("e5m2", "e4m3")


def test_the_sign_of_a_descriptors_numbers_is_in_what_is_done_to_them() -> None:
    module = parsed("unsigned_descriptors")
    (descriptor,) = named(module, "tt.make_tensor_descriptor")
    assert module.kernel.types[descriptor.results[0]] == Type("desc", (), Type("i32", (8, 16)))
    assert descriptor.segments == (1, 2, 2)
    reductions = named(module, "tt.descriptor_reduce")
    assert [operation.attributes["kind"] for operation in reductions] == ["add", "umin", "umax", "xor"]
    assert {operation.segments for operation in reductions} == {(1, 1, 2)}


def test_inlined_helpers_know_their_callers() -> None:
    module = parsed("reductions")
    places = [place for found in named(module, "arith.addf") if (place := found.location) and place.callers]
    assert places
    assert {Path(place.callers[-1].path).name for place in places} == {"kernels.py"}
    assert {Path(place.path).name for place in places} == {"standard.py"}


@pytest.mark.skipif(VERSION < (3, 6), reason="earlier versions print no names")
def test_values_have_the_sources_names() -> None:
    kernel = parsed("early_return").kernel
    assert [kernel.names[value] for value in kernel.arguments] == ["x_ptr", "out_ptr", "n"]
    assert {"start", "lanes", "x"} <= set(kernel.names.values())
