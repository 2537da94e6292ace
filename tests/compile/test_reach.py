"""Which arguments reach addresses and masks, in the TTIR that each version of Triton makes."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import Pointer, line, program
from tritonaudit.compile.reach import Reach, reaches
from tritonaudit.compile.ttir import Module

HALF, FULL = Pointer("fp16"), Pointer("fp32")


def reach(kernel: Any, text: str, **arguments: Any) -> tuple[set[str], set[str], set[str]]:
    """Parameters that reach the access in the line with the text: its address, only its mask, as strides of lanes."""
    module = Module(program(kernel, "sm_80", **arguments).ttir)
    wanted = line(kernel, text)
    (found,) = (reach for location, reach in reaches(module).items() if location.line == wanted)
    names = dict(zip((a.name for a in module.arguments), runtime(kernel, arguments), strict=True))
    return named(found, names)


def runtime(kernel: Any, arguments: dict[str, Any]) -> list[str]:
    return [
        parameter.name for parameter in kernel.params if not parameter.is_constexpr and arguments[parameter.name] != 1
    ]


def named(found: Reach, names: dict[str, str]) -> tuple[set[str], set[str], set[str]]:
    address, mask, strides = (
        {names[name] for name in part} for part in (found.address, found.mask, found.lane_strides)
    )
    return address, mask, strides


def test_a_row() -> None:
    arguments = {"src": HALF, "dst": HALF, "stride": 1000, "n": 1000, "BLOCK": 1024}
    assert reach(kernels.softmax, "tl.load", **arguments) == ({"src", "stride"}, {"n"}, set())
    assert reach(kernels.softmax, "tl.store", **arguments) == ({"dst", "stride"}, {"n"}, set())


def test_lanes_apart() -> None:
    arguments = {"src": FULL, "dst": FULL, "stride": 48, "BLOCK": 1024}
    assert reach(kernels.copy_lanes, "tl.load", **arguments) == ({"src", "stride"}, set(), {"stride"})
    assert reach(kernels.copy_lanes, "tl.store", **arguments) == ({"dst"}, set(), set())


def test_a_tile_whose_lanes_all_are_apart() -> None:
    arguments = {"src": HALF, "dst": HALF, "rows": 999, "columns": 998, "TILE": 32}
    assert reach(kernels.copy_strided_tile, "tl.load", **arguments)[2] == {"rows", "columns"}
    assert reach(kernels.copy_strided_tile, "tl.store", **arguments)[2] == set()


def test_a_loop_moves_an_address_by_what_it_carries_and_not_by_how_often_it_runs() -> None:
    arguments: dict[str, Any] = {"a": HALF, "b": HALF, "c": HALF, "m": 77, "n": 78, "k": 79}
    arguments |= {"stride_am": 80, "stride_bk": 81, "stride_cm": 82, "TILE_M": 64, "TILE_N": 64, "TILE_K": 32}
    assert reach(kernels.matmul, "left =", **arguments) == ({"a", "m", "stride_am"}, {"k"}, set())
    assert reach(kernels.matmul, "right =", **arguments) == ({"b", "n", "stride_bk"}, {"k"}, set())
    assert reach(kernels.matmul, "tl.store", **arguments) == ({"c", "stride_cm"}, {"m", "n"}, set())


def test_a_counter_is_made_of_its_first_value_and_its_step() -> None:
    arguments: dict[str, Any] = {"src": HALF, "dst": HALF, "weight": FULL, "bias": FULL, "stride": 999, "n": 999}
    arguments |= {"eps": 1e-5, "BLOCK": 512}
    assert reach(kernels.layer_norm, "w = tl.load", **arguments) == ({"weight"}, {"n"}, set())
    assert reach(kernels.layer_norm, "tl.store", **arguments) == ({"dst", "stride"}, {"n"}, set())


def test_of_a_loaded_offset_nothing_is_known() -> None:
    arguments = {"src": Pointer("i32"), "counts": FULL, "n": 1024, "bins": 16, "BLOCK": 1024}
    assert reach(kernels.histogram, "tl.atomic_add", **arguments) == ({"counts", "bins"}, {"n"}, set())


def test_both_branches_count() -> None:
    arguments = {"src": HALF, "other": HALF, "dst": HALF, "flag": 7, "stride": 999, "step": 998, "BLOCK": 128}
    address, mask, strides = reach(kernels.copy_either, "x = tl.load", **arguments)
    assert address >= {"src", "other", "stride", "step"}
    assert not mask
    assert not strides


def test_a_while_loop_carries_its_pointer() -> None:
    arguments = {"src": HALF, "dst": HALF, "n": 999, "stride": 998, "BLOCK": 128}
    address, mask, _ = reach(kernels.sum_rows, "total += tl.load", **arguments)
    assert address >= {"src", "stride"}
    assert "dst" not in address | mask


def test_a_helper_called_twice_is_reached_by_the_arguments_of_both_calls() -> None:
    arguments = {"src": HALF, "dst": HALF, "stride": 999, "n": 999, "BLOCK": 128}
    module = Module(program(kernels.copy_by_helper, "sm_80", **arguments).ttir)
    lines = {location.line for location in reaches(module)}
    assert lines == {line(kernels.load_row, "return tl.load"), line(kernels.copy_by_helper, "tl.store")}
