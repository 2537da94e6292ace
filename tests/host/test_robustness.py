"""Host code that nobody should have to evaluate: it takes little time, raises nothing, and stays unknown."""

from __future__ import annotations

import time

import pytest

from tests.host.wrappers import sites

LAUNCH = "    kernel[(m,)](x, x, 1, 1, 1)\n"


@pytest.mark.parametrize(
    "text",
    [
        "def run(x, m):\n    while True:\n        m = m + 1\n        if m > 7:\n            break\n" + LAUNCH,
        "def run(x):\n    m = 2\n    for i in range(10 ** 9):\n        m = m * m\n" + LAUNCH,
        "def run(x, m):\n    m = max(m, 1)\n    m = m ** 1000\n" + LAUNCH,
        "def run(x, m):\n" + "".join(f"    m = m * (m + {i})\n" for i in range(60)) + LAUNCH,
        "def run(x, m):\n" + "".join(f"    if x.flag{i}:\n        m += {i}\n" for i in range(40)) + LAUNCH,
        "def run(x, m):\n    m = [i for i in range(10 ** 6) for j in range(10 ** 6)]\n" + LAUNCH,
        "def a(x, m):\n    return b(x, m)\n\n\ndef b(x, m):\n    return a(x, m) + b(x, m)\n\n\n"
        "def run(x, m):\n    m = a(x, m)\n" + LAUNCH,
        "A = B\nB = A + 1\n\n\ndef run(x):\n    m = A\n" + LAUNCH,
        "from elsewhere import *\n\n\ndef run(x):\n    m = SOME\n" + LAUNCH,
        "def run(x):\n    m = " + "(" * 80 + "x.size(0)" + " + 1)" * 80 + "\n" + LAUNCH,
        "def run(x):\n    m = 1 // 0\n" + LAUNCH,
        "def run(x):\n    a, b = 1, 2, 3\n    m = a\n" + LAUNCH,
        "def run(x):\n    m = 'a' * 10 ** 9\n    m = [0] * 10 ** 9\n" + LAUNCH,
        "def run(x, *args, **kw):\n    kernel[kw['grid']](*args, **kw)\n",
        "def run(x):\n    match x:\n        case 1:\n            m = 2\n" + LAUNCH,
        "async def run(x, m):\n    async with x as y:\n        m = await y\n" + LAUNCH,
        "def run(x):\n    m = yield x\n" + LAUNCH,
        "class A(A):\n    def run(self, m):\n        x = self.x = self\n    " + LAUNCH,
        "def run(x):\n    global m\n    m = lambda: m\n    m = m()\n" + LAUNCH,
        "def run(x):\n    d = {}\n    d[x] = d\n    m = d[x][x]\n" + LAUNCH,
        "def run(x):\n    m = torch.empty(()).t().size(0)\n" + LAUNCH,
        "def run(x):\n    m = torch.empty(()).transpose(0, 1).size(0)\n" + LAUNCH,
        "def run(x):\n    m = torch.empty(()).permute(0).size(0)\n" + LAUNCH,
        "def run(x):\n    m = torch.empty(()).flatten(0, 1).size(0)\n" + LAUNCH,
    ],
)
def test_wrappers_that_are_no_fun(text: str) -> None:
    before = time.process_time()
    sites(text)
    assert time.process_time() - before < 2
