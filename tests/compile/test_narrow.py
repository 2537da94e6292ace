"""Why accesses are narrow: what a compilation under an assumption shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import VERSION, Pointer, accesses, analysed, line, program
from tritonaudit.compile import narrow
from tritonaudit.compile.analyse import analyse_program, line_accesses
from tritonaudit.compile.cache import Cache
from tritonaudit.compile.facts import Cause, CompileError, LineAccess
from tritonaudit.compile.narrow import narrow_accesses
from tritonaudit.compile.pipeline import compile_program
from tritonaudit.compile.ttir import Module

HALF, FULL = Pointer("fp16"), Pointer("fp32")
APART = Pointer("fp32", address=(1 << 20) + 4)
"""Four bytes off, as a view that leaves out its first element is."""


def causes(
    kernel: Any, target: str = "sm_80", **arguments: Any
) -> list[tuple[int, str, int, int, Cause, tuple[str, ...]]]:
    """Line, kind, width, possible width, cause and parameters of each narrow access."""
    names = [p.name for p in kernel.params if not p.is_constexpr and arguments[p.name] != 1]
    known = {f"arg{number}": name for number, name in enumerate(names)}
    return [
        (
            found.access.span.line,
            found.access.kind.name,
            found.bytes,
            found.could_be,
            found.cause,
            tuple(known.get(name, name) for name in found.arguments),
        )
        for found in analysed(kernel, target, **arguments).narrow
    ]


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "gfx942"])
def test_wide_accesses_are_none(target: str) -> None:
    assert causes(kernels.copy, target, src=FULL, dst=FULL, n=1024, BLOCK=1024) == []


@pytest.mark.parametrize("target", ["sm_80", "gfx942"])
def test_a_tile_too_small_to_be_vectorised_is_not_narrow(target: str) -> None:
    assert causes(kernels.copy, target, src=FULL, dst=FULL, n=1024, BLOCK=128) == []
    assert causes(kernels.copy, target, src=APART, dst=APART, n=1001, BLOCK=128) == []


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "gfx942"])
def test_a_misaligned_pointer(target: str) -> None:
    kernel = kernels.copy
    load = line(kernel, "tl.load")
    found = causes(kernel, target, src=APART, dst=FULL, n=1024, BLOCK=1024)
    assert found == [(load, "LOAD", 4, 16, Cause.ALIGNMENT, ("src",))]


def test_a_stride() -> None:
    kernel = kernels.copy_rows
    load = line(kernel, "tl.load")
    assert causes(kernel, src=HALF, dst=HALF, stride=1001, BLOCK=1024) == [
        (load, "LOAD", 2, 16, Cause.STRIDE, ("stride",))
    ]


def test_a_stride_on_amd() -> None:
    """Up to Triton 3.3 LLVM joins a lane's unmasked loads, which on AMD need not be aligned."""
    kernel = kernels.copy_rows
    narrow = [] if VERSION < (3, 6) else [(line(kernel, "tl.load"), "LOAD", 2, 8, Cause.STRIDE, ("stride",))]
    assert causes(kernel, "gfx942", src=HALF, dst=HALF, stride=1001, BLOCK=1024) == narrow


def test_a_mask() -> None:
    kernel = kernels.copy
    load, store = line(kernel, "tl.load"), line(kernel, "tl.store")
    assert causes(kernel, src=FULL, dst=FULL, n=1001, BLOCK=1024) == [
        (load, "LOAD", 4, 16, Cause.MASK, ("n",)),
        (store, "STORE", 4, 16, Cause.MASK, ("n",)),
    ]


def test_a_stride_between_lanes() -> None:
    kernel = kernels.copy_lanes
    assert causes(kernel, src=FULL, dst=FULL, stride=48, BLOCK=1024) == [
        (line(kernel, "tl.load"), "LOAD", 4, 16, Cause.LANE_STRIDE, ("stride",))
    ]


def test_only_what_reaches_an_access_is_blamed_for_it() -> None:
    kernel = kernels.copy
    load, store = line(kernel, "tl.load"), line(kernel, "tl.store")
    assert causes(kernel, src=APART, dst=FULL, n=1001, BLOCK=1024) == [
        (load, "LOAD", 4, 16, Cause.ALIGNMENT, ("src", "n")),
        (store, "STORE", 4, 16, Cause.MASK, ("n",)),
    ]


def test_what_is_needed_together_is_blamed_together() -> None:
    kernel = kernels.softmax
    assert causes(kernel, src=HALF, dst=HALF, stride=1001, n=1001, BLOCK=1024) == [
        (line(kernel, "tl.load"), "LOAD", 2, 16, Cause.STRIDE, ("stride", "n")),
        (line(kernel, "tl.store"), "STORE", 2, 16, Cause.STRIDE, ("stride", "n")),
    ]


