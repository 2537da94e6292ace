"""What an autotuner can avoid."""

from __future__ import annotations

from tests.compiled import kernel, variant
from tritonaudit.compile.facts import Variant
from tritonaudit.compile.tuning import troubled

SMALL, LARGE = "BLOCK=64 num_warps=4", "BLOCK=256 num_warps=4"


def spills(variant: Variant) -> bool:
    assert variant.resources is not None
    return bool(variant.resources.spill_stores)


def test_a_launch_without_an_autotuner_has_no_choice() -> None:
    bad, good = variant("sm_90", "", "n=4096", spill_stores=4), variant("sm_90", "", "n=64")
    found = troubled(kernel(bad, good), spills)
    assert (found.unavoidable, found.avoidable) == ((bad,), ())


def test_a_config_that_is_never_wrong_is_a_way_out() -> None:
    bad, good = variant("sm_90", LARGE, spill_stores=4), variant("sm_90", SMALL)
    found = troubled(kernel(bad, good), spills)
    assert (found.unavoidable, found.avoidable) == ((), (bad,))


def test_a_config_that_is_wrong_in_another_case_is_none() -> None:
    bad = variant("sm_90", LARGE, "n=4096", spill_stores=4)
    worse = variant("sm_90", SMALL, "n=4096", spill_stores=4)
    found = troubled(kernel(bad, worse, variant("sm_90", SMALL, "n=64")), spills)
    assert (found.unavoidable, found.avoidable) == ((bad, worse), ())


def test_another_target_and_other_types_are_no_way_out() -> None:
    bad = variant("sm_80", LARGE, spill_stores=4)
    other_target = variant("sm_90", SMALL)
    other_types = variant("sm_80", SMALL, signature=(("x_ptr", "*fp32"),))
    assert troubled(kernel(bad, other_target, other_types), spills).unavoidable == (bad,)


def test_a_launch_beside_the_autotuner_is_not_helped_by_it() -> None:
    bad = variant("sm_90", "", spill_stores=4)
    assert troubled(kernel(bad, variant("sm_90", SMALL)), spills).unavoidable == (bad,)
