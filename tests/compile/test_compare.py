"""What changed since an earlier report, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compiled import PATH, access, kernel, variant
from tritonaudit.compile.compare import Comparison, Difference, NotAReport, compare, read_report
from tritonaudit.compile.facts import AccessKind, CompiledKernel, CompileError
from tritonaudit.compile.record import Record
from tritonaudit.finding import Span


def run(*kernels: CompiledKernel, triton: str = "3.9.0") -> Record:
    return Record(kernels, ("sm_90",), triton)


def compared(before: CompiledKernel, now: CompiledKernel) -> Comparison:
    return compare(run(before), run(now))


def texts(comparison: Comparison) -> list[str]:
    return [change.text for difference in comparison.differences for change in difference.changes]


def only(comparison: Comparison) -> Difference:
    (difference,) = comparison.differences
    return difference


def test_registers_and_widths_of_one_variant() -> None:
    old = variant("sm_90", "", "size=1000 float16", registers=20, accesses=(access(41, (16, 1)),))
    new = variant("sm_90", "", "size=1000 float16", registers=58, accesses=(access(41, (4, 4)),))
    difference = only(compared(kernel(old), kernel(new)))
    assert [change.text for change in difference.changes] == ["loads 16 → 4 bytes, line 41", "+38 registers"]
    assert (difference.target, difference.cases) == ("sm_90", ("size=1000 float16",))
    assert difference.harm > 0


def test_nothing_changed() -> None:
    same = kernel(variant("sm_90", "", "a", "b"))
    comparison = compared(same, same)
    assert (comparison.differences, comparison.compared, comparison.unpaired) == ((), 2, 0)


def test_cases_with_the_same_change_are_one_difference() -> None:
    before, now = kernel(variant("sm_90", "", "a", "b")), kernel(variant("sm_90", "", "a", "b", shared=64))
    difference = only(compared(before, now))
    assert difference.cases == ("a", "b")


def test_an_access_is_followed_when_its_line_moves() -> None:
    store = AccessKind.STORE
    old = variant(accesses=(access(8, (16, 1)), access(9, (8, 1)), access(10, (16, 1), kind=store)))
    new = variant(accesses=(access(18, (16, 1)), access(19, (2, 4)), access(20, (16, 1), kind=store)))
    assert texts(compared(kernel(old), kernel(new))) == ["loads 8 → 2 bytes, line 19"]


def test_a_copy_that_became_a_load_is_the_same_access() -> None:
    old = variant(accesses=(access(8, (16, 4), kind=AccessKind.ASYNC_COPY),))
    bulk = variant(accesses=(access(8, (0, 1), kind=AccessKind.BULK_COPY),))
    new = variant(accesses=(access(8, (2, 32)),))
    assert texts(compared(kernel(old), kernel(new))) == ["loads 16 → 2 bytes, line 8"]
    assert texts(compared(kernel(bulk), kernel(new))) == ["loads bulk → 2 bytes, line 8"]


def test_the_narrowest_is_compared_where_accesses_came_or_went() -> None:
    old = variant(accesses=(access(8, (16, 1)),))
    new = variant(accesses=(access(8, (16, 1)), access(9, (4, 1))))
    assert texts(compared(kernel(old), kernel(new))) == ["loads 16 → 4 bytes, line 9"]


def test_the_most_harmful_comes_first_and_what_is_better_last() -> None:
    def of(name: str, line: int, **now: object) -> tuple[CompiledKernel, CompiledKernel]:
        said = {"name": name, "span": Span(line, 5, line, 9)}
        return kernel(variant(), **said), kernel(variant(**now), **said)

    pairs = [
        of("fewer_registers", 1, registers=10),
        of("more_registers", 2, registers=24),
        of("many_more_registers", 3, registers=200),
        of("spills", 4, spill_stores=4, spill_loads=4),
        of("fails", 5, error=CompileError("no such\nthing")),
    ]
    before, now = zip(*pairs, strict=True)
    gone, new = kernel(variant(), name="gone"), kernel(variant(), name="new")
    comparison = compare(run(*before, gone), run(*now, new))
    assert [difference.kernel for difference in comparison.differences] == [
        "fails",
        "spills",
        "many_more_registers",
        "more_registers",
        "gone",
        "new",
        "fewer_registers",
    ]
    assert texts(comparison)[:2] == ["no longer compiles: no such thing", "+8 bytes spilled"]
    assert [text for text in texts(comparison) if text.startswith("is ")] == ["is no longer launched", "is new"]


def test_less_occupancy_and_another_matrix_instruction() -> None:
    old = variant(occupancy=16, matrix=("wgmma.mma_async",))
    new = variant(occupancy=8, matrix=("mma.sync",))
    assert texts(compared(kernel(old), kernel(new))) == [
        "matrix instruction wgmma.mma_async → mma.sync",
        "-8 warps of occupancy",
    ]


def test_what_one_run_does_not_know_is_not_compared() -> None:
    assert texts(compared(kernel(variant(spill_stores=None)), kernel(variant(spill_stores=4)))) == []


def test_a_kernel_that_moved_to_another_file_is_known_by_its_name() -> None:
    moved = kernel(variant(registers=30), path="kernels/moved.py")
    assert texts(compared(kernel(variant()), moved)) == ["+10 registers"]


def test_two_kernels_of_one_name_are_not_confused() -> None:
    before = run(kernel(variant(), path="a.py"), kernel(variant(), path="b.py"))
    now = run(kernel(variant(registers=30), path="b.py"), kernel(variant(), path="c.py"))
    comparison = compare(before, now)
    assert sorted(text for text in texts(comparison)) == ["+10 registers"]
    assert comparison.compared == 2


def test_variants_that_one_run_lacks_are_counted() -> None:
    comparison = compared(kernel(variant("sm_80"), variant("sm_90")), kernel(variant("sm_90"), variant("sm_100")))
    assert (comparison.compared, comparison.unpaired, comparison.differences) == (1, 2, ())


def settings(difference: Difference) -> list[str]:
    return [setting.shown for setting in difference.settings]


def test_another_config_is_compared_with_the_one_that_it_is_most_like() -> None:
    old = kernel(
        variant("sm_90", "BLOCK=64 num_warps=4", "a", registers=40, occupancy=64),
        variant("sm_90", "BLOCK=512 num_warps=4", "a"),
    )
    new = kernel(
        variant("sm_90", "BLOCK=512 num_warps=8", "a", warps=8),
        variant("sm_90", "BLOCK=64 num_warps=4 maxnreg=32", "a", registers=32, spill_stores=8, occupancy=64),
    )
    comparison = compared(old, new)
    spilling, neutral = comparison.differences
    assert (comparison.compared, comparison.unpaired) == (2, 0)
    assert settings(spilling) == ["maxnreg not set → 32"]
    assert [change.text for change in spilling.changes] == ["+8 bytes spilled", "-8 registers"]
    assert [(one.metric, one.before, one.now) for one in spilling.figures] == [
        *(("registers", 40, 32), ("spills", 0, 8), ("shared", 32, 32), ("occupancy", 64, 64)),
    ]
    assert (settings(neutral), neutral.changes, neutral.harm) == (["num_warps 4 → 8"], (), 0)
    assert neutral.config == "BLOCK=512 num_warps=8"


def test_what_a_wrapper_passes_otherwise_is_a_change_of_configuration() -> None:
    old = variant("sm_90", "", "a", constants=(("BLOCK", "64"), ("IS_CAUSAL", "True")), warps=4)
    new = variant("sm_90", "", "a", constants=(("BLOCK", "128"), ("IS_CAUSAL", "True")), warps=8, registers=30)
    difference = only(compared(kernel(old), kernel(new)))
    assert settings(difference) == ["BLOCK 64 → 128", "num_warps 4 → 8"]
    assert [change.text for change in difference.changes] == ["+10 registers"]
    assert difference.figures[0].before == 20


def test_warps_are_unknown_where_it_does_not_compile() -> None:
    broken = variant("sm_90", "", "a", error=CompileError("no"), constants=(("BLOCK", "64"),))
    whole = variant("sm_90", "", "a", constants=(("BLOCK", "64"),))
    assert only(compared(kernel(whole), kernel(broken))).settings == ()


def test_a_config_more_is_only_counted() -> None:
    one = variant("sm_90", "BLOCK=64", "a")
    comparison = compared(kernel(one), kernel(one, variant("sm_90", "BLOCK=128", "a")))
    assert (comparison.differences, comparison.unpaired) == ((), 1)


def test_two_launches_that_are_alike_are_paired_in_their_order() -> None:
    old = kernel(variant("sm_90", "", "a", registers=20), variant("sm_90", "", "a", registers=40))
    new = kernel(variant("sm_90", "", "a", registers=20), variant("sm_90", "", "a", registers=41))
    assert texts(compared(old, new)) == ["+1 registers"]


def test_the_versions_of_triton_are_reported() -> None:
    comparison = compare(run(kernel(variant()), triton="3.6.0"), run(kernel(variant())))
    assert (comparison.triton_before, comparison.triton_now) == ("3.6.0", "3.9.0")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("[]", "was not written by `tritonaudit compile --output-format json`"),
        (json.dumps({"findings": []}), "was not written by `tritonaudit compile --output-format json`"),
        (json.dumps({"compiled": {"triton": "3.9.0"}}), "it lacks 'kernels'"),
        (json.dumps({"compiled": {"kernels": 3, "targets": [], "triton": ""}}), "write it again"),
        (json.dumps({"compiled": []}), "write it again"),
        ("\xff", "is not JSON"),
    ],
)
def test_a_file_that_is_no_report(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(NotAReport, match=r"report\.json") as caught:
        read_report(file)
    assert why in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotAReport, match="cannot read"):
        read_report(tmp_path / "gone.json")


def test_paths_of_the_kernels_are_those_that_findings_show() -> None:
    assert only(compared(kernel(variant()), kernel(variant(shared=64)))).path == PATH
