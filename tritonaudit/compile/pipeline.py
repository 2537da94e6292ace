"""Drives Triton's own compiler from TTIR to assembly, without a driver or a GPU. Imports triton: for workers only."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

from tritonaudit.capture.launch import Program
from tritonaudit.compile.diagnostics import PROGRAM, Failure, diagnose
from tritonaudit.compile.facts import CompileError
from tritonaudit.hardware.targets import GpuTarget, gpu_target

ASSEMBLY = {"cuda": "ptx", "hip": "amdgcn"}
"""The stage of a backend whose text tells accesses and instructions."""

_MOST_SAID = 1 << 20  # bytes of standard error: a module that is dumped with an error is larger than all errors
_FROM_ELSEWHERE = (signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGINT, signal.SIGHUP)
_LAST = {"cuda": "cubin", "hip": "amdgcn"}  # hsaco would need a linker, and tells nothing more


@dataclass(frozen=True)
class Compilation:
    """What the stages made of a program: their texts by name, the binary, Triton's metadata, seconds per stage.

    `log` is what ptxas printed. `cubin` and `log` are None where ptxas did not run.
    """

    texts: Mapping[str, str]
    metadata: Mapping[str, Any]
    seconds: Mapping[str, float]
    cubin: bytes | None = field(default=None, repr=False)
    log: str | None = None


class AssemblerKilled(Exception):
    """Something else ended the assembler, as the kernel does when the machine runs out of memory."""


def compile_program(program: Program, through: str | None = None) -> Compilation | CompileError:
    """Compile up to the stage `through`, by default to the last one that needs no linker.

    The stages and their options are those of `triton.compile`, so is the result. A program that asks for more shared
    memory than a block can have is not assembled: it cannot be launched, and ptxas may take half a minute over it.
    Raises AssemblerKilled, which says nothing of the program.
    """
    target = gpu_target(program.target)
    last = through or _LAST[target.backend]
    texts: dict[str, str] = {"ttir": program.ttir}
    seconds: dict[str, float] = {}
    cubin = log = None
    with _stderr() as said:
        try:
            module, metadata, stages = _prepared(program, target)
        except Exception as error:
            failure: Exception | None = error
        else:
            failure = None
    if failure is not None:
        return diagnose(Failure(failure, "ttir", said.text, texts))
    for name, stage in stages.items():
        if name == "cubin" and _needs_too_much(metadata, target):
            break
        started = time.perf_counter()
        with _stderr() as said, _ptxas_log(stage) as logged, contextlib.redirect_stdout(io.StringIO()):
            try:
                module = stage(module, metadata)
            except AssemblerKilled:
                raise
            except Exception as error:
                failure = error
            else:
                failure = None
        seconds[name] = time.perf_counter() - started
        if failure is not None:
            return diagnose(Failure(failure, name, said.text, texts))
        if isinstance(module, bytes):
            cubin, log = module, logged.text
        else:
            texts[name] = str(module)
        if name == last:
            break
    return Compilation(texts, metadata, seconds, cubin, log)


def _prepared(program: Program, target: GpuTarget) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The parsed module, the metadata that stages add to, and the stages behind `ttir`."""
    gpu = GPUTarget(target.backend, target.arch, target.warp_size)
    backend = make_backend(gpu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = backend.parse_options(dict(program.options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = _parsed(program.ttir, context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, *_language(backend))
    del stages["ttir"]
    return module, {"target": gpu, **options.__dict__}, stages


def _language(backend: Any) -> tuple[Any, ...]:
    """Triton 3.6 on asks which language the source is in."""
    if len(inspect.signature(backend.add_stages).parameters) == 2:
        return ()
    from triton.backends.compiler import Language

    return (Language.TRITON,)


def _parsed(text: str, context: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, PROGRAM)
        path.write_text(text, encoding="utf-8")
        module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


def _needs_too_much(metadata: Mapping[str, Any], target: GpuTarget) -> bool:
    return target.shared_per_block is not None and metadata["shared"] > target.shared_per_block


# -- what the compiler says beside its result ------------------------------------------------------------------------


@dataclass
class _Said:
    text: str = ""


@contextlib.contextmanager
def _stderr() -> Iterator[_Said]:
    """Keeps what MLIR and LLVM write to the process's standard error.

    Where that is a file that can be read, as a worker's log is, it stays there too: if the compiler ends the process,
    its last words are found there.
    """
    said = _Said()
    sys.stderr.flush()
    if _can_be_read(2):
        start = os.fstat(2).st_size
        try:
            yield said
        finally:
            sys.stderr.flush()
            said.text = os.pread(2, _MOST_SAID, start).decode(errors="replace")
        return
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            said.text = os.pread(file.fileno(), _MOST_SAID, 0).decode(errors="replace")


def _can_be_read(descriptor: int) -> bool:
    """Whether it is a file that is open for reading too; a terminal or a pipe cannot be read from a place."""
    try:
        os.pread(descriptor, 1, 0)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _ptxas_log(stage: Any) -> Iterator[_Said]:
    """Keeps the log of the ptxas that the stage runs: Triton asks it for `-v`, writes that to a file and deletes it."""
    said = _Said()
    namespace = getattr(stage, "__globals__", {})
    if namespace.get("subprocess") is not subprocess:
        yield said
        return

    def run(command: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return subprocess.run(command, *arguments, **keywords)
        except subprocess.CalledProcessError as error:
            if -error.returncode in _FROM_ELSEWHERE:
                raise AssemblerKilled(f"ptxas was killed by signal {-error.returncode}") from error
            raise
        finally:
            log = getattr(keywords.get("stderr"), "name", None)
            if isinstance(log, str):
                said.text = Path(log).read_text(errors="replace")

    namespace["subprocess"] = SimpleNamespace(**{**vars(subprocess), "run": run})
    try:
        yield said
    finally:
        namespace["subprocess"] = subprocess
