"""Takes a process off the network, where the operating system lets it (Linux, network and user namespaces).

Numbers are those of <linux/sched.h>.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


def leave_network() -> bool:
    """From now on let this process, which has one thread, and those it starts reach no other machine.

    Sockets that are open stay so. Without rights that takes a user namespace, in which the process is who it was, and
    which many systems forbid: then False, and nothing has changed.
    """
    if sys.platform != "linux":
        return False
    return _left(0) or (_can_have_users() and _left(_NEW_USER))


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
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NET | more) != 0:
        return False
    if more:
        for name, text in (("uid_map", f"{user} {user} 1"), ("setgroups", "deny"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    return True
