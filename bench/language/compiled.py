"""Whether the installed Triton compiles a mutant: its front end alone, in a process that may crash."""

from __future__ import annotations

import importlib.util
import inspect
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.language.mutants import Mutant

_SECONDS = 20


def compiles(mutant: Mutant) -> tuple[bool, str]:
    """Whether TTIR comes of it, and what is said where none does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(_SECONDS)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        with os.fdopen(writing, "w") as answer:
            answer.write(_outcome(mutant))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text == "compiles", text or "crashed"


def _outcome(mutant: Mutant) -> str:
    from triton.backends.compiler import GPUTarget

    from tritonaudit.capture.front_end import build
    from tritonaudit.capture.launch import Program

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.py"
        path.write_text(mutant.source, encoding="utf-8")
        try:
            kernel = _kernel(path, mutant.kernel)
            outcome = build(_source(kernel, mutant), GPUTarget("cuda", 90, 32), "sm_90", {}).outcome
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "compiles" if isinstance(outcome, Program) else outcome.message


def _kernel(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location("mutant", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutant"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def _source(kernel: Any, mutant: Mutant) -> Any:
    from triton.compiler import ASTSource

    constants = dict(mutant.constants)
    types = {name: mutant.types.get(name, "constexpr" if name in constants else "i32") for name in kernel.arg_names}
    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:
        return ASTSource(fn=kernel, signature=types, constexprs=constants)
    return ASTSource(fn=kernel, signature=types, constants=constants)
