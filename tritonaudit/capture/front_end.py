"""Triton's front end: one specialisation of a kernel to TTIR, or to its complaint at the user's line, with warnings."""

from __future__ import annotations

import inspect
import os
import re
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompileTimeAssertionFailure

from tritonaudit.capture import siblings
from tritonaudit.capture.launch import Program, SourceError

_NOTHING: Mapping[str, Any] = types.MappingProxyType({})
_TRITON = os.path.dirname(str(triton.__file__)) + os.sep


@dataclass(frozen=True)
class Built:
    """A program or why there is none, and what the front end warns of on the way."""

    outcome: Program | SourceError
    warnings: tuple[SourceError, ...] = ()


def build(
    source: Any,
    target: Any,
    name: str,
    options: dict[str, Any],
    fixed: Mapping[str, Any] = _NOTHING,
    beside: Sequence[tuple[Any, Any]] = (),
) -> Built:
    """The program of an `ASTSource` for a `GPUTarget` called `name`, after Triton's own TTIR passes.

    `fixed` are options that take the place of those that Triton decides by the target. `beside` are the backends of
    targets with their options there: what would be another program on one of them tells them apart.
    """
    backend = make_backend(target)
    parsed = replace(backend.parse_options(dict(options)), **fixed)
    with _warnings() as warned:
        try:
            outcome: Program | SourceError = Program(
                name, _ttir(source, target, backend, parsed, beside), tuple(sorted(options.items()))
            )
        except Exception as error:
            outcome = _complaint(error, source)
    return Built(outcome, tuple(warned))


@contextmanager
def _warnings() -> Iterator[dict[SourceError, None]]:
    """What is warned of while a code generator is at a line of the user's."""
    found: dict[SourceError, None] = {}

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        place = _in_frames(frame for frame, _ in traceback.walk_stack(None))
        if place is not None:
            found[SourceError(" ".join(str(message).split()), *place)] = None

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield found


def _ttir(source: Any, target: Any, backend: Any, options: Any, beside: Sequence[tuple[Any, Any]]) -> str:
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    read, functions = options, _codegen(backend, options)
    if beside:
        read = siblings.Heeded(options, [theirs for _, theirs in beside])
        functions = siblings.heeded_functions(functions, [_codegen(*one) for one in beside])
    given = {
        "target": target,
        "options": read,
        "codegen_fns": functions,
        "module_map": backend.get_module_map(),
        "context": context,
    }
    module = source.make_ir(**{name: given[name] for name in inspect.signature(source.make_ir).parameters})
    text = str(optimised(module, source, target, backend, options))
    if beside:
        siblings.heed_text(text)
    return text


def optimised(module: Any, source: Any, target: Any, backend: Any, options: Any) -> Any:
    """The front end's module after Triton's own TTIR passes."""
    stages: dict[str, Any] = {}
    language = (source.language,) if "language" in inspect.signature(backend.add_stages).parameters else ()
    backend.add_stages(stages, options, *language)
    return stages["ttir"](module, {"target": target, **options.__dict__})


def _codegen(backend: Any, options: Any) -> Any:
    wanted = inspect.signature(backend.get_codegen_implementation).parameters
    return backend.get_codegen_implementation(*([options] if wanted else []))


def _complaint(error: Exception, source: Any) -> SourceError:
    """What the front end says, at the innermost line of the user's that it was at."""
    place = _innermost(error)
    message = _message(error)
    if place is None:
        code = source.fn.fn.__code__
        return SourceError(message, code.co_filename, code.co_firstlineno, 1)
    return SourceError(message, *place)


def _innermost(error: BaseException) -> tuple[str, int, int] | None:
    """File, line and column of the deepest code generator in the traceback."""
    found = None
    cause: BaseException | None = error
    while cause is not None:
        place = _in_traceback(cause.__traceback__)
        found = place or found
        cause = cause.__cause__
    return found


def _in_traceback(trace: types.TracebackType | None) -> tuple[str, int, int] | None:
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    return next((place for frame in reversed(frames) if (place := _visited(frame)) is not None), None)


def _in_frames(frames: Iterable[types.FrameType]) -> tuple[str, int, int] | None:
    """File, line and column of the innermost code generator that is in no file of Triton's own."""
    places = (place for frame in frames if (place := _visited(frame)) is not None)
    return next((place for place in places if not place[0].startswith(_TRITON)), None)


def _visited(frame: types.FrameType) -> tuple[str, int, int] | None:
    """What a frame's code generator is at, where it is one's."""
    if not frame.f_code.co_name.startswith("visit"):
        return None
    generator: Any = frame.f_locals.get("self")
    node: Any = frame.f_locals.get("node")
    if not hasattr(generator, "begin_line") or not hasattr(node, "lineno"):
        return None
    first = getattr(generator, "begin_col", 1)  # before 3.9, columns count within the dedented kernel
    return (generator.file_name, generator.begin_line + node.lineno, first + node.col_offset)


def _message(error: BaseException) -> str:
    """The words of the deepest cause, without the excerpt of the source that Triton puts before them."""
    words = asserted = ""
    cause: BaseException | None = error
    while cause is not None:
        own = getattr(cause, "error_message", None) if hasattr(cause, "src") else str(cause)
        words = own or words
        if isinstance(cause, CompileTimeAssertionFailure):
            asserted = "static assertion failed: "
        cause = cause.__cause__
    quoted = _REPR.fullmatch(words.strip())
    return asserted + ((quoted["text"] if quoted else words.strip()) or type(error).__name__)


_REPR = re.compile(r"\w+\((?P<quote>['\"])(?P<text>.*)(?P=quote)\)", re.DOTALL)
