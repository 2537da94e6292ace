"""How the rules of the compile stage judge compiled kernels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compiled import PATH, access, kernel, narrow, variant
from tritonaudit.compile.budget import Overrun, parse_budget, violations
from tritonaudit.compile.facts import AccessKind, Cause, CompiledKernel, CompileError, Sweep, Variant
from tritonaudit.finding import Confidence, Severity, Span
from tritonaudit.rule import Hit
from tritonaudit.rules import find_rule

SMALL, LARGE = "BLOCK=64 num_warps=4", "BLOCK=256 num_warps=4"
FP8 = "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
KIB = 1024


def hits(code: str, facts: Any) -> list[Hit]:
    rule = find_rule(code)
    assert rule is not None
    return list(rule().check(facts))


def hit(code: str, facts: Any) -> Hit:
    (found,) = hits(code, facts)
    return found


def judged(code: str, *variants: Variant) -> tuple[Severity, Confidence]:
    rule, found = find_rule(code), hit(code, kernel(*variants))
    assert rule is not None
    return found.severity or rule.severity, found.confidence or rule.confidence


# TAC301


def error(message: str, line: int = 9, path: str = PATH) -> CompileError:
    return CompileError(message, path, Span(line, 9, line, 30))


def test_a_complaint_is_reported_where_it_is_with_what_it_means() -> None:
    bad = variant("sm_90", "", "size=1000 float16", error=error("Expected dtype ['fp32', 'fp64'] but got fp16"))
    good = variant("sm_90", "", "size=1000 float32")
    found = hit("TAC301", kernel(bad, good))
    assert found.where == Span(9, 9, 9, 30)
    assert found.message == (
        "`softmax_kernel` does not compile on sm_90, in the case size=1000 float16: Expected dtype ['fp32', 'fp64'] but"
        " got fp16 (this function computes in 32 or 64 bits only); it does on sm_90, in the case size=1000 float32"
    )
    assert found.remedy == "cast its operand first: `.to(tl.float32)`"


def test_complaints_of_one_place_are_one_finding() -> None:
    failed = [variant(target, error=error("no")) for target in ("sm_80", "sm_90")]
    elsewhere = variant("sm_80", error=error("not here either", line=12))
    first, second = hits("TAC301", kernel(*failed, elsewhere))
    assert "on sm_80 and sm_90: no" in first.message
    assert second.where == Span(12, 9, 12, 30)


def test_hardware_that_lacks_a_type_is_an_error_only_where_no_target_has_it() -> None:
    bad = variant("sm_80", error=error(FP8))
    assert judged("TAC301", bad, variant("sm_90")) == (Severity.WARNING, Confidence.HIGH)
    assert judged("TAC301", bad) == (Severity.ERROR, Confidence.HIGH)
    assert judged("TAC301", variant("sm_80", error=error("no")), variant("sm_90"))[0] is Severity.ERROR


def test_a_complaint_about_assumed_arguments_is_uncertain() -> None:
    guess = variant(error=error("no"), assumed=("x_ptr is fp16",))
    assert judged("TAC301", guess) == (Severity.WARNING, Confidence.LOW)


def test_a_complaint_that_no_assumption_changes_is_sure() -> None:
    odd = CompileError("arange's range must be a power of 2", PATH, Span(9, 9, 9, 30), is_certain=True)
    assert judged("TAC301", variant(error=odd, assumed=("x_ptr is fp16",))) == (Severity.ERROR, Confidence.HIGH)


def test_what_fails_with_the_least_sizes_alone_is_a_warning() -> None:
    bad = variant("sm_90", "", "n=1 float32", error=error("no"), is_least=True)
    assert judged("TAC301", bad, variant()) == (Severity.WARNING, Confidence.MEDIUM)
    assert "only the least sizes fail" in hit("TAC301", kernel(bad, variant())).message
    assert judged("TAC301", bad, variant(error=error("no"))) == (Severity.ERROR, Confidence.HIGH)


def test_a_config_that_asserts_itself_away_is_passed_over() -> None:
    pruned = variant("sm_90", LARGE, error=error("static assertion failed: BLOCK is too large"))
    assert hits("TAC301", kernel(pruned, variant("sm_90", SMALL))) == []
    assert hits("TAC301", kernel(pruned, variant("sm_80", SMALL)))
    broken = variant("sm_90", LARGE, error=error("arange's range must be a power of 2"))
    assert hits("TAC301", kernel(broken, variant("sm_90", SMALL)))


def test_a_complaint_in_a_helper_of_another_file_is_reported_at_the_kernel() -> None:
    one = kernel(variant(error=error("no", 41, "kernels/helpers.py")))
    found = hit("TAC301", one)
    assert found.where == one.span
    assert "(at helpers.py:41)" in found.message


def test_a_long_complaint_is_cut() -> None:
    assert len(hit("TAC301", kernel(variant(error=error("word " * 500)))).message) < 500


# TAP301


def test_spills_are_counted_with_where_they_are() -> None:
    spilled = [
        variant(target, "", "size=32768 float16", registers=255, spill_stores=stores, spill_loads=loads)
        for target, stores, loads in (("sm_80", 964, 1028), ("sm_90", 296, 352))
    ]
    found = hit("TAP301", kernel(*spilled, variant("sm_90", "", "size=1024 float16")))
    assert found.message == (
        "`softmax_kernel` spills registers: 648 to 1,992 bytes stored and loaded per thread on sm_80 and sm_90,"
        " in the case size=32768 float16"
    )
    assert found.remedy is not None
    assert "`num_warps=8`" in found.remedy


def test_few_bytes_are_pedantic() -> None:
    assert judged("TAP301", variant(spill_stores=16, spill_loads=16)) == (Severity.WARNING, Confidence.MEDIUM)
    assert judged("TAP301", variant(spill_stores=8, spill_loads=16)) == (Severity.INFO, Confidence.LOW)


def test_a_config_that_spills_is_pedantic_where_another_does_not() -> None:
    spilled = variant("sm_90", LARGE, spill_stores=400)
    assert judged("TAP301", spilled, variant("sm_90", SMALL)) == (Severity.INFO, Confidence.LOW)
    assert judged("TAP301", spilled) == (Severity.WARNING, Confidence.MEDIUM)


def test_a_config_that_spills_a_little_is_a_way_out_as_well() -> None:
    few = variant("sm_90", SMALL, "size=1000 float32", spill_stores=8)
    assert judged("TAP301", variant("sm_90", LARGE, "size=1000 float32", spill_stores=60), few)[1] is Confidence.LOW


def test_nothing_is_spilled() -> None:
    assert hits("TAP301", kernel(variant(), variant("gfx942", spill_stores=None, spill_loads=None))) == []


# TAP302


def shared(size: int, target: str = "sm_90", config: str = "", limit: int = 227 * KIB) -> Variant:
    return variant(target, config, shared=size, shared_limit=limit)


def test_a_launch_without_an_autotuner_that_does_not_fit_fails() -> None:
    found = hit("TAP302", kernel(shared(256 * KIB), shared(192 * KIB, "sm_80", limit=163 * KIB), shared(64, "sm_100")))
    assert found.message == (
        "`softmax_kernel` needs more shared memory than there is, 256 KiB of 227 KiB and 192 KiB of 163 KiB,"
        " on sm_90 and sm_80: every such launch fails"
    )
    assert found.severity is Severity.ERROR
    assert found.remedy == "use fewer stages (`num_stages=2`) or a smaller tile"


def test_configs_that_do_not_fit_are_a_warning_where_others_do() -> None:
    found = hit("TAP302", kernel(shared(256 * KIB, config=LARGE), shared(64 * KIB, config=SMALL)))
    assert found.severity is Severity.WARNING
    assert "the autotuner skips that, and has 1 config that fits" in found.message
    assert judged("TAP302", shared(256 * KIB, config=LARGE))[0] is Severity.ERROR


def test_a_config_that_does_not_compile_does_not_fit() -> None:
    over, fits = shared(256 * KIB, config=LARGE), shared(64 * KIB, config=SMALL)
    broken, elsewhere = variant("sm_90", "BLOCK=48", error=error("no")), shared(64, "gfx942", "BLOCK=96")
    assert "has 1 config that fits" in hit("TAP302", kernel(over, fits, broken, elsewhere)).message


def test_fewer_stages_are_a_remedy_only_where_they_would_do() -> None:
    assert hit("TAP302", kernel(shared(600 * KIB))).remedy == "use fewer stages (`num_stages=1`) or a smaller tile"
    assert hit("TAP302", kernel(shared(1024 * KIB))).remedy == "use a smaller tile"


def test_what_was_assumed_is_no_error() -> None:
    guess = variant(shared=256 * KIB, shared_limit=227 * KIB, assumed=("BLOCK is 256",))
    assert judged("TAP302", guess) == (Severity.WARNING, Confidence.MEDIUM)


def test_the_limit_itself_is_allowed_and_an_unknown_one_is_not_broken() -> None:
    assert hits("TAP302", kernel(shared(227 * KIB), variant(shared=1 << 20, shared_limit=None))) == []


# TAM301


WIDE = access(8, (16, 1))
NARROW = access(8, (2, 8))
STORE = access(10, (16, 1), kind=AccessKind.STORE)


def narrowed(case: str, *narrows: Any, target: str = "sm_90", **said: Any) -> Variant:
    return variant(target, "", case, accesses=(NARROW, STORE), narrow=narrows or (narrow(NARROW),), **said)


def test_an_access_that_is_narrow_in_every_case_is_reported_with_the_cause() -> None:
    found = hit("TAM301", kernel(narrowed("size=1000 float16"), narrowed("size=50257 float16")))
    assert found.where == NARROW.span
    assert found.message == (
        "this load moves 2 bytes per lane, not 16, on sm_90, in both cases:"
        " 16 is not known to divide `stride`, on which its address depends"
    )
    assert found.remedy is not None
    assert "pad the rows" in found.remedy
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.MEDIUM)


def test_an_access_that_is_wide_in_another_case_is_pedantic() -> None:
    wide = variant("sm_90", "", "size=4096 float16", accesses=(WIDE, STORE))
    assert judged("TAM301", narrowed("size=1000 float16"), wide)[1] is Confidence.LOW


def test_each_target_is_judged_by_itself() -> None:
    wide = variant("sm_80", "", "size=4096 float16", accesses=(WIDE, STORE))
    assert judged("TAM301", narrowed("size=1000 float16"), wide)[1] is Confidence.MEDIUM


def test_a_whole_line_for_a_warp_is_worth_a_note_only() -> None:
    floats = access(8, (4, 4))
    alone = variant(accesses=(floats,), narrow=(narrow(floats),))
    assert judged("TAM301", alone) == (Severity.INFO, Confidence.MEDIUM)


def test_lanes_that_are_far_apart_are_worse_than_narrow() -> None:
    floats = access(8, (4, 4))
    strided = variant(accesses=(floats,), narrow=(narrow(floats, 16, Cause.LANE_STRIDE, "stride_d"),))
    found = hit("TAM301", kernel(strided))
    assert "neighbouring lanes are `stride_d` elements apart" in found.message
    assert found.severity is Severity.WARNING


def test_transposed_tensors_neither_excuse_lanes_that_are_apart_nor_are_blamed_for_it() -> None:
    def strided(case: str) -> Variant:
        floats = access(8, (4, 4))
        return variant("sm_90", "", case, accesses=(floats,), narrow=(narrow(floats, 16, Cause.LANE_STRIDE, "stride"),))

    def wide(case: str) -> Variant:
        return variant("sm_90", "", case, accesses=(access(8, (4, 4)),))

    assert judged("TAM301", strided("n=64 float32"), wide("n=64 float32 transposed"))[1] is Confidence.MEDIUM
    assert judged("TAM301", strided("n=64 float32 transposed"), wide("n=64 float32"))[1] is Confidence.LOW


def test_lanes_that_are_apart_though_a_stride_of_1_would_not_widen_them() -> None:
    floats = access(8, (4, 4))
    strided = variant(accesses=(floats, STORE), narrow=(narrow(floats, 4, Cause.LANE_STRIDE, "stride"),))
    found = hit("TAM301", kernel(strided))
    assert found.message == "this load lies apart in memory on sm_90: neighbouring lanes are `stride` elements apart"
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.MEDIUM)
    tile = access(12, (16, 256))
    little = variant(accesses=(floats, tile), narrow=(narrow(floats, 4, Cause.LANE_STRIDE, "stride"),))
    assert judged("TAM301", little)[1] is Confidence.LOW


def test_what_an_odd_address_adds_is_not_said() -> None:
    odd = narrow(NARROW, 16, Cause.ALIGNMENT, "x_ptr", "stride")
    found = hit("TAM301", kernel(narrowed("n=1000 float16"), narrowed("n=1000 float16 offset", odd)))
    assert found.message.endswith(": 16 is not known to divide `stride`, on which its address depends")


def test_what_saves_little_is_pedantic() -> None:
    tile = access(12, (16, 64))
    vector = access(8, (2, 4))
    assert judged("TAM301", variant(accesses=(vector, tile), narrow=(narrow(vector),)))[1] is Confidence.LOW


def test_causes_of_one_place_are_one_finding() -> None:
    both = narrow(NARROW, 16, Cause.STRIDE, "stride"), narrow(NARROW, 16, Cause.MASK, "n")
    found = hit("TAM301", kernel(narrowed("size=1000 float16", *both)))
    assert found.message.endswith(
        ": 16 is not known to divide `stride`, on which its address depends"
        " and 16 is not known to divide `n`, on which its mask depends"
    )


def test_arguments_that_are_to_blame_together() -> None:
    together = narrow(NARROW, 16, Cause.STRIDE, "stride", "n")
    found = hit("TAM301", kernel(narrowed("size=1000 float16", together)))
    assert "16 is not known to divide `stride` and `n`, on which its address and mask depend" in found.message


def test_a_load_that_becomes_a_copy_where_it_is_wide_is_the_same_access() -> None:
    copy = access(8, (16, 4), kind=AccessKind.ASYNC_COPY)
    wide = variant("sm_90", "", "size=4096 float16", accesses=(copy, STORE))
    assert judged("TAM301", narrowed("size=1000 float16"), wide)[1] is Confidence.LOW


def test_narrowness_under_assumptions_is_pedantic() -> None:
    assert judged("TAM301", narrowed("", assumed=("stride is 1000",)))[1] is Confidence.LOW


# TAM302


def test_a_frame_without_spills_is_reported() -> None:
    found = hit("TAM302", kernel(variant("sm_90", stack=192)))
    assert found.message == "`softmax_kernel` keeps 192 bytes per thread in local memory, without spilling, on sm_90"


def test_the_frame_of_spills_and_that_of_a_sine_are_not() -> None:
    spilled = variant(stack=1016, spill_stores=964, spill_loads=1028)
    assert hits("TAM302", kernel(spilled, variant(stack=32), variant("gfx942", stack=None, local=None))) == []


# TAP303


def test_a_narrow_product_without_a_matrix_instruction() -> None:
    product = (("fp16", 1),)
    found = hit("TAP303", kernel(variant("gfx942", dots=product), variant("sm_90", dots=product, matrix=("mma",))))
    assert found.message == "no matrix instruction computes the `tl.dot` of fp16 operands in `softmax_kernel` on gfx942"


@pytest.mark.parametrize("kind", ["fp32", "fp64", "tf32"])
def test_products_that_may_be_exact_on_purpose(kind: str) -> None:
    assert hits("TAP303", kernel(variant(dots=((kind, 1),)))) == []


@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp8e4nv", "fp8e5", "int8"])
def test_products_that_matrix_units_are_for(kind: str) -> None:
    assert hits("TAP303", kernel(variant(dots=((kind, 1),))))


# TAP304


def held(warps: int, limit: str = "registers", **said: Any) -> Variant:
    return variant(occupancy=warps, occupancy_of=64, occupancy_limit=limit, **said)


def test_few_warps_are_an_estimate_with_the_limit() -> None:
    found = hit("TAP304", kernel(held(8)))
    assert found.message == (
        "a multiprocessor holds few warps of `softmax_kernel`, by an estimate: 8 of 64 on sm_90; limited by registers"
    )


@pytest.mark.parametrize(
    "enough",
    [held(16), held(8, "blocks"), held(8, matrix=("wgmma.mma_async",)), held(8, spill_stores=400), held(0), variant()],
    ids=["a quarter", "small blocks", "matrix instructions", "spills", "none fits", "unknown"],
)
def test_where_few_warps_are_no_fault(enough: Variant) -> None:
    assert hits("TAP304", kernel(enough)) == []


def test_the_autotuner_can_choose_a_config_with_more_warps() -> None:
    assert hits("TAP304", kernel(held(8, config=LARGE), held(32, config=SMALL))) == []


# TAP305


def test_a_storm_is_counted_with_the_argument_to_blame() -> None:
    storm = Sweep("size", (1008, 1009, 1010, 1011), 4, "n_cols")
    found = hit("TAP305", kernel(variant(), sweeps=(storm,)))
    assert found.message == (
        "`softmax_kernel` is compiled again for each size:"
        " 4 sizes of `size` (1008, 1009, 1010, 1011) make 4 variants by `n_cols`"
    )
    assert found.remedy is not None
    assert "`n_cols`" in found.remedy


def test_what_triton_tells_apart_by_itself_is_no_storm() -> None:
    assert hits("TAP305", kernel(variant(), sweeps=(Sweep("size", (1, 16, 17), 3, "n"),))) == []


# TAP306


def test_every_broken_limit_is_named_once() -> None:
    over = kernel(variant("sm_80", registers=190), variant("sm_90", registers=167, shared=100 * KIB))
    budget = parse_budget("registers<=128,shared<=96KiB,spills=0")
    found = hit("TAP306", Overrun(over, violations(budget, over)))
    assert found.message == (
        "`softmax_kernel` breaks its budget:"
        " `registers<=128`, but 167 to 190 registers per thread on sm_80 and sm_90;"
        " `shared<=96KiB`, but 102,400 bytes of shared memory on sm_90"
    )


def test_the_surest_of_what_helpers_elsewhere_show_is_kept() -> None:
    def there(line: int, share: int) -> tuple[Any, Any]:
        found = access(line, (2, share), path="kernels/helpers.py")
        return found, narrow(found)

    little, much = there(3, 1), there(9, 64)
    one = variant(accesses=(little[0], much[0]), narrow=(little[1], much[1]))
    found = hit("TAM301", kernel(one))
    assert found.confidence is Confidence.MEDIUM
    assert "(at helpers.py:9)" in found.message


def test_a_rule_reports_no_place_twice() -> None:
    """Reports keep one finding of a rule at a place, so a second one would be lost."""
    many = kernel(
        narrowed("a", narrow(NARROW, 16, Cause.MASK, "n")),
        narrowed("b", target="sm_80"),
        variant("sm_80", spill_stores=400),
        variant("sm_90", LARGE, spill_stores=8),
        shared(256 * KIB),
        held(8),
        sweeps=(Sweep("a", (1, 2, 3, 4), 4, "n"), Sweep("b", (1, 2, 3, 4), 4, "m")),
    )
    for code in ("TAC301", "TAP301", "TAP302", "TAM301", "TAM302", "TAP303", "TAP304", "TAP305"):
        assert_once(code, many)


def assert_once(code: str, facts: CompiledKernel) -> None:
    places = [found.where for found in hits(code, facts)]
    assert len(places) == len(set(places)), code
