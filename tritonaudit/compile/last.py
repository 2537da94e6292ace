"""What each file's kernels came to when they were last compiled, which editors show. Imports no torch or triton."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.cache_folder import cache_folder, write_whole
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.data import NotData, decode, encode
from tritonaudit.source.decode import Undecodable
from tritonaudit.source.decode import decode as decode_text
from tritonaudit.source.outline import JitFunction, Module, Unparsable, outline


@dataclass(frozen=True)
class LastCompiled:
    """A kernel, its first line, and the digest of its text and that of the file's other kernels and helpers."""

    kernel: CompiledKernel
    line: int
    text: str

    def is_of(self, module: Module, jit: JitFunction) -> bool:
        """Whether the kernel, and all that it may call in its file, is still the same."""
        return _digest(module, jit) == self.text


@dataclass(frozen=True)
class _File:
    kernels: tuple[LastCompiled, ...]


def keep_last(kernels: Sequence[CompiledKernel]) -> None:
    """Write down what the kernels came to, file by file; where that cannot be done, nothing is written."""
    by_path: dict[str, list[CompiledKernel]] = {}
    for kernel in kernels:
        by_path.setdefault(kernel.path, []).append(kernel)
    for path, those in by_path.items():
        with suppress(OSError, Undecodable, Unparsable, NotData):
            module = outline(path, decode_text(Path(path).read_bytes()))
            found = [
                LastCompiled(kernel, jit.first_line, _digest(module, jit))
                for kernel in those
                for jit in module.jit
                if jit.first_line <= kernel.span.line <= jit.last_line and jit.name == kernel.name
            ]
            now = {one.kernel.name for one in found}
            found += [one for one in last_compiled(Path(path)) if one.kernel.name not in now]
            write_whole(_place(path), encode(_File(tuple(found))))


def last_compiled(path: Path) -> tuple[LastCompiled, ...]:
    """What the kernels of the file came to; none where it was not compiled, or by another release of tritonaudit."""
    try:
        found: _File = decode(_File, _place(str(path)).read_bytes())
    except (OSError, NotData, ValueError, TypeError, LookupError):
        return ()
    return found.kernels


def _place(path: str) -> Path:
    name = hashlib.sha256(str(Path(path).absolute()).encode("utf-8", "surrogatepass")).hexdigest()
    return cache_folder("last") / f"{name}.json"


def _digest(module: Module, jit: JitFunction) -> str:
    ordered = (jit, *(one for one in module.jit if one is not jit))
    text = "\n".join(line for one in ordered for line in module.lines[one.first_line - 1 : one.last_line])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
