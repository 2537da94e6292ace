"""Reading what ptxas prints, as its versions print it."""

from __future__ import annotations

import pytest

from tritonaudit.compile.ptxas import Complaint, Usage, complaint, usage

OLD = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'matmul' for 'sm_80'
ptxas info    : Function properties for matmul
    1064 bytes stack frame, 1704 bytes spill stores, 1280 bytes spill loads
ptxas info    : Used 255 registers, 1064 bytes cumulative stack size, 400 bytes cmem[0]
"""
NEW = """ptxas-blackwell info    : 0 bytes gmem
ptxas-blackwell info    : Compiling entry function 'matmul' for 'sm_90a'
ptxas-blackwell info    : Function properties for matmul
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas-blackwell info    : Used 165 registers, used 1 barriers, 8 bytes lmem, 408 bytes cmem[0]
ptxas-blackwell info    : Compile time = 45.337 ms
"""
CALLS = """ptxas info    : Compiling entry function 'kernel' for 'sm_80'
ptxas info    : Function properties for kernel
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 80 registers, 368 bytes cmem[0]
ptxas info    : Function properties for helper__Pfp32
    32 bytes stack frame, 100 bytes spill stores, 200 bytes spill loads
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (OLD, Usage(255, stack=1064, local=0, spill_stores=1704, spill_loads=1280)),
        (NEW, Usage(165, stack=0, local=8, spill_stores=0, spill_loads=0)),
        (CALLS, Usage(80, stack=16, local=0, spill_stores=104, spill_loads=208)),
        ("", None),
        ("ptxas fatal   : Ptx assembly aborted due to errors", None),
    ],
)
def test_usage(log: str, expected: Usage | None) -> None:
    assert usage(log) == expected


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "ptxas /tmp/x.ptx, line 42; error   : Not a name of any known instruction: 'frobnicate'\n"
            "ptxas fatal   : Ptx assembly aborted due to errors\n",
            Complaint("Not a name of any known instruction: 'frobnicate'", 42),
        ),
        (
            "ptxas fatal   : Value 'sm_100' is not defined for option 'gpu-name'\n",
            Complaint("Value 'sm_100' is not defined for option 'gpu-name'", None),
        ),
        (
            "ptxas-blackwell error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)\n",
            Complaint("Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)", None),
        ),
        (OLD, None),
    ],
)
def test_complaint(log: str, expected: Complaint | None) -> None:
    assert complaint(log) == expected
