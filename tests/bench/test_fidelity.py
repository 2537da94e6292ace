"""The bench that compares the engine with a GPU: what counts as the same, as near enough, as explained."""

from __future__ import annotations

import math
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl  # noqa: E402

from bench.fidelity import tables  # noqa: E402
from bench.fidelity.comparing import allowed, are_within, difference, distance  # noqa: E402
from bench.fidelity.hook import Caps, Hook, captured  # noqa: E402
from bench.fidelity.host import spread  # noqa: E402
from bench.fidelity.jobs import Job, run_jobs, split  # noqa: E402
from bench.fidelity.judging import judge  # noqa: E402
from bench.fidelity.perturbing import Perturbation  # noqa: E402
from bench.fidelity.recording import Recorded, bytes_of, load, save, storages_of  # noqa: E402
from bench.fidelity.rows import Row, Verdict, write  # noqa: E402
from tests.bench import kernels  # noqa: E402
from tritonaudit.simulator.engine import Run, execute  # noqa: E402
from tritonaudit.simulator.gpu_program import ttgir_of  # noqa: E402
from tritonaudit.simulator.live import module_of  # noqa: E402
from tritonaudit.simulator.numerics.bounds import dot_error, ulp_distance, ulps  # noqa: E402

_N = 64
_PLAIN = Run()


def _recorded(kernel: Any, *args: Any, grid: tuple[int, ...] = (1,), run: Run | None = None) -> Recorded:
    """A launch as if the GPU had executed it as the engine does in that run, or else as it does as a GPU."""
    launch, arguments = captured(kernel, args, {}, grid)
    assert launch.program is not None
    run = Run(as_gpu=True, ttgir=ttgir_of(launch.program)) if run is None else run
    assert launch.grid is not None
    before = [one.clone() if torch.is_tensor(one) else one for one in args]
    execute(module_of(launch.program.ttir), launch.grid, arguments, run)
    after = [bytes_of(storage).clone() for storage in storages_of(one.value for one in arguments)]
    for one, copy in zip(args, before, strict=True):
        if torch.is_tensor(one):
            one.copy_(copy)
    return Recorded("source", "unit", "kernel", "file.py", 1, launch.program.ttir, launch.grid, arguments, after)


def _perturbed(seed: int) -> Run:
    return Run(is_checked=False, handlers=Perturbation(seed).handlers)


def _outputs(kernel: Any, *args: Any, run: Run, grid: tuple[int, ...] = (1,)) -> Any:
    """What a launch leaves in its last tensor."""
    recorded = _recorded(kernel, *args, grid=grid, run=run)
    last = [one for one in args if torch.is_tensor(one)][-1]
    return recorded.after[-1].view(last.dtype)


def _normal(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).to(dtype)


# -- what differs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_any_nan_is_the_same_and_zeros_of_both_signs_are_not(dtype: Any) -> None:
    one = torch.tensor([math.nan, 0.0, 1.0]).to(dtype)
    two = torch.tensor([-math.nan, -0.0, 1.0]).to(dtype)
    assert difference(one, two).elements == 1
    assert distance(one, two).tolist() == [0, 0, 0]


def test_what_differs_is_reported_in_ulps_and_of_integers_in_numbers() -> None:
    one = torch.tensor([1.0, 2.0])
    assert difference(one, torch.nextafter(one, torch.tensor(9.0))).worst == 1
    assert difference(torch.tensor([3, 5]), torch.tensor([3, -5])).worst == 10
    assert difference(torch.tensor([1.0]).to(torch.float8_e5m2), torch.tensor([1.25]).to(torch.float8_e5m2)).worst == 1


def test_a_number_is_infinitely_far_from_what_is_none() -> None:
    one = torch.tensor([1.0, math.inf, math.nan, math.inf])
    assert distance(one, torch.tensor([math.nan, 1.0, math.inf, -math.inf])).tolist() == [math.inf] * 4


def test_where_nothing_deviates_nothing_may() -> None:
    ours = torch.ones(4)
    assert not bool(allowed(ours, torch.zeros(4, dtype=torch.float64)).any())
    assert not are_within(ours, torch.nextafter(ours, torch.tensor(9.0)), torch.zeros(4, dtype=torch.float64))


