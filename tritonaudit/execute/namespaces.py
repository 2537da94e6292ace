"""Takes a process off the network, and its files from being written to, where the operating system lets it (Linux).

Numbers are those of <linux/sched.h>, <linux/mount.h> and <linux/capability.h>; that of the system call is the same on
every architecture.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_NEW_MOUNTS, _NEW_USER, _NEW_NET = 0x00020000, 0x10000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MOUNT_SETATTR, _HERE, _AND_BELOW, _READ_ONLY = 442, -100, 0x8000, 1
_DROP_FROM_BOUNDS = 24
_CAPABILITIES_VERSION = 0x20080522
_KEPT = 1 << 1 | 1 << 2
"""To read and write, as root, files of others: what may be written is not decided by that."""

_has_left = False


def leave_network(writable: Sequence[Path] = ()) -> bool:
    """From now on let this process, which has one thread, and those it starts reach no other machine.

    Where it can, it keeps them from changing modes, owners and times of files, too, but for those below the writable
    folders. Sockets that are open stay so. Without rights that takes a user namespace, in which the process is who it
    was, and which many systems forbid: then False, and nothing has changed.
    """
    global _has_left
    if sys.platform != "linux" or _has_left:
        return _has_left
    if not (_left(0) or (_can_have_users() and _left(_NEW_USER))):
        return False
    _has_left = True
    _keep(writable)
    return True


@cache
def _can_have_users() -> bool:
    """Whether a child that tries comes to no harm: one that is nobody in its namespace could not go back."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            os._exit(0 if _left(_NEW_USER) else 1)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def _left(more: int) -> bool:
    user, group = os.geteuid(), os.getegid()
    if _libc().unshare(_NEW_NET | _NEW_MOUNTS | more) != 0:
        return False
    if more:
        for name, text in (("uid_map", f"{user} {user} 1"), ("setgroups", "deny"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    return True


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace"))


def _keep(writable: Sequence[Path]) -> None:
    """Make all that is mounted read-only, as this process's namespace has it, but for these folders."""
    libc = _libc()
    if libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None) != 0:
        return
    places = [os.fsencode(folder) for folder in writable if folder.is_dir()]
    if any(libc.mount(place, place, None, _BIND | _RECURSIVE, None) != 0 for place in places):
        return

    def change(place: bytes, attributes: _MountAttributes) -> bool:
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        done: int = libc.syscall(_MOUNT_SETATTR, _HERE, place, _AND_BELOW, ctypes.byref(attributes), size)
        return done == 0

    if change(b"/", _MountAttributes(set=_READ_ONLY)):
        for place in places:
            change(place, _MountAttributes(clear=_READ_ONLY))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


def drop_capabilities() -> None:
    """Give up what root may beyond others, but for reading and writing their files; what is started has no more."""
    libc = _libc()
    header, sets = _CapabilityHeader(_CAPABILITIES_VERSION, 0), (ctypes.c_uint32 * 6)()
    if sys.platform != "linux" or libc.capget(ctypes.byref(header), sets) != 0:
        return
    for capability in range(64):
        if not _KEPT >> capability & 1:
            libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    first = [word & _KEPT for word in sets[:3]]
    libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)(*first, 0, 0, 0))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
