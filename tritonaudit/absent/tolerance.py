"""Which failures of a module's statement say that something is absent, and not that the module is wrong."""

from __future__ import annotations

import os
import sys
import traceback
from types import ModuleType
from typing import Any

from tritonaudit.absent.stand_in import reached_by
from tritonaudit.execute.blame import is_refusal, is_users

_LIBRARIES = ("torch", "triton")
"""Of whose modules it depends on the release, and on whose build it is, which names they have."""


def is_tolerable(error: Exception, *, is_package: bool) -> bool:
    """Whether a statement of a file, which may be a package's `__init__`, can be left out for failing so."""
    if is_package or reached_by(error) is not None or isinstance(error, FileNotFoundError):
        return True
    if isinstance(error, ImportError):
        return not _is_of_users(error.name) and not is_refusal(error)
    return _lacking_name(error) is not None or (isinstance(error, (TypeError, ValueError)) and _is_tritons(error))


def origin_in(error: Exception) -> str | None:
    """The dotted name of what is absent, where the failure tells it."""
    if (origin := reached_by(error)) is not None:
        return origin
    if isinstance(error, ImportError) and error.name is not None:
        name = _named(error)
        return f"{error.name}.{name}" if name else error.name
    return _lacking_name(error)


def _named(error: ImportError) -> str:
    """`tanh` of `cannot import name 'tanh' from 'triton.language.math'`."""
    before, _, after = str(error).partition("cannot import name '")
    return "" if before else after.partition("'")[0]


def _lacking_name(error: Exception) -> str | None:
    """The name that a module of torch or Triton does not have, though it is asked for."""
    if not isinstance(error, AttributeError):
        return None
    owner: Any = error.obj
    if not isinstance(owner, ModuleType) or owner.__name__.partition(".")[0] not in _LIBRARIES:
        return None
    return f"{owner.__name__}.{error.name}"


def _is_of_users(name: str | None) -> bool:
    """Whether it names a module of the user's that is there, as far as that."""
    origin = getattr(sys.modules.get(name or ""), "__file__", None)
    return origin is not None and is_users(origin)


def _is_tritons(error: Exception) -> bool:
    """Whether Triton itself refuses something, such as an autotuner's key."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    origin = getattr(sys.modules.get("triton"), "__file__", None)
    return origin is not None and frame.f_code.co_filename.startswith(os.path.dirname(origin) + os.sep)
