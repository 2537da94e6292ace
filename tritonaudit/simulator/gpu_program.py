"""A program as Triton lays it out over the threads of the GPU as which the engine can compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from tritonaudit.capture.launch import Program
from tritonaudit.compile.facts import CompileError

TARGET = "sm_90"
"""An H100."""

OPTIONS: Mapping[str, Any] = MappingProxyType({"max_num_imprecise_acc_default": 1 << 30})
"""What Triton makes of the language's defaults for that GPU, where the program is made for another."""

_OF_A_TARGET = ("arch", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes")
"""Options that a target decides."""


@lru_cache(maxsize=64)
def ttgir_of(program: Program) -> str:
    """Its TTGIR; empty where Triton does not compile it for that GPU."""
    from tritonaudit.compile.pipeline import compile_program  # imports Triton, which the engine can do without

    options = tuple((name, value) for name, value in program.options if name not in _OF_A_TARGET)
    compiled = compile_program(replace(program, target=TARGET, options=options), through="ttgir")
    return "" if isinstance(compiled, CompileError) else compiled.texts["ttgir"]