def test_a_loop_and_a_product() -> None:
    kernel = kernels.matmul
    arguments: dict[str, Any] = {"a": HALF, "b": HALF, "c": HALF, "m": 1024, "n": 1024, "k": 1001, "stride_am": 1001}
    arguments |= {"stride_bk": 1024, "stride_cm": 1024, "TILE_M": 64, "TILE_N": 64, "TILE_K": 32}
    assert causes(kernel, **arguments) == [(line(kernel, "left = "), "LOAD", 2, 16, Cause.STRIDE, ("k", "stride_am"))]


def test_helpers_are_blamed_at_their_own_lines() -> None:
    kernel = kernels.copy_by_helper
    found = causes(kernel, src=HALF, dst=Pointer("fp16", (1 << 20) + 2), stride=1024, n=1024, BLOCK=1024)
    assert found == [(line(kernel, "tl.store"), "STORE", 2, 16, Cause.ALIGNMENT, ("dst",))]


@pytest.mark.skipif(VERSION < (3, 6), reason="Triton 3.3 has no tensor descriptors")
def test_bulk_copies_have_no_width() -> None:
    arguments = {"src": HALF, "dst": HALF, "rows": 1001, "columns": 1001, "stride": 1024, "TILE": 64}
    assert causes(kernels.copy_descriptor, "sm_90", **arguments) == []


@pytest.mark.skipif(VERSION < (3, 6), reason="before 3.6 a module does not tell names")
def test_parameters_are_named_as_in_the_source() -> None:
    (found,) = analysed(kernels.copy_rows, "sm_80", src=HALF, dst=HALF, stride=1001, BLOCK=1024).narrow
    assert found.arguments == ("stride",)


# -- how often it compiles ---------------------------------------------------------------------------------------------


def compilations(kernel: Any, **arguments: Any) -> int:
    """How often a program is compiled again to explain its accesses."""
    given = program(kernel, "sm_80", **arguments)
    tried: list[str] = []

    def recompile(module: Module) -> tuple[LineAccess, ...]:
        tried.append(module.text)
        compilation = compile_program(replace(given, ttir=module.text), "ptx")
        assert not isinstance(compilation, CompileError)
        return line_accesses(compilation, module)

    narrow_accesses(Module(given.ttir), accesses(kernel, "sm_80", **arguments), recompile)
    assert len(set(tried)) == len(tried)
    return len(tried)


def test_nothing_is_compiled_where_nothing_can_be_assumed() -> None:
    assert compilations(kernels.copy, src=FULL, dst=FULL, n=1024, BLOCK=1024) == 0
    assert compilations(kernels.copy, src=FULL, dst=FULL, n=1024, BLOCK=128) == 0


def test_one_unknown_takes_one_compilation() -> None:
    assert compilations(kernels.copy, src=FULL, dst=FULL, n=1001, BLOCK=1024) == 1


def test_all_unknowns_together_take_one_compilation_each_and_one() -> None:
    assert compilations(kernels.copy, src=APART, dst=APART, n=1001, BLOCK=1024) == 4


def test_what_is_not_found_in_time_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "MOST_COMPILATIONS", 2)
    given = program(kernels.copy, "sm_80", src=APART, dst=APART, n=1001, BLOCK=1024)
    assert analyse_program(given).narrow == ()


def test_what_there_is_no_time_to_explain_is_not_kept(tmp_path: Path) -> None:
    given = program(kernels.copy, "sm_80", src=APART, dst=FULL, n=1024, BLOCK=1024)
    cache = Cache(tmp_path)
    known = analyse_program(given, cache, until=0.0)
    assert (known.explained, known.narrow, known.error, cache.get(given)) == (False, (), None, None)
    assert analyse_program(given, cache).narrow


def test_an_assumption_that_does_not_compile_explains_nothing() -> None:
    given = program(kernels.copy, "sm_80", src=FULL, dst=FULL, n=1001, BLOCK=1024)
    found = accesses(kernels.copy, "sm_80", src=FULL, dst=FULL, n=1001, BLOCK=1024)
    assert narrow_accesses(Module(given.ttir), found, lambda module: None) == ()


def test_of_two_strides_one_is_enough() -> None:
    kernel = kernels.copy_strided_tile
    for target in ("sm_80", "gfx942"):
        ((*found, arguments),) = causes(kernel, target, src=FULL, dst=FULL, rows=4096, columns=64, TILE=64)
        assert found == [line(kernel, "tl.load"), "LOAD", 4, 16, Cause.LANE_STRIDE]
        assert arguments in [("rows",), ("columns",)]
