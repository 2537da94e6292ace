"""`tritonaudit.judge` from threads, and the loop of docs/farm.md, with kernels of known verdicts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bench.kernelbench.files import files
from tests.checkout import ROOT

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