def test_elements_of_one_magnitude_vouch_for_each_other_and_no_others_do() -> None:
    ours = torch.cat([torch.full((256,), 1.0), torch.full((256,), 1000.0)])
    deviation = torch.zeros(512, dtype=torch.float64)
    deviation[300] = 0.5
    assert are_within(ours, ours + torch.tensor([0.0, 0.9]).repeat_interleave(256), deviation)
    assert not are_within(ours, ours + torch.tensor([0.0, 1.1]).repeat_interleave(256), deviation)
    assert not are_within(ours, ours + torch.tensor([1e-3, 0.0]).repeat_interleave(256), deviation)


def test_in_a_small_tensor_the_relative_deviation_of_great_elements_limits_the_small_ones() -> None:
    ours = torch.tensor([1.0, 1000.0])
    deviation = torch.tensor([1e-4, 0.1], dtype=torch.float64)
    assert are_within(ours, ours + torch.tensor([1.9e-4, 0.0]), deviation)
    assert not are_within(ours, ours + torch.tensor([1e-2, 0.0]), deviation)


def test_an_element_that_overflows_vouches_for_no_other() -> None:
    ours = torch.full((256,), 1e38)
    deviation = torch.zeros(256, dtype=torch.float64)
    deviation[0] = torch.inf
    assert not are_within(ours, torch.full((256,), 2e38), deviation)


# -- executions with errors --------------------------------------------------------------------------------------------


def test_an_inexact_result_is_moved_by_its_whole_bound_in_both_directions() -> None:
    x, out = _normal(_N), torch.zeros(_N)
    exact = _outputs(kernels.exponential, x, out, _N, run=Run())
    moved = _outputs(kernels.exponential, x, out, _N, run=_perturbed(0))
    assert set(ulp_distance(exact, moved).tolist()) == {ulps("math.exp", "f32")}
    assert bool((moved > exact).any())
    assert bool((moved < exact).any())


def test_two_executions_with_one_seed_are_the_same() -> None:
    x, out = _normal(_N), torch.zeros(_N)
    one, two, three = (_outputs(kernels.exponential, x, out, _N, run=_perturbed(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, two)
    assert not torch.equal(one, three)


def test_subnormals_are_flushed_where_the_instruction_may_do_that() -> None:
    x, out = torch.full((_N,), 1e-40), torch.zeros(_N)
    found = _outputs(kernels.root, x, out, _N, run=_perturbed(0))
    assert bool((found == 0).any())
    assert bool((found > 1e-21).any())


def test_a_sum_is_added_in_another_order() -> None:
    x, out = _normal(8 * 1024), torch.zeros(8)
    sums = [_outputs(kernels.total, x, out, 1024, grid=(8,), run=_perturbed(seed)) for seed in range(6)]
    assert len({tuple(one.tolist()) for one in sums}) > 1
    for one in sums:
        torch.testing.assert_close(one.double(), x.view(8, -1).double().sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_scan_that_does_not_commute_is_added_in_its_own_direction(is_reverse: bool) -> None:
    x, out = _normal(256), torch.zeros(256)
    scans = [_outputs(kernels.recurrence, x, out, 256, is_reverse, run=_perturbed(seed)) for seed in range(6)]
    wanted, state = [], 0.0
    for value in x.flip(0).tolist() if is_reverse else x.tolist():
        state = 0.5 * state + value
        wanted.append(state)
    expected = torch.tensor(wanted[::-1] if is_reverse else wanted)
    for one in scans:
        torch.testing.assert_close(one, expected, rtol=1e-4, atol=1e-5)


def test_an_extreme_and_integers_are_what_they_are() -> None:
    x, out = _normal(256), torch.zeros(1)
    assert _outputs(kernels.greatest, x, out, 256, run=_perturbed(0)) == x.max()
    whole = torch.arange(256, dtype=torch.int32)
    assert _outputs(kernels.total, whole, torch.zeros(1, dtype=torch.int32), 256, run=_perturbed(0)) == whole.sum()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e5m2])
def test_a_product_of_matrices_is_moved_as_far_as_it_may_err(dtype: Any) -> None:
    n = 32
    x, y, out = _normal(n, n, dtype=dtype), _normal(n, n).flip(0).to(dtype), torch.zeros(n, n)
    exact, moved = (_outputs(kernels.product, x, y, out, n, run=run).view(n, n) for run in (Run(), _perturbed(0)))
    magnitudes = x.double().abs() @ y.double().abs()
    relative = (moved.double() - exact.double()).abs() / magnitudes
    limit = dot_error(n, "f8E5M2" if dtype.itemsize == 1 else "f16")
    assert float(relative.max()) <= limit * 1.1
    assert float(relative.min()) >= limit / 2


@pytest.mark.skipif(triton.__version__.startswith("3.2."), reason="Triton 3.2 scales the left operand alone")
def test_a_product_of_scaled_operands_is_moved_by_what_its_magnitudes_allow() -> None:
    n, bits = 32, torch.Generator().manual_seed(3)
    x = torch.randint(0, 256, (n, 64), generator=bits, dtype=torch.uint8)
    x[(x & 0x7F) == 0x7F] = 0  # NaN
    y = torch.randint(0, 256, (32, n), generator=bits, dtype=torch.uint8)
    x_scale, y_scale = (torch.randint(120, 130, (n, 2), generator=bits, dtype=torch.uint8) for _ in range(2))
    out = torch.zeros(n, n)

    def made(x: Any, y: Any, run: Run) -> Any:
        args = (x.view(torch.float8_e4m3fn), x_scale, y, y_scale, out, n)
        return _outputs(kernels.scaled_product, *args, run=run)

    exact, moved = made(x, y, _PLAIN), made(x, y, _perturbed(0))
    magnitudes = made(x & 0x7F, y & 0x77, _PLAIN)
    relative = (moved.double() - exact.double()).abs() / magnitudes.double()
    assert float(relative.max()) <= dot_error(64, "f8E4M3FN") * 1.01
    assert float(relative.min()) >= dot_error(64, "f8E4M3FN") / 2


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_the_same_bits_are_exact() -> None:
    assert judge(_recorded(kernels.exponential, _normal(_N), torch.zeros(_N), _N)).verdict is Verdict.EXACT


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (kernels.exponential, lambda: (_normal(_N), torch.zeros(_N), _N)),
        (kernels.total, lambda: (_normal(4096), torch.zeros(1), 4096)),
        (kernels.product, lambda: (_normal(32, 32), _normal(32, 32), torch.zeros(32, 32), 32)),
    ],
)
def test_errors_as_they_were_declared_are_within_bounds(kernel: Any, args: Callable[[], tuple[Any, ...]]) -> None:
    for seed in (100, 101, 102):
        row = judge(_recorded(kernel, *args(), run=_perturbed(seed)))
        assert row.verdict in (Verdict.BOUNDED, Verdict.EXACT)


