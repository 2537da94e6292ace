"""Keeps the user's code to itself, as far as the operating system can (Landlock, Linux 5.13 and later).

Numbers are those of <linux/landlock.h> and <linux/prctl.h>; the system calls' are the same on every architecture.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tritonaudit.execute.namespaces import drop_capabilities, leave_network

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_WRITE_FILE = 1 << 1
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REMOVE_FILE, _MAKE_FILE = 1 << 5, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "nvidia*", "kfd", "dri/*")
_KERNELS = "TRITON_CACHE_DIR"
_HOMES = {"HOME": "", "XDG_CACHE_HOME": ".cache", "TMPDIR": "", "TRITON_HOME": "", _KERNELS: ".triton"}

_SHARED_MEMORY = Path("/dev/shm")

_scratch: Path | None = None


def scratch_for_worker() -> Path:
    """A folder that a worker may write to, made for it by whoever removes it."""
    global _scratch
    _scratch = Path(tempfile.mkdtemp(prefix="tritonaudit-"))
    return _scratch


def emptied_scratch() -> bool:
    """Whether nothing is left in that folder, from which all is removed."""
    if _scratch is None:
        return True
    try:
        for entry in list(_scratch.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    except OSError:
        return False
    return True


def confine(*, uses_gpu: bool = False) -> bool:
    """From now on let this process, and those it starts, write nowhere but in the worker's scratch folder.

    That is their home and the place of their temporary files; memory that processes share is open to them, too. They
    are taken off the network where the system allows that, unless they use a GPU, and off TCP where the kernel can
    (6.7). Where it can (6.12) they signal nobody but each other. Of root's capabilities those to read and write are
    left. What was opened before stays open, and everything may be read. False where the system has no Landlock. A
    process that is confined already has its own descendants be less still: they can do nothing to it.
    """
    if _scratch is None:
        return False
    if not uses_gpu:
        leave_network((_scratch, _SHARED_MEMORY))
    version = _version()
    if version < 1:
        return False
    _move_home(_scratch)
    drop_capabilities()
    return _restrict(_scratch, version)


def borrow_compiled() -> None:
    """Have this process, once it is confined, find what Triton has compiled before, and leave nothing there itself."""
    if _scratch is None:
        return
    home = Path(os.environ.get("TRITON_HOME") or Path.home(), ".triton", "cache")
    lent = Path(os.environ.get(_KERNELS) or home)
    own = Path(tempfile.mkdtemp(dir=_scratch, prefix="kernels-"))
    with contextlib.suppress(OSError):
        for entry in os.scandir(lent):
            os.symlink(entry.path, own / entry.name)
    _HOMES[_KERNELS] = own.name


def _move_home(scratch: Path) -> None:
    for name, folder in _HOMES.items():
        os.environ[name] = str(scratch / folder)
    tempfile.tempdir = None


def _version() -> int:
    if sys.platform != "linux":
        return 0
    found: int = _libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return found


def _restrict(scratch: Path, version: int) -> bool:
    handled = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if version >= 6 else 0
    words = (handled, *((_BIND_TCP | _CONNECT_TCP,) if version >= 4 else ()), *((scoped,) if version >= 6 else ()))
    attributes = (ctypes.c_uint64 * len(words))(*words)
    libc = _libc()
    rules = libc.syscall(_CREATE_RULESET, attributes, ctypes.sizeof(attributes), 0)
    if rules < 0:
        return False
    try:
        _allow(libc, rules, scratch, handled)
        _allow(libc, rules, _SHARED_MEMORY, handled & (_WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _TRUNCATE))
        for device in (found for name in _DEVICES for found in Path("/dev").glob(name) if not found.is_dir()):
            _allow(libc, rules, device, _WRITE_FILE | handled & _TRUNCATE)
        libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        is_done: bool = libc.syscall(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)
    return is_done


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(libc: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    """Allow it beneath the path, or of the file that it is; nothing where that is not there."""
    with contextlib.suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = _PathBeneath(rights, place)
            libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
