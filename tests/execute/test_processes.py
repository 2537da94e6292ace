"""What the operating system does for a process."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_ALLOCATES = """
import resource, sys
from tritonaudit.execute.processes import keep_freed_memory

if sys.argv[1] == "keeps":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    blocks = [b"1" * (1 << 20) for _ in range(6)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def new_pages(how: str) -> int:
    """How many pages a process asks for that allocates the same again and again."""
    done = subprocess.run([sys.executable, "-c", _ALLOCATES, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told to")
def test_what_is_freed_is_used_again() -> None:
    assert new_pages("keeps") < new_pages("gives back") / 4
