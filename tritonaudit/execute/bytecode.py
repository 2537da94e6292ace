"""Bytecode of what the warm process imports, in our cache where Python may leave none beside the source.

So it is in many containers: each command would compile the two thousand files of torch and sympy again.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import SourceFileLoader

from tritonaudit.cache_folder import cache_folder


def lacks_bytecode(package: str) -> bool:
    """Whether a package has no bytecode, and will have none once it is imported."""
    with suppress(Exception):  # a finder of the user's may do anything
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin and spec.cached and not os.path.exists(spec.cached):
            return sys.dont_write_bytecode or not os.access(os.path.dirname(spec.origin), os.W_OK)
    return False


@contextmanager
def bytecode_in_cache(is_used: bool) -> Iterator[None]:
    """Meanwhile what is imported is looked for in the cache, if so asked; nothing is written, as this takes long."""
    before = sys.pycache_prefix, sys.dont_write_bytecode
    if is_used:
        sys.pycache_prefix, sys.dont_write_bytecode = _folder(), True
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before


def keep_bytecode() -> None:
    """Put into the cache what it lacks of all that this process has imported, which takes seconds."""
    sys.pycache_prefix, sys.dont_write_bytecode = _folder(), False
    for module in list(sys.modules.values()):
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        if isinstance(loader, SourceFileLoader):
            with suppress(Exception):
                _keep(loader)


def _folder() -> str:
    return str(cache_folder("bytecode"))


def _keep(loader: SourceFileLoader) -> None:
    """Have Python write what it would have written; what was touched later than the source was installed is known."""
    cached = importlib.util.cache_from_source(loader.path)
    with suppress(OSError):
        if os.stat(cached).st_mtime_ns > os.stat(loader.path).st_ctime_ns:
            return
    loader.get_code(loader.name)
    os.utime(cached)
