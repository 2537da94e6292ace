"""`tritonaudit.judge` from threads, and the loop of docs/farm.md, with kernels of known verdicts."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bench.kernelbench.files import files
from tests.checkout import ROOT
from tritonaudit import judge
from tritonaudit.execute.processes import open_files

pytest.importorskip("torch")
pytest.importorskip("triton")

TEXTS = {file.name: file.text for file in files(8)}
RIGHT, CHEAT = TEXTS["elu.py"], TEXTS["elu_torch.py"]
FEW = {"device": "cpu", "cases": 0, "budget": 60.0}


class Policy:
    def __init__(self, samples: list[str]) -> None:
        self.samples: Iterator[str] = iter(samples)
        self.advantages: dict[str, float] = {}

    def sample(self) -> str:
        return next(self.samples)

    def reinforce(self, text: str, advantage: float) -> None:
        self.advantages[text] = advantage


def test_the_loop_of_the_documentation_reinforces_what_is_right() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/farm.md").read_text(), re.DOTALL)
    loop: dict[str, Any] = {}
    exec(block, loop)
    policy = Policy([RIGHT, CHEAT, "class ModelNew(:"])
    rewards = asyncio.run(loop["step"](policy, 3, **FEW))
    assert rewards == [1.0, 0.0, 0.0]
    assert policy.advantages[RIGHT] > 0 > policy.advantages[CHEAT]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no /proc")
def test_calls_of_many_threads_leave_no_file_open() -> None:
    def verdict(number: int) -> str:
        return judge(f"# {number}\nclass ModelNew(:", **FEW).verdict

    assert verdict(0) == "error"
    before = open_files()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(verdict, range(1, 17))) == {"error"}
    assert len(open_files()) <= len(before)