def test_a_sum_may_take_in_a_product_or_not() -> None:
    recorded = _recorded(kernels.multiply_add, _normal(_N), _normal(_N), torch.zeros(_N), _N, run=Run(contracts=False))
    assert judge(recorded).verdict is Verdict.BOUNDED
    assert judge(replace(recorded, contracts=False)).verdict is Verdict.EXACT


def test_more_than_twice_the_bound_is_unexplained() -> None:
    recorded = _recorded(kernels.exponential, _normal(_N), torch.zeros(_N), _N)
    result = recorded.after[1].view(torch.float32)
    result[5] *= 1 + 20 * 2.0**-23
    row = judge(recorded)
    assert (row.verdict, row.differing, row.tensor) == (Verdict.UNEXPLAINED, 1, "out:float32")
    assert row.ulps > 2 * 3


def test_one_bit_of_an_exact_operation_is_unexplained() -> None:
    recorded = _recorded(kernels.greatest, _normal(256), torch.zeros(1), 256)
    recorded.after[1][0] ^= 1
    assert judge(recorded).verdict is Verdict.UNEXPLAINED


def test_a_race_explains_what_differs_with_its_line() -> None:
    recorded = _recorded(kernels.everyone, torch.zeros(_N, dtype=torch.int32), _N, grid=(4,))
    recorded.after[0].view(torch.int32)[:] = 1
    row = judge(recorded)
    assert row.verdict is Verdict.EXPLAINED
    assert row.reason.startswith("race between two writes (line ")


