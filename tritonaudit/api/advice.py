"""What to write instead of a name or a keyword that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from tritonaudit.api.problems import Problem, ProblemKind
from tritonaudit.api.table import Table
from tritonaudit.target import Version


@dataclass(frozen=True)
class Advice:
    """What to do; `name` is the word to write in the other's place, `safe` where it means the same.

    `in_library` says that it is the target's library that has it, which must be imported.
    """

    text: str
    name: str | None = None
    safe: bool = False
    in_library: bool = False


_LANGUAGE = "triton.language"
_LIBDEVICE = "triton.language.extra.libdevice"

_DTYPES: Mapping[str, str] = {
    "fp8": "float8e5", "fp16": "float16", "f16": "float16", "half": "float16", "bf16": "bfloat16",
    "fp32": "float32", "f32": "float32", "float": "float32", "fp64": "float64", "f64": "float64",
    "double": "float64", "bool": "int1", "bool_": "int1", "uint1": "int1", "i1": "int1", "i8": "int8",
    "u8": "uint8", "byte": "uint8", "i16": "int16", "short": "int16", "int": "int32", "i32": "int32",
    "i64": "int64", "long": "int64", "float8_e4m3fn": "float8e4nv", "float8_e4m3": "float8e4nv",
    "float8_e5m2": "float8e5", "float8e4m3": "float8e4nv", "float8e5m2": "float8e5",
}  # fmt: skip

_RENAMED: Mapping[str, str] = {
    "concat": "cat", "concatenate": "cat", "matmul": "dot", "mm": "dot", "dot_product": "dot", "transpose": "trans",
    "clip": "clamp", "select": "where", "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min",
    "expand": "broadcast_to", "iota": "arange", "fmax": "maximum", "fmin": "minimum", "stack": "join",
    "syncthreads": "debug_barrier", "barrier": "debug_barrier", "__syncthreads": "debug_barrier",
    "block_id": "program_id",
}  # fmt: skip

_WRITTEN: Mapping[str, str] = {
    "isnan": "write `x != x`",
    "isinf": "write `tl.abs(x) == float(\"inf\")`",
    "square": "write `x * x`",
    "reciprocal": "write `1.0 / x`",
    "relu": "write `tl.maximum(x, 0.0)`",
    "silu": "write `x * tl.sigmoid(x)`",
    "swish": "write `x * tl.sigmoid(x)`",
    "sign": "write `tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))`",
    "mean": "divide `tl.sum(x, axis)` by the number of elements",
    "any": "write `tl.max(mask.to(tl.int32), axis) != 0`",
    "all": "write `tl.min(mask.to(tl.int32), axis) != 0`",
    "ones": "write `tl.full(shape, 1, dtype)`",
    "ones_like": "write `tl.full(x.shape, 1, x.dtype)`",
    "empty": "write `tl.zeros(shape, dtype)`",
    "full_like": "write `tl.full(x.shape, value, x.dtype)`",
    "logical_and": "write `a & b`",
    "logical_or": "write `a | b`",
    "logical_not": "write `~a`",
    "atomic_sub": "write `tl.atomic_add(pointer, -value)`",
    "thread_id": "a program works on whole blocks and has no thread index; use `tl.arange`",
    "pointer": "take the pointer as a plain argument: Triton types it",
    "shared_memory": "the compiler places shared memory by itself; leave it out",
    "prefetch": "the compiler prefetches by itself (`num_stages`); leave it out",
}  # fmt: skip

_OF_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "dim": ("axis", "dims"),
    "axis": ("dim",),
    "keepdim": ("keep_dims",),
    "keepdims": ("keep_dims",),
    "masks": ("mask",),
    "others": ("other",),
    "percentiles": ("quantiles",),
    "unroll": ("loop_unroll_factor",),
}

_GONE: Mapping[str, str] = {
    "triton.language.make_block_ptr": "use `tl.make_tensor_descriptor` (since 3.4), or pointers with masks",
    "triton.language.advance": "use `tl.make_tensor_descriptor` (since 3.4) with offsets, or pointers with masks",
    "triton.language.libdevice": "write `from triton.language.extra import libdevice`",
    "triton.language.printf": "use `tl.device_print`",
    "triton.language.constexpr_function": "use `triton.constexpr_function` (since 3.5)",
    "triton.language._experimental_descriptor_load": "use `tl.make_tensor_descriptor(…).load(offsets)`, since 3.4",
    "triton.language._experimental_descriptor_store": "use `tl.make_tensor_descriptor(…).store(offsets, x)`, since 3.4",
    "triton.language._experimental_make_tensor_descriptor": "use `tl.make_tensor_descriptor` (since 3.4)",
    "triton.ops": "copy the kernel that you need into your project: the package was removed without a successor",
    "triton.language.view": "use `tl.reshape`",
}
_GONE_KEYWORDS: Mapping[tuple[str, str], str] = {
    ("triton.language.load", "boundary_check"): "removed together with block pointers: use a mask or a descriptor",
    ("triton.language.store", "boundary_check"): "removed together with block pointers: use a mask or a descriptor",
    ("triton.language.load", "padding_option"): "removed together with block pointers: use `other=` or a descriptor",
    ("triton.language.dot", "allow_tf32"): 'write `input_precision="tf32"` or `input_precision="ieee"`',
    ("triton.language.dot", "trans_a"): "pass `tl.trans(a)`",
    ("triton.language.dot", "trans_b"): "pass `tl.trans(b)`",
    (
        "triton.autotune",
        "warmup",
    ): "pass `do_bench=lambda kernel, quantiles: triton.testing.do_bench(kernel, warmup=…)`",
    ("triton.autotune", "rep"): "pass `do_bench=lambda kernel, quantiles: triton.testing.do_bench(kernel, rep=…)`",
}


def advice(table: Table, problem: Problem, versions: tuple[Version, ...]) -> Advice | None:
    """What to write instead, in all of `versions`; None where nothing is known."""
    if problem.kind in (ProblemKind.TOO_MANY, ProblemKind.MISSING):
        return _of_signature(problem)
    if problem.kind is ProblemKind.BY_PATH:
        last = problem.name.dotted.rpartition(".")[2]
        return _from_library(last)
    if problem.parameter is not None:
        return _of_parameter(problem, problem.parameter, versions)
    return _of_name(table, problem, versions)


def _from_library(name: str) -> Advice:
    text = f"use `libdevice.{name}`, after `from triton.language.extra import libdevice`"
    return Advice(text, safe=True, in_library=True)


def _of_signature(problem: Problem) -> Advice:
    definition = problem.name.definitions[problem.versions[-1]]
    return Advice(f"its parameters are `{definition.signature}`")


def _of_parameter(problem: Problem, parameter: str, versions: tuple[Version, ...]) -> Advice | None:
    known = _GONE_KEYWORDS.get((problem.name.dotted, parameter))
    if known is not None:
        return Advice(known)
    taken = _parameters(problem, versions)
    for other in _OF_KEYWORDS.get(parameter, ()):
        if other in taken:
            return Advice(f"write `{other}=`", other, safe=True)
    close = difflib.get_close_matches(parameter, sorted(taken), 1, 0.7)
    if close:
        return Advice(f"did you mean `{close[0]}`?", close[0])
    if problem.kind is ProblemKind.NOT_YET:
        return Advice("leave it out, or pass it only where the release takes it")
    return Advice("leave it out") if problem.kind is ProblemKind.DEPRECATED else _of_signature(problem)


def _parameters(problem: Problem, versions: tuple[Version, ...]) -> set[str]:
    """The names of the parameters that it has in all of the releases."""
    sets = [
        {parameter.name for parameter in definition.parameters or () if not parameter.star}
        for version in versions
        if (definition := problem.name.definitions.get(version)) is not None
    ]
    return set.intersection(*sets) if sets else set()


def _of_name(table: Table, problem: Problem, versions: tuple[Version, ...]) -> Advice | None:
    dotted = problem.name.dotted
    scope, _, name = dotted.rpartition(".")
    if dotted in _GONE:
        return Advice(_GONE[dotted], in_library=dotted == f"{_LANGUAGE}.libdevice")
    if problem.kind is ProblemKind.NOT_YET:
        return Advice("use it only where `hasattr` finds it, or ask for a release that has it")
    if scope == _LANGUAGE:
        if name in _DTYPES:
            return Advice(f"write `tl.{_DTYPES[name]}`", _DTYPES[name], safe=True)
        if name in _WRITTEN:
            return Advice(_WRITTEN[name])
        if name in _RENAMED:
            return Advice(f"write `tl.{_RENAMED[name]}`", _RENAMED[name])
    if scope in (_LANGUAGE, "triton.language.math"):
        if scope != _LANGUAGE and not table.name(f"{_LANGUAGE}.{name}").missing(versions):
            return Advice(f"write `tl.{name}`")
        if not table.name(f"{_LIBDEVICE}.{name}").missing(versions):
            return _from_library(name)
    return _similar(table, scope, name, versions)


def _similar(table: Table, scope: str, name: str, versions: tuple[Version, ...]) -> Advice | None:
    known = table.names(scope, versions[-1])
    close = [
        other
        for other in difflib.get_close_matches(name, known, 3, 0.74)
        if not table.name(f"{scope}.{other}").missing(versions)
    ]
    return Advice(f"did you mean `{close[0]}`?", close[0]) if close else None
