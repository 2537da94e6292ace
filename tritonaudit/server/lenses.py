"""What the last compilation of a kernel came to: above its launches, and at its accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.last import LastCompiled
from tritonaudit.kernel.launch import launches_of
from tritonaudit.server.texts import Text
from tritonaudit.source.outline import JitFunction, Module

_MOST_CONFIGS = 2


def lenses(module: Module, known: Sequence[LastCompiled], text: Text) -> list[lsp.CodeLens]:
    """One above each launch of a kernel of the file that was compiled."""
    found = []
    for jit, launches in launches_of(module).items():
        for title in _titles(module, jit, known):
            for launch in launches:
                start = text.position(launch.call.lineno, launch.call.col_offset + 1)
                found.append(lsp.CodeLens(lsp.Range(start, start), lsp.Command(title, "")))
    return sorted(found, key=lambda lens: lens.range.start.line)


def _titles(module: Module, jit: JitFunction, known: Sequence[LastCompiled]) -> Iterator[str]:
    last = _last_of(module, jit, known)
    if last is None or not last.kernel.compiled:
        return
    configs = list(dict.fromkeys(one.config for one in last.kernel.compiled if one.config))
    shown = "; ".join(configs[:_MOST_CONFIGS])
    more = f" and {len(configs) - _MOST_CONFIGS} more" if len(configs) > _MOST_CONFIGS else ""
    parts = [f"{shown}{more}"] if shown else []
    parts += [f"{target}: {_needs(variants)}" for target, variants in _by_target(last.kernel).items()]
    changed = "" if last.is_of(module, jit) else " (before the last change of the kernel)"
    yield " · ".join(parts) + changed


def _last_of(module: Module, jit: JitFunction, known: Sequence[LastCompiled]) -> LastCompiled | None:
    """The compilation of a kernel: of its text, or of one with its name."""
    named = [one for one in known if one.kernel.name == jit.name]
    return next((one for one in named if one.is_of(module, jit)), named[0] if len(named) == 1 else None)


def _by_target(kernel: CompiledKernel) -> dict[str, list[Variant]]:
    found: dict[str, list[Variant]] = {}
    for variant in kernel.compiled:
        found.setdefault(variant.target, []).append(variant)
    return found


def _needs(variants: Sequence[Variant]) -> str:
    """The registers of a thread and what it spills, over all variants."""
    needed = [one.resources for one in variants if one.resources is not None]
    registers = sorted({one.registers for one in needed if one.registers is not None})
    spilled = max((one.spilled for one in needed if one.spilled is not None), default=None)
    most = " to ".join(map(str, dict.fromkeys((*registers[:1], *registers[-1:]))))
    reported = [f"{most} registers"] if most else []
    if spilled is not None:
        reported.append(f"{spilled} bytes spilled" if spilled else "no spills")
    return ", ".join(reported) or "compiles"


def widths(module: Module, known: Sequence[LastCompiled], line: int) -> Iterator[str]:
    """How wide the accesses of a line are where its kernel was compiled as it stands."""
    jit = next((jit for jit in module.jit if jit.first_line <= line <= jit.last_line), None)
    last = None if jit is None else _last_of(module, jit, known)
    if jit is None or last is None or not last.is_of(module, jit):
        return
    then = line - jit.first_line + last.line
    found: dict[str, set[int]] = {}
    for variant in last.kernel.compiled:
        for access in variant.accesses:
            if access.path == last.kernel.path and access.span.line <= then <= access.span.end_line:
                found.setdefault(variant.target, set()).update(width for width, _ in access.widths if width)
    reported = [f"{target} {', '.join(map(str, sorted(bytes)))}" for target, bytes in sorted(found.items()) if bytes]
    if reported:
        yield f"- bytes that a lane moves at once, as last compiled: {'; '.join(reported)}"
