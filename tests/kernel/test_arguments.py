"""Arguments of which Triton makes constants, and what the compiler says of their methods."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def method(x, stride):
    tl.store(x + tl.program_id(0) * stride.to(tl.int64), 1.0)


@triton.jit
def function(x, stride):
    tl.store(x + tl.program_id(0) * tl.cast(stride, tl.int64), 1.0)
"""


def compiles(path: Path, name: str, *, one: bool) -> bool:
    """Whether the kernel compiles, for an argument that is 1 or for another one."""
    pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, CompilationError, compile

    path.write_text(KERNEL, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if "constants" in ASTSource.__init__.__code__.co_varnames:
        signature, constants = {"x": "*fp32", "stride": "i32"}, {"constants": {"stride": 1} if one else {}}
    else:
        signature = {"x": "*fp32", "stride": "constexpr" if one else "i32"}
        constants = {"constexprs": {"stride": 1} if one else {}}
    try:
        compile(ASTSource(fn=getattr(module, name), signature=signature, **constants), target=GPUTarget("cuda", 90, 32))
    except CompilationError:
        return False
    return True


def test_a_method_of_an_argument_that_is_one_does_not_compile(tmp_path: Path) -> None:
    assert compiles(tmp_path / "kernel.py", "method", one=False)
    assert not compiles(tmp_path / "kernel.py", "method", one=True)


def test_a_function_of_it_does(tmp_path: Path) -> None:
    assert compiles(tmp_path / "kernel.py", "function", one=False)
    assert compiles(tmp_path / "kernel.py", "function", one=True)
