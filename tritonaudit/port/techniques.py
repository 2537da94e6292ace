"""Which techniques a variant uses, as read from its source: what is written there, not what it is good for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tritonaudit.kernel.project import Project
from tritonaudit.kernel.tuning import OPTIONS, Autotune, Heuristics, decorators
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import JitFunction, Module, Unparsable, dotted_name, outline

_MASK_PLACE = {"load": 1, "store": 2}
"""At which place among the arguments of an access its mask is."""
_MOVES = {
    "make_block_ptr": "block pointers",
    "make_tensor_descriptor": "tensor descriptors",
    "dot": "`tl.dot`",
    "dot_scaled": "`tl.dot_scaled`",
    "static_range": "an unrolled loop (`tl.static_range`)",
    "multiple_of": "the hint `tl.multiple_of`",
    "max_contiguous": "the hint `tl.max_contiguous`",
    "assume": "the hint `tl.assume`",
}
_HINTS = ("eviction_policy", "cache_modifier", "input_precision", "num_stages", "warp_specialize")
_MOST_VALUES = 8


def techniques_of(path: Path) -> tuple[str, ...]:
    """What the source of a file says of each kernel, a sentence each; why nothing, where it cannot be read."""
    try:
        module = outline(str(path.absolute()), decode(path.read_bytes()))
    except (Undecodable, Unparsable) as error:
        return (f"cannot be read as Python: {error.message}",)
    except OSError as error:
        return (f"cannot be read: {error.strerror or error}",)
    if not module.jit:
        return ("no kernel of Triton is defined in it",)
    launches = _launches(module, path)
    return tuple(f"`{kernel.name}`: {', '.join(_reported(module, kernel, launches))}" for kernel in module.jit)


def _reported(module: Module, kernel: JitFunction, launches: list[tuple[str, ast.Call]]) -> Iterator[str]:
    yield from _tuning(module, kernel)
    yield from _blocks(kernel, launches)
    yield from _body(module, kernel)


def _tuning(module: Module, kernel: JitFunction) -> Iterator[str]:
    for found in decorators(module, kernel):
        if isinstance(found, Autotune):
            number = len(found.configs) if found.whole else "an unknown number of"
            key = ", ".join(name for name, _ in found.names("key"))
            yield f"autotuned over {number} configs{f' by {key}' if key else ''}"
            yield from _config_values(found)
        elif isinstance(found, Heuristics):
            yield f"heuristics for {', '.join(found.values) or 'what is not written out'}"
    if not any(isinstance(found, Autotune) for found in decorators(module, kernel)):
        yield "not autotuned"


def _config_values(autotune: Autotune) -> Iterator[str]:
    values: dict[str, dict[str, None]] = {}
    for config in autotune.configs:
        for name, node in {**config.constants, **config.options}.items():
            values.setdefault(name, {})[ast.unparse(node)] = None
    for name, written in values.items():
        listed = list(written)
        yield f"{name} of {', '.join(listed[:_MOST_VALUES])}{', …' if len(listed) > _MOST_VALUES else ''}"


def _blocks(kernel: JitFunction, launches: list[tuple[str, ast.Call]]) -> Iterator[str]:
    """What launches in this file give for constants and options, as it is written there."""
    wanted = {parameter.name for parameter in kernel.parameters if parameter.constexpr} | OPTIONS
    given = [keyword for name, call in launches if name == kernel.name for keyword in call.keywords]
    reported = (f"{keyword.arg} = `{ast.unparse(keyword.value)}`" for keyword in given if keyword.arg in wanted)
    yield from dict.fromkeys(reported)


def _body(module: Module, kernel: JitFunction) -> Iterator[str]:
    calls = list(_language_calls(module, kernel))
    accesses = [name for name, _ in calls if name in _MASK_PLACE]
    masked = sum(_is_masked(name, call) for name, call in calls if name in _MASK_PLACE)
    if accesses:
        yield f"{masked} of {len(accesses)} loads and stores masked"
    used = dict.fromkeys(name for name, _ in calls)
    yield from (said for name, said in _MOVES.items() if name in used)
    if atomics := [f"`tl.{name}`" for name in used if name.startswith("atomic_")]:
        yield f"atomics ({', '.join(atomics)})"
    if any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(kernel.node)):
        yield "a loop over blocks"
    hints = (keyword for _, call in calls for keyword in call.keywords if keyword.arg in _HINTS)
    yield from dict.fromkeys(f"{hint.arg} = `{ast.unparse(hint.value)}`" for hint in hints)


def _language_calls(module: Module, kernel: JitFunction) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Call) and (dotted := dotted_name(node.func)) is not None:
            head, _, name = module.origin(dotted).rpartition(".")
            if head == "triton.language":
                yield name, node


def _is_masked(name: str, call: ast.Call) -> bool:
    """Whether a mask is given; block pointers have their bounds checked instead."""
    is_named = any(keyword.arg in ("mask", "boundary_check") for keyword in call.keywords)
    return is_named or len(call.args) > _MASK_PLACE[name]


def _launches(module: Module, path: Path) -> list[tuple[str, ast.Call]]:
    host = Project(project_root(path)).host
    sites = [site for kernel in module.jit for site in host.launches(module, kernel, [])]
    calls = {id(site.call): (site.kernel.name, site.call) for site in sites}
    return sorted(calls.values(), key=lambda found: found[1].lineno)
