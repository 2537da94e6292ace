"""The simulated farm: all subjects are reported once, in no less time than the best schedule would take."""

from __future__ import annotations

import pytest

from bench.farm.simulation import Farm, simulated


@pytest.mark.parametrize(("losses", "least"), [(0.0, 0.9), (0.2, 0.5)])
def test_what_is_lost_is_accounted_for(losses: float, least: float) -> None:
    result = simulated(Farm(2000, 2, 4, 16, 0.02, losses, seed=5))
    assert (result.reported, result.reported_twice) == (2000, 0)
    assert bool(result.nodes_lost) == bool(losses)
    assert least * result.seconds < result.bound <= result.seconds
    assert result.idle >= result.starting > 0
    assert result.useful + result.absent + result.spoilt + result.idle == pytest.approx(1)
