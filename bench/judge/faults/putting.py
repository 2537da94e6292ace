"""Puts a fault into the functions of this process, and takes it out again."""

from __future__ import annotations
import __future__

import gc
import os
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.judge.faults.mutants import Mutant, Target
    from bench.judge.faults.programs import Programs


def functions_of(targets: Iterable[Target], programs: Programs) -> dict[Target, list[Any]]:
    """What stands for each target in this process: kernels that were launched, and functions of Python's."""
    wrappers = [one for one in gc.get_objects() if type(one) is types.FunctionType]
    return {
        target: [one for one in programs.kernels() if _is_there(one.fn.__code__, target)]
        if target.is_kernel
        else [one for one in wrappers if _is_there(one.__code__, target)]
        for target in targets
    }


@contextmanager
def put_in(mutant: Mutant, functions: Sequence[Any], programs: Programs) -> Iterator[bool]:
    """Meanwhile the functions have the fault; False where there are none, or they hold variables of another one."""
    with ExitStack() as undone:
        done = [
            _put_in_kernel(mutant, one, programs, undone.callback)
            if mutant.target.is_kernel
            else _put_in_wrapper(mutant, one, undone.callback)
            for one in functions
        ]
        yield any(done)


def _put_in_kernel(mutant: Mutant, kernel: Any, programs: Programs, undone: Callable[..., Any]) -> bool:
    def update(text: str) -> None:
        kernel._unsafe_update_src(text)
        programs.forget(kernel)

    undone(update, kernel.src)
    update(mutant.function)
    return True


def _put_in_wrapper(mutant: Mutant, function: types.FunctionType, undone: Callable[..., Any]) -> bool:
    made: dict[str, Any] = {}
    flags = function.__code__.co_flags & _ANNOTATIONS
    exec(compile(mutant.function, mutant.target.path, "exec", flags=flags), dict(function.__globals__), made)
    new = made[mutant.target.name]
    if new.__code__.co_freevars != function.__code__.co_freevars:
        return False
    undone(setattr, function, "__code__", function.__code__)
    function.__code__ = new.__code__
    return True


def _is_there(found: types.CodeType, target: Target) -> bool:
    """Whether the code is that of the target: its first line is that of its first decorator, or of its `def`."""
    is_near = found.co_firstlineno <= target.line <= found.co_firstlineno + _MOST_DECORATED
    is_alike = found.co_name == target.name and is_near
    return is_alike and os.path.realpath(found.co_filename) == os.path.realpath(target.path)


_MOST_DECORATED = 400
"""Lines of decorators, such as an autotuner's configurations, at most."""
_ANNOTATIONS = __future__.annotations.compiler_flag
"""Whether annotations are evaluated, as in its module."""
