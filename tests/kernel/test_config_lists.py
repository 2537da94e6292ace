"""Configs of an autotuner that are repeated."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.kernel.config_lists import repeated_configs

KERNEL = """\
{decorators}@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1)
"""


@pytest.mark.parametrize(
    ("second", "repeated"),
    [
        ('{"A": 1, "B": 2}, num_warps=4', True),
        ('{"B": 2, "A": 1}, num_warps=4', True),
        ('kwargs={"A": 1, "B": 2}, num_warps=4', True),
        ('{"A": 2, "B": 1}, num_warps=4', False),
        ('{"A": 1, "B": 2}, num_warps=8', False),
        ('{"A": 1, "B": 2}', False),
    ],
)
def test_a_config_is_repeated_whatever_the_order_of_its_constants(second: str, repeated: bool) -> None:
    configs = f'triton.Config({{"A": 1, "B": 2}}, num_warps=4), triton.Config({second})'
    (kernel,) = flows(KERNEL.format(decorators=f"@triton.autotune(configs=[{configs}], key=['n'])\n"))
    assert bool(list(repeated_configs(kernel.module, kernel.function))) is repeated
