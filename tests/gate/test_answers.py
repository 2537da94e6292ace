"""How the items of a gate are answered, from runs and measurements made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import compiled, measured, ran
from tests.history.entries import entry
from tritonaudit.compile.facts import Cause, CompileError
from tritonaudit.finding import Status
from tritonaudit.gate import correct, optimised, tuned
from tritonaudit.gate.against import NoEntry, entry_in
from tritonaudit.gate.checklist import STAGES, Item, asked
from tritonaudit.gate.material import Material, Timings
from tritonaudit.gate.sources import Sources
from tritonaudit.measure.facts import Row
from tritonaudit.measure.further import CHANGES_NOTHING
from tritonaudit.subject.model import Case, Layout
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import Sighting

PASS, FAIL, NOT_RUN = Status.PASS, Status.FAIL, Status.NOT_RUN
KERNEL = measured.KERNEL


def material(run: Any = None, **said: Any) -> Material:
    return Material(run or ran.run("softmax"), Sources(Path()), **said)


def seen(symptom: Symptom, text: str = "said", **said: Any) -> Sighting:
    return Sighting(symptom, KERNEL, None, text, **said)


def wrong(sizes: dict[str, int], symptom: Symptom = Symptom.WRONG_RESULT, **said: Any) -> Any:
    """A trial that shows the symptom, certainly unless said otherwise."""
    is_certain = said.pop("is_certain", True)
    return replace(ran.trial(sizes, **said), sightings=(seen(symptom, is_certain=is_certain),))


def test_a_later_stage_asks_what_earlier_ones_do() -> None:
    for stage in STAGES[1:]:
        assert asked(stage)[: len(asked(stage - 1))] == asked(stage - 1)
    assert asked(3) == tuple(Item)


# -- stage 1 -------------------------------------------------------------------------------------------------------


def test_nothing_compiled_is_no_pass() -> None:
    assert correct.compiles(material()).status is NOT_RUN


def test_a_target_without_the_type_is_spared_where_another_has_it() -> None:
    lacking = compiled.variant("sm_80", error=CompileError("type fp8e4nv not supported in this architecture"))
    rejected = compiled.variant("sm_80", error=CompileError("arange's range must be a power of 2"))
    kernel = compiled.kernel(compiled.variant("sm_90"), lacking)
    assert correct.compiles(material(kernels=(kernel,))).status is PASS
    assert correct.compiles(material(kernels=(compiled.kernel(lacking),))).status is FAIL
    assert correct.compiles(material(kernels=(compiled.kernel(compiled.variant("sm_90"), rejected),))).status is FAIL


def test_a_wrong_result_at_one_shape_fails_the_shapes_and_the_match() -> None:
    found = material(ran.run("s", ran.trial({"n": 64}), wrong({"n": 1000})))
    assert correct.shapes(found).reason.startswith("1 of 2 shapes: n=1000: ")
    assert correct.matches(found).status is FAIL


def test_a_shape_that_the_wrapper_refuses_is_no_pass() -> None:
    refused = replace(
        ran.trial({"n": 7}), checked=frozenset(), unchecked=((Symptom.WRONG_RESULT, "the wrapper refuses it"),)
    )
    answer = correct.shapes(material(ran.run("s", ran.trial({"n": 64}), refused)))
    assert (answer.status, answer.reason) == (NOT_RUN, "n=7: the wrapper refuses it")


def test_a_special_number_that_is_wrong_fails_the_edges_alone() -> None:
    found = material(ran.run("s", ran.trial({"n": 64}), wrong({"n": 64}, fill="nan")))
    assert correct.edges(found).status is FAIL
    assert (correct.shapes(found).status, correct.matches(found).status) == (PASS, PASS)


def test_what_may_be_harmless_is_reported_and_passes() -> None:
    found = material(ran.run("s", wrong({"n": 64}, is_certain=False), ran.trial({"n": 64}, fill="nan")))
    assert correct.matches(found).status is PASS
    assert "may be harmless: wrong result at n=64" in correct.matches(found).reason


def test_torch_that_does_the_work_fails_an_item_of_its_own() -> None:
    found = material(ran.run("s", wrong({"n": 64}, Symptom.TORCH_WORK), checks={"torch does the work": FAIL}))
    assert correct.genuine(found).status is FAIL
    assert (correct.shapes(found).status, correct.matches(found).status) == (PASS, PASS)


def test_a_weak_reference_is_no_pass() -> None:
    found = material(ran.run("s", checks={"reference too weak": Status.INCONCLUSIVE}))
    assert correct.genuine(found).status is NOT_RUN


@pytest.mark.parametrize(
    ("left_out", "shapes", "edges"),
    [
        ("7 cases, n=4096 in none before", NOT_RUN, PASS),
        ("7 cases, layout offset in none before", PASS, NOT_RUN),
        ("7 cases, n=0 in none before", NOT_RUN, NOT_RUN),
        ("7 cases", PASS, PASS),
        ("n other sizes", PASS, PASS),
        ("the rest", NOT_RUN, NOT_RUN),
    ],
)
def test_values_that_there_was_no_time_for_are_no_pass(left_out: str, shapes: Status, edges: Status) -> None:
    trials = (ran.trial({"n": 64}), ran.trial({"n": 64}, layout=Layout.OFFSET))
    found = material(ran.run("s", *trials, left_out=((left_out, "the time was spent"),)))
    assert correct.shapes(found).status is shapes
    assert correct.edges(found).status is edges


def test_without_edge_cases_the_edges_are_not_run() -> None:
    assert correct.edges(material(ran.run("s", ran.trial({"n": 64})))).status is NOT_RUN


# -- stage 2 -------------------------------------------------------------------------------------------------------


def test_lanes_that_lie_apart_are_not_coalesced() -> None:
    load = compiled.access(7, (4, 8))
    strided = compiled.variant(accesses=(load,), narrow=(compiled.narrow(load, 4, Cause.LANE_STRIDE),))
    aligned = compiled.variant(accesses=(load,), narrow=(compiled.narrow(load, 16, Cause.ALIGNMENT),))
    assert optimised.coalesced(material(kernels=(compiled.kernel(strided),))).status is FAIL
    assert optimised.coalesced(material(kernels=(compiled.kernel(aligned),))).status is PASS


def test_accesses_that_were_not_explained_are_not_said_to_be_coalesced() -> None:
    kernel = compiled.kernel(compiled.variant(explained=False))
    assert optimised.coalesced(material(kernels=(kernel,))).status is NOT_RUN


@pytest.mark.parametrize(("configs", "status"), [((), FAIL), (("BLOCK=64",), FAIL), (("BLOCK=64", "BLOCK=128"), PASS)])
def test_one_config_is_no_autotuning(configs: tuple[str, ...], status: Status) -> None:
    kernel = compiled.kernel(*(compiled.variant("sm_90", config) for config in configs or ("",)))
    assert optimised.autotuned(material(kernels=(kernel,))).status is status


def timings(*rows: Row, device: str | None = "H100") -> Timings:
    return Timings(entry(*rows)["subjects"][0], device)


@pytest.mark.parametrize(
    ("now", "status", "said"),
    [
        (timings(measured.row(1.0, 1.5)), PASS, "2.00 ms → 1.00 ms"),
        (timings(measured.row(2.0, 1.5)), FAIL, "no faster"),
        (timings(measured.row(3.0, 1.5)), FAIL, "slower"),
        (timings(measured.row(1.0, 1.5), device="A100"), NOT_RUN, "that was timed on H100, this on A100"),
        (timings(measured.of_size(measured.row(1.0, 1.5), "small", n=64)), NOT_RUN, "not timed at any common size"),
        (timings(device=None), NOT_RUN, "there is no GPU"),
    ],
)
def test_faster_is_what_the_times_say(now: Timings, status: Status, said: str) -> None:
    earlier = timings(measured.row(2.0, 1.5))
    answer = optimised.faster(material(now=now, earlier=earlier, unmeasured="there is no GPU"))
    assert answer.status is status
    assert said in answer.reason


@pytest.mark.parametrize(
    ("small", "large", "status", "said"),
    [
        (8.0, 1.0, FAIL, "no faster in the mean: large n=67108864 float32: 2.00 ms → 1.00 ms; small"),
        (16.0, 1.0, FAIL, "slower in the mean: small n=64 float32: 4.00 ms → 16.0 ms"),
        (5.0, 1.0, PASS, "2.00 ms → 1.00 ms; slower at small n=64 float32: 4.00 ms → 5.00 ms"),
    ],
)
def test_the_mean_of_the_sizes_decides_and_one_that_is_slower_is_named(
    small: float, large: float, status: Status, said: str
) -> None:
    def rows(small: float, large: float) -> tuple[Row, ...]:
        return measured.of_size(measured.row(small), "small", n=64), measured.row(large)

    answer = optimised.faster(material(now=timings(*rows(small, large)), earlier=timings(*rows(4.0, 2.0))))
    assert (answer.status, said in answer.reason) == (status, True), answer.reason


def test_a_size_that_cannot_be_compared_any_more_is_no_gain() -> None:
    earlier = timings(measured.of_size(measured.row(4.0), "small", n=64), measured.row(2.0))
    answer = optimised.faster(material(now=timings(measured.row(1.0)), earlier=earlier))
    assert (answer.status, answer.reason) == (NOT_RUN, "small n=64 float32 was timed then and is not now")


def test_a_size_that_was_passed_over_since_it_could_change_no_finding_is_not_missed() -> None:
    earlier = timings(measured.row(2.0), measured.of_size(measured.row(4.0), "", n=7))
    passed_over = measured.missed(CHANGES_NOTHING, case=Case({"n": 7}), size="")
    answer = optimised.faster(material(now=timings(measured.row(1.0), passed_over), earlier=earlier))
    assert answer.status is PASS


def test_without_an_earlier_result_nothing_is_faster() -> None:
    answer = optimised.faster(material(now=timings(measured.row(1.0)), no_earlier="there is none"))
    assert (answer.status, answer.reason) == (NOT_RUN, "there is none")


@pytest.mark.parametrize("name", ["report.json", "v1.json", "v0.json"])
def test_only_an_entry_of_a_history_is_a_result(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(NoEntry):
        entry_in(tmp_path / name)


# -- stage 3 -------------------------------------------------------------------------------------------------------

MEASURING = (tuned.measured, tuned.compared, tuned.bandwidth)


def test_what_was_measured_passes() -> None:
    found = material(measured=measured.subject(measured.row(2.0, 1.5, 1.0)))
    assert [item(found).status for item in MEASURING] == [PASS, PASS, PASS]
    assert tuned.bandwidth(found).reason == "large 50% of the roof"


def test_without_torch_compile_it_is_not_compared() -> None:
    found = material(measured=measured.subject(measured.row(2.0, 1.5)))
    assert [item(found).status for item in MEASURING] == [PASS, NOT_RUN, PASS]


def test_a_result_that_is_wrong_after_the_timing_fails() -> None:
    found = material(measured=measured.subject(measured.row(2.0, 1.5, 1.0).refused("wrong after the timing")))
    assert tuned.measured(found).status is FAIL


def test_without_a_gpu_nothing_is_measured() -> None:
    found = material(unmeasured="there is no GPU")
    assert {(item(found).status, item(found).reason) for item in MEASURING} == {(NOT_RUN, "there is no GPU")}


def test_a_wrapper_that_is_not_known_is_not_said_to_wait_for_nothing() -> None:
    assert tuned.no_wait(material()).status is NOT_RUN
