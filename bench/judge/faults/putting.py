"""Puts a fault into the functions of this process, and takes it out again."""

from __future__ import annotations

import gc
import os
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.judge.faults.mutants import Mutant, Target
    from bench.judge.faults.programs import Programs


def functions_of(targets: Sequence[Target], programs: Programs) -> dict[Target, list[Any]]:
    """What stands for each target in this process: kernels that were launched, and functions of Python's."""
    files = {target.path for target in targets} | {os.path.realpath(target.path) for target in targets}
    functions = (one for one in gc.get_objects() if type(one) is types.FunctionType)
    wrappers = [one for one in functions if one.__code__.co_filename in files]
    return {
        target: [one for one in programs.kernels() if _is_there(one.fn.__code__, target)]
        if target.is_kernel
        else [one for one in wrappers if any(_is_there(code, target) for code in _codes(one.__code__))]
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
    """The function may be the one around the target."""
    old = function.__code__
    whole = compile(mutant.text, mutant.target.path, "exec", dont_inherit=True)
    for new in _codes(whole):
        if (new.co_name, new.co_firstlineno, new.co_freevars) == (old.co_name, old.co_firstlineno, old.co_freevars):
            undone(setattr, function, "__code__", old)
            function.__code__ = new
            return True
    return False


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """It, and all that is defined in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


def _is_there(found: types.CodeType, target: Target) -> bool:
    """Whether the code is that of the target: its first line is that of its first decorator, or of its `def`."""
    is_near = found.co_firstlineno <= target.line <= found.co_firstlineno + _MOST_DECORATED
    is_alike = found.co_name == target.name and is_near
    return is_alike and os.path.realpath(found.co_filename) == os.path.realpath(target.path)


_MOST_DECORATED = 400
"""Lines of decorators, such as an autotuner's configurations, at most."""
