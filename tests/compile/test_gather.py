"""From launches to the facts of each kernel."""

from __future__ import annotations

from typing import Any

from tritonaudit.capture.launch import KernelRef, Launch, Program, SourceError, TensorArgument
from tritonaudit.capture.task import SweepLaunches
from tritonaudit.compile.facts import Resources, Sweep, Variant
from tritonaudit.compile.gather import gather

KERNEL = KernelRef("/nowhere/kernels.py", "kernel", 5)
X = TensorArgument("float32", (64,), (1,), 0, 0)
SIGNATURE = (("x_ptr", "*fp32"), ("n", "i32"), ("BLOCK", "constexpr"))


def launch(case: str, program: Program | None = None, **said: Any) -> Launch:
    usual: dict[str, Any] = {
        "kernel": KERNEL,
        "target": "sm_90",
        "config": "",
        "grid": (1, 1, 1),
        "signature": SIGNATURE,
        "arguments": (("x_ptr", X), ("n", 64), ("BLOCK", 64)),
        "specialisation": (("n", "divisible"), ("x_ptr", "divisible")),
    }
    return Launch(case=case, program=program, **usual | said)


def program(text: str, target: str = "sm_90") -> Program:
    return Program(target, text, (("num_warps", 4),))


def compiled(of: Program) -> Variant:
    needs = Resources(20, 0, 0, 0, 0, shared=0, warps=4, stages=3)
    return Variant(of.target, "", (), (), resources=needs)


def test_launches_of_one_program_are_one_variant_with_all_their_cases() -> None:
    one, other = program("a"), program("b")
    launches = [launch("n=64", one), launch("n=128", one), launch("n=100", other), launch("n=64", one)]
    (kernel,) = gather(launches, {p: compiled(p) for p in (one, other)}, ())
    assert [variant.cases for variant in kernel.variants] == [("n=64", "n=128"), ("n=100",)]
    assert kernel.variants[0].signature == SIGNATURE
    assert kernel.compiled == kernel.variants


def test_cases_are_named_after_their_subjects_where_several_launch_a_kernel() -> None:
    p, q = program("a"), program("b")
    launches = [launch("n=64", p, subject="one"), launch("n=64", p, subject="two"), launch("n=1", q, subject="two")]
    (kernel,) = gather(launches, {p: compiled(p), q: compiled(q)}, ())
    assert [variant.cases for variant in kernel.variants] == [("one: n=64", "two: n=64"), ("two: n=1",)]
    (alone,) = gather(launches[1:], {p: compiled(p), q: compiled(q)}, ())
    assert [variant.cases for variant in alone.variants] == [("n=64",), ("n=1",)]


def test_targets_and_configs_are_variants_of_their_own() -> None:
    here, there = program("a"), program("a", "gfx942")
    launches = [
        launch("n=64", here, config="BLOCK=64"),
        launch("n=64", here, config="BLOCK=128"),
        launch("n=64", there, target="gfx942"),
    ]
    (kernel,) = gather(launches, {p: compiled(p) for p in (here, there)}, ())
    assert [(v.target, v.config) for v in kernel.variants] == [
        ("sm_90", "BLOCK=64"),
        ("sm_90", "BLOCK=128"),
        ("gfx942", ""),
    ]


def test_what_the_front_end_refuses_is_a_variant_with_its_error() -> None:
    error = SourceError("arange's range must be a power of 2", KERNEL.path, 7, 9)
    (kernel,) = gather([launch("n=100", error=error)], {}, ())
    (variant,) = kernel.variants
    assert variant.error is not None
    assert variant.error.message == error.message
    assert variant.error.span is not None
    assert variant.error.span.line == 7
    assert kernel.compiled == ()


def test_kernels_come_in_the_order_of_the_text() -> None:
    first, last = KernelRef("/a.py", "one", 3), KernelRef("/a.py", "two", 9)
    p = program("a")
    kernels = gather([launch("c", p, kernel=last), launch("c", p, kernel=first)], {p: compiled(p)}, ())
    assert [kernel.name for kernel in kernels] == ["one", "two"]


def growing(*arguments: tuple[int, int], **said: Any) -> SweepLaunches:
    rows = tuple(
        (launch(f"n={n}", arguments=(("x_ptr", X), ("n", n), ("BLOCK", block)), **said),) for n, block in arguments
    )
    return SweepLaunches("n", tuple(n for n, _ in arguments), rows)


def swept(sweep: SweepLaunches) -> tuple[Sweep, ...]:
    p = program("a")
    (kernel,) = gather([launch("n=64", p)], {p: compiled(p)}, (sweep,))
    return kernel.sweeps


def test_a_size_that_is_a_constexpr_specialises_the_kernel_anew_each_time() -> None:
    sweep = growing((1040, 1040), (1104, 1104), (1168, 1168))
    assert swept(sweep) == (Sweep("n", (1040, 1104, 1168), 3, "BLOCK"),)


def test_a_size_that_is_rounded_up_does_not() -> None:
    assert swept(growing((1040, 2048), (1104, 2048), (1168, 2048))) == ()


def test_one_size_that_repeats_is_no_storm() -> None:
    assert swept(growing((1040, 1040), (1104, 1104), (1168, 1104))) == ()