def test_the_order_of_atomics_explains_who_got_which_ticket() -> None:
    counter, out = torch.zeros(1, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    recorded = _recorded(kernels.tickets, counter, out, grid=(8,))
    recorded.after[1].view(torch.int32)[:] = torch.arange(8, dtype=torch.int32).roll(3)
    row = judge(recorded)
    assert (row.verdict, row.reason) == (Verdict.EXPLAINED, "the order of atomics")


def test_atomic_sums_are_within_bounds_in_any_order() -> None:
    order = torch.randperm(64, generator=torch.Generator().manual_seed(5))
    recorded = _recorded(kernels.added_up, _normal(64 * _N), torch.zeros(_N), _N, grid=(64,), run=Run(order=order))
    assert judge(recorded).verdict is Verdict.BOUNDED


def test_what_the_gpu_itself_does_not_repeat_is_explained() -> None:
    recorded = _recorded(kernels.greatest, _normal(256), torch.zeros(1), 256)
    recorded.after[1][0] ^= 1
    assert judge(replace(recorded, repeats=False)).verdict is Verdict.EXPLAINED


def test_what_is_not_modelled_is_said_by_name() -> None:
    launch, arguments = captured(kernels.assembly, (torch.zeros(_N, dtype=torch.int32),) * 2 + (_N,), {}, (1,))
    assert launch.program is not None
    row = judge(Recorded("source", "unit", "kernel", "file.py", 1, launch.program.ttir, (1, 1, 1), arguments))
    assert row.verdict is Verdict.NOT_SIMULATED
    assert row.reason.startswith("tt.elementwise_inline_asm: dp4a.u32.u32")


def test_an_error_that_nobody_declared_is_not_bounded() -> None:
    recorded = _recorded(kernels.logarithm_of_gamma, _normal(_N).abs(), torch.zeros(_N), _N)
    recorded.after[1][0] ^= 1
    row = judge(recorded)
    assert row.verdict is Verdict.UNEXPLAINED
    assert row.reason == "no bound is declared for __nv_lgammaf of f32"


def test_a_launch_that_breaks_the_gpu_is_explained_by_a_fault_alone() -> None:
    recorded = replace(_recorded(kernels.exponential, _normal(_N), torch.zeros(_N), _N), crash="illegal address")
    assert judge(recorded).verdict is Verdict.UNEXPLAINED
    outside = _recorded(kernels.exponential, _normal(_N), torch.zeros(_N), _N, grid=(2,))
    row = judge(replace(outside, crash="illegal address"))
    assert row.verdict is Verdict.EXPLAINED
    assert "out-of-bounds store" in row.reason


# -- recording ---------------------------------------------------------------------------------------------------------


def test_a_recorded_launch_is_read_as_it_was_written_aliases_and_all(tmp_path: Path) -> None:
    whole = _normal(2 * _N)
    recorded = _recorded(kernels.exponential, whole[:_N], whole[_N:], _N)
    save(recorded, tmp_path / "one.pt")
    again = load(tmp_path / "one.pt")
    assert len(storages_of(one.value for one in again.arguments)) == 1
    assert torch.equal(again.after[0], recorded.after[0])
    assert judge(again).verdict is Verdict.EXACT


@pytest.fixture
def unhooked() -> Any:
    """Triton's launches as they were, when the test is over."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    before = JITFunction.run, Autotuner.run
    yield JITFunction
    JITFunction.run, Autotuner.run = before


def _as_engine(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
    """A launch on a GPU, if the GPU were the engine."""
    launch, arguments = captured(function, args, kwargs, grid)
    assert launch.program is not None
    assert launch.grid is not None
    run = Run(as_gpu=True, ttgir=ttgir_of(launch.program))
    execute(module_of(launch.program.ttir), launch.grid, arguments, run)


def test_a_hook_records_launches_and_leaves_out_repetitions_and_large_ones(tmp_path: Path, unhooked: Any) -> None:
    unhooked.run = _as_engine
    hook = Hook(tmp_path, "source", Caps(specialisation=2, bytes=4 * 1024), synchronize=lambda: None, unit="unit")
    hook.install()
    x, out = _normal(_N), torch.zeros(_N)
    for _ in range(3):
        out.zero_()
        kernels.exponential[(1,)](x, out, _N)
    kernels.exponential[(1,)](_normal(4096), torch.zeros(4096), 4096)
    first, second = (load(path) for path in sorted(tmp_path.glob("*.pt")))
    assert (first.source, first.unit, first.kernel) == ("source", "unit", "exponential")
    assert hook.left_out == {"enough of this kernel": 1, "more than 0 MiB": 1}
    assert not bool(second.arguments[1].value.any())
    assert bool(out.all())
    assert judge(first).verdict is Verdict.EXACT
    assert first.repeats


def test_a_descriptor_of_a_tensor_that_stands_for_another_type_is_recorded(tmp_path: Path, unhooked: Any) -> None:
    descriptors = pytest.importorskip("triton.tools.tensor_descriptor")
    unhooked.run = _as_engine
    Hook(tmp_path, "source", synchronize=lambda: None).install()
    whole = torch.arange(32 * 32, dtype=torch.int32).to(torch.int8).view(32, 32)
    out = torch.zeros(16, 16, dtype=torch.int8)
    unsigned = [triton.reinterpret(one, tl.uint8) for one in (whole, out)]
    tile = descriptors.TensorDescriptor(unsigned[0], [32, 32], [32, 1], [16, 16])
    kernels.from_descriptor[(1,)](tile, unsigned[1], 16)
    assert torch.equal(out, whole[:16, :16])
    [recorded] = (load(path) for path in tmp_path.glob("*.pt"))
    assert not bool(next(one.value for one in recorded.arguments if one.name == "out").any())
    assert judge(recorded).verdict is Verdict.EXACT


# -- jobs and tables ---------------------------------------------------------------------------------------------------


def test_of_many_cases_some_are_taken_from_the_first_to_the_last() -> None:
    assert spread(list(range(100)), 4) == [0, 33, 66, 99]
    assert spread([1, 2], 4) == [1, 2]


@pytest.mark.slow
def test_a_process_that_breaks_or_hangs_is_ended_and_the_next_goes_on_behind(tmp_path: Path) -> None:
    scripts, output = tmp_path / "scripts", tmp_path / "output"
    scripts.mkdir()
    output.mkdir()
    (scripts / "a_breaks.py").write_text("import os\nos._exit(9)\n", encoding="utf-8")
    (scripts / "b_hangs.py").write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    [ran] = run_jobs(split(Job("scripts", "scripts", str(scripts), str(output)), 1), 1, time.monotonic() + 120, 15)
    assert (ran.begun, ran.broken) == (2, ("a_breaks.py", "b_hangs.py"))


def test_shares_are_of_what_was_simulated_and_the_rest_is_listed(tmp_path: Path) -> None:
    rows = [
        Row("triton", "a", "_k", "f.py:1", Verdict.EXACT),
        Row("triton", "b", "_k", "f.py:1", Verdict.BOUNDED, "within 1 executions with errors", "x:float32", 1, 2.0),
        Row("triton", "c", "_asm", "f.py:9", Verdict.NOT_SIMULATED, "inline assembly"),
        Row("liger", "d", "_race", "g.py:5", Verdict.EXPLAINED, "race between two writes (line 7)", "x:int32", 3, 1.0),
    ]
    assert "| triton | 3 | 1 | 1 | 0 | 1 | 0 | 50.0% | 100.0% |" in tables.shares(rows)
    assert "| all | 4 | 1 | 1 | 1 | 1 | 0 | 33.3% | 66.7% |" in tables.shares(rows)
    others = tables.others(rows)
    assert "race between two writes (line 7)" in others
    assert "within" not in others
    write(tmp_path / "rows.tsv", rows)
    assert (tmp_path / "rows.tsv").read_text(encoding="utf-8").splitlines()[2].split("\t")[4] == "within bounds"


def test_of_what_is_not_exact_the_operations_are_counted() -> None:
    exact = judge(_recorded(kernels.exponential, _normal(_N), torch.zeros(_N), _N))
    other = judge(_recorded(kernels.total, _normal(4096), torch.zeros(1), 4096, run=_perturbed(100)))
    assert (exact.operations, other.operations) == (("math.exp:f32",), ("tt.reduce:f32",))
    assert "| math.exp:f32 | 1 | 1 | 1 | 1 |" in tables.operations([exact, other])


def test_launches_that_are_not_exact_are_kept_and_judged_again_without_a_gpu(tmp_path: Path) -> None:
    from bench.agreement.sides import Failed, run

    wrong = _recorded(kernels.greatest, _normal(256), torch.zeros(1), 256)
    wrong.after[1][0] ^= 1
    save(wrong, tmp_path / "one.pt")
    with zipfile.ZipFile(tmp_path / "launches.zip", "w") as archive:
        archive.write(tmp_path / "one.pt", "one.pt")
    with pytest.raises(Failed, match=r"unexplained \| 1 \| kernel"):
        run([sys.executable, "bench/fidelity", "--again", str(tmp_path / "launches.zip"), "--workers", "1"], {})


def test_without_a_gpu_it_says_that_it_was_not_run() -> None:
    from bench.agreement.sides import run

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert run([sys.executable, "bench/fidelity"], {}).startswith("NOT RUN: ")
