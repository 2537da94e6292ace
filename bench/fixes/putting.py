"""Puts other texts of a kernel, with the constants and the imports that they have, into this process."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bench.judge.faults.programs import Programs


@contextmanager
def put_in(text: str, imports: Sequence[str], kernels: Sequence[Any], programs: Programs) -> Iterator[None]:
    """Meanwhile these jit functions are what the text says. Raises what Python raises for a text that defines none."""
    known = [(one, one.src, one.signature, one.params, one.constexprs) for one in kernels]
    try:
        for one in kernels:
            _put(text, imports, one, programs)
        yield
    finally:
        for one, source, signature, params, constexprs in known:
            one._unsafe_update_src(source)
            one.signature, one.params, one.constexprs = signature, params, constexprs
            programs.forget(one)


def _put(text: str, imports: Sequence[str], kernel: Any, programs: Programs) -> None:
    for line in imports:
        exec(line, kernel.fn.__globals__)
    scope = dict(kernel.fn.__globals__)
    exec(compile(text, kernel.fn.__code__.co_filename, "exec"), scope)
    kernel.signature = inspect.signature(scope[kernel.fn.__name__])
    kernel.params = [
        type(old)(old.num, new, old.do_not_specialize, old.do_not_specialize_on_alignment)
        for old, new in zip(kernel.params, kernel.signature.parameters.values(), strict=True)
    ]
    kernel.constexprs = [one.num for one in kernel.params if one.is_constexpr]
    kernel._unsafe_update_src(text)
    programs.forget(kernel)
