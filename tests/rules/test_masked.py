"""What of a measured finding's text another run or GPU would change is masked, and nothing else."""

from __future__ import annotations

import pytest

from tests.measured import GPU
from tests.rules.later_stages import masked

TEXTS = {
    "`x` is 0.02 times as fast as PyTorch at n=16777216 float32: 1.23 ms against 0.0456 ms": (
        "`x` is # times as fast as PyTorch at n=16777216 float32: # ms against # ms"
    ),
    "it takes 100. ms, and the measured copy bandwidth of 2890 GB/s would allow 1.23e+03 ms, at rows=8 columns=9": (
        "it takes # ms, and the measured copy bandwidth of # GB/s would allow # ms, at rows=8 columns=9"
    ),
    "the target of 90% is 0.3 ms": "the target of 90% is # ms",
    "reaches 3% of the roof, and at 2 further sizes": "reaches #% of the roof, and at # further sizes",
    "8.0 times the sectors: 2,097,152 of 32 bytes, not 262,144": "# times the sectors: # of 32 bytes, not #",
    "L2 and TAM301 and float8_e4m3fn and TF32": "L2 and TAM301 and float8_e4m3fn and TF32",
    f"on {GPU.name}, driver {GPU.driver}": "on GPU, driver #",
}


@pytest.mark.parametrize("text", TEXTS)
def test_numbers_that_were_measured_are_masked_and_sizes_and_names_stay(text: str) -> None:
    assert masked(text, GPU) == TEXTS[text]
