"""Subjects called on a stand-in GPU, in real worker processes: which launches they make."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="triton specialises the launches")

import triton
from triton.runtime.jit import JITFunction

from tritonaudit.capture.launch import Launch, TensorArgument
from tritonaudit.capture.task import Captured, CaptureTask, Unloadable, become_gpu, capture, capture_all
from tritonaudit.compile.capturing import Gathered, capture_subjects
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Status

SPEC = Path(__file__).parent / "audit_capture.py"
VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
LIMITS = Limits(seconds=120, memory=4 << 30)


def captured(target: str) -> dict[str, Captured]:
    ((_, outcome),) = run_tasks(capture_all, [SPEC], workers=1, limits=LIMITS, prepare=become_gpu, arguments=(target,))
    assert not isinstance(outcome, (Killed, Unloadable)), outcome
    return {one.task.subject: one for one in outcome}


@pytest.fixture(scope="module")
def hopper() -> dict[str, Captured]:
    return captured("sm_90")


@pytest.fixture(scope="module")
def mi300() -> dict[str, Captured]:
    return captured("gfx942")


def line_of(text: str) -> int:
    """The line of the spec file in which the text stands."""
    (found,) = [number for number, line in enumerate(SPEC.read_text().splitlines(), 1) if text in line]
    return found


def launch_in(one: Captured, case: str) -> Launch:
    (launch,) = [launch for launch in one.launches if launch.case == case]
    return launch


def test_a_launch_has_what_triton_specialises_by(hopper: dict[str, Captured]) -> None:
    launch = launch_in(hopper["plain"], "size=1024 float32")
    assert (launch.kernel.name, Path(launch.kernel.path), launch.kernel.line) == (
        "scale_kernel",
        SPEC,
        line_of("def scale_kernel"),
    )
    assert launch.grid == (1, 1, 1)
    assert dict(launch.signature) == {
        "x_ptr": "*fp32",
        "out_ptr": "*fp32",
        "n": "i32",
        "factor": "fp32",
        "BLOCK": "constexpr",
    }
    assert launch.specialisation == (("n", "divisible"), ("out_ptr", "divisible"), ("x_ptr", "divisible"))
    arguments = dict(launch.arguments)
    assert arguments["x_ptr"] == TensorArgument("float32", (1024,), (1,), 0, 0)
    assert arguments["out_ptr"] == TensorArgument("float32", (1024,), (1,), 0, 1)
    assert (arguments["n"], arguments["factor"], arguments["BLOCK"]) == (1024, 2.0, 1024)


def test_sizes_dtypes_and_views_are_launches_of_their_own(hopper: dict[str, Captured]) -> None:
    plain = hopper["plain"]
    assert dict(launch_in(plain, "size=1024 bfloat16").signature)["x_ptr"] == "*bf16"
    assert ("n", "divisible") not in launch_in(plain, "size=1000 float32").specialisation
    assert ("n", "one") in launch_in(plain, "size=1 float32").specialisation
    offset = launch_in(plain, "size=1024 float32 offset")
    assert ("x_ptr", "divisible") not in offset.specialisation
    assert dict(offset.arguments)["x_ptr"].offset == 1
    assert len({launch.program for launch in plain.launches}) == 6


def test_a_wrapper_that_hard_codes_cuda_sees_a_gpu(hopper: dict[str, Captured], mi300: dict[str, Captured]) -> None:
    here, there = (launch_in(found["on_cuda"], "size=1024 float32") for found in (hopper, mi300))
    assert (here.grid, dict(here.arguments)["BLOCK"]) == ((132, 1, 1), 512)
    assert (there.grid, dict(there.arguments)["BLOCK"]) == ((304, 1, 1), 256)


@pytest.mark.parametrize("subject", ["benchmarking", "seeded", "compiled", "drawing"])
def test_what_wrappers_ask_of_torch_is_answered(hopper: dict[str, Captured], subject: str) -> None:
    assert hopper[subject].missed == ()
    assert "scale_kernel" in {launch.kernel.name for launch in hopper[subject].launches}


def test_the_gpu_s_generator_remembers_how_much_was_drawn(hopper: dict[str, Captured]) -> None:
    assert {launch.grid for launch in hopper["drawing"].launches} == {(7 + 12, 1, 1)}


def test_a_gpu_has_the_limits_of_its_target(hopper: dict[str, Captured], mi300: dict[str, Captured]) -> None:
    for found, threads, registers in ((hopper, 2048, 65536), (captured("sm_75"), 1024, 65536), (mi300, 2048, 131072)):
        launch = launch_in(found["limits"], "size=1024 float32")
        assert launch.grid == (threads, registers // 1024, 1)
        assert dict(launch.arguments)["n"] == (launch.target != "sm_75")


def test_host_code_that_reads_values_gets_real_ones(hopper: dict[str, Captured]) -> None:
    assert [dict(launch.arguments)["n"] for launch in hopper["varlen"].launches] == [3, 17, 64]


def test_the_backward_pass_is_captured_too(hopper: dict[str, Captured]) -> None:
    factors = [dict(launch.arguments)["factor"] for launch in hopper["gradients"].launches]
    assert factors[:2] == [2.0, 3.0]


def test_a_custom_operator_is_looked_into(hopper: dict[str, Captured]) -> None:
    assert {dict(launch.arguments)["factor"] for launch in hopper["custom"].launches} == {4.0}


def test_every_config_left_after_pruning_is_a_launch(hopper: dict[str, Captured]) -> None:
    by_case: dict[str, list[str]] = {}
    for launch in hopper["autotuned"].launches:
        by_case.setdefault(launch.case, []).append(launch.config)
    assert by_case["size=1024 float32"] == [
        f"BLOCK={block} num_warps={warps} num_stages=3"
        for block, warps in ((64, 1), (128, 2), (256, 4), (512, 4), (1024, 8))
    ]
    assert by_case["size=1000 float32"] == [  # a case that varies the first tries some of them
        "BLOCK=64 num_warps=1 num_stages=3",
        "BLOCK=256 num_warps=4 num_stages=3",
        "BLOCK=1024 num_warps=8 num_stages=3",
    ]
    assert by_case["size=1 float32"] == ["BLOCK=64 num_warps=1 num_stages=3"]  # pruned: odd sizes get the smallest


def test_configs_are_distinguished_by_whatever_differs(hopper: dict[str, Captured]) -> None:
    case = "size=1024 float32"
    assert [launch.config for launch in hopper["odd_configs"].launches if launch.case == case] == [
        "BLOCK=64 num_warps=4 num_stages=3 num_ctas=1",
        "BLOCK=64 num_warps=4 num_stages=3 num_ctas=1 maxnreg=64",
        "BLOCK=64 num_warps=4 num_stages=3 num_ctas=2",
        "BLOCK=256 num_warps=4 num_stages=3 num_ctas=1",
    ]


def test_a_config_whose_hook_raises_costs_only_itself(hopper: dict[str, Captured]) -> None:
    missed = {one.case: one.reason for one in hopper["odd_configs"].missed}
    assert missed["size=1024 float32"] == "calling it gives ZeroDivisionError: division by zero"


@pytest.mark.skipif(VERSION < (3, 6), reason="this Triton compiles clusters for any target")
def test_a_config_that_triton_refuses_is_a_launch_that_fails() -> None:
    refused = [launch for launch in captured("sm_80")["odd_configs"].launches if "num_ctas=2" in launch.config]
    assert {launch.program for launch in refused} == {None}
    assert all(launch.error and launch.error.message.startswith("num_ctas > 1 requires") for launch in refused)


def test_a_launch_that_passes_what_the_configs_set_fails_while_the_wrapper_goes_on(
    hopper: dict[str, Captured],
) -> None:
    launches = [launch for launch in hopper["conflicting"].launches if launch.case == "size=1024 float32"]
    refused = next(launch for launch in launches if launch.kernel.name == "odd_kernel")
    assert refused.error is not None
    assert refused.error.message == "the launch passes `BLOCK`, which the configs of its autotuner set"
    assert refused.error.line == line_of("def odd_kernel")


def test_a_launch_has_the_name_of_its_subject(hopper: dict[str, Captured]) -> None:
    assert {launch.subject for launch in hopper["plain"].launches} == {"plain"}


def test_grids_and_heuristics_are_evaluated(hopper: dict[str, Captured]) -> None:
    launches = [launch for launch in hopper["autotuned"].launches if launch.case == "size=1000 float32"]
    assert [launch.grid for launch in launches] == [(16, 1, 1), (4, 1, 1), (1, 1, 1)]
    assert {dict(launch.arguments)["EVEN"] for launch in launches} == {False}


def test_an_error_of_the_front_end_is_at_the_users_line(hopper: dict[str, Captured]) -> None:
    launch = launch_in(hopper["broken"], "size=1024 float32")
    assert launch.program is None
    assert launch.error is not None
    assert (Path(launch.error.path), launch.error.line, launch.error.column) == (
        SPEC,
        line_of("return tl.dot(x, x)"),
        12,
    )


def test_a_case_that_the_wrapper_refuses_is_said_with_its_reason(hopper: dict[str, Captured]) -> None:
    picky = hopper["picky"]
    assert [(missed.case, missed.reason) for missed in picky.missed] == [
        ("size=1000 float32", "calling it gives ValueError: only 1024 elements"),
        ("size=1 float32", "calling it gives ValueError: only 1024 elements"),
    ]
    assert (Path(picky.missed[0].path), picky.missed[0].line) == (SPEC, line_of("raise ValueError"))
    assert {launch.case for launch in picky.launches} == {
        "size=1024 float32",
        "size=1024 float32 offset",
    }


def test_growing_sizes_show_a_recompile_storm(hopper: dict[str, Captured]) -> None:
    sweeps = {sweep.dimension: sweep for sweep in hopper["storm"].sweeps}
    sizes = [dict(launches[0].arguments)["SIZE"] for launches in sweeps["size"].launches]
    assert sizes == list(sweeps["size"].sizes)
    assert all(launch.program is None for launches in sweeps["size"].launches for launch in launches)


# -- files that go wrong -------------------------------------------------------------------------------------------


def gathered(tmp_path: Path, text: str) -> Gathered:
    path = tmp_path / "audit_wrong.py"
    path.write_text(text, encoding="utf-8")
    return capture_subjects([path], ["sm_90"], jobs=1)


HEAD = """\
import os
import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor

@triton.jit
def fill_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)

def fill(x):
    fill_kernel[(1,)](x, BLOCK=64)

good = Subject(fill, inputs=[Tensor("size")], dtypes=["float32"])
"""
GLUON = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def copy_kernel(x_ptr, out_ptr, BLOCK: gl.constexpr):
    offsets = gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(out_ptr + offsets, gl.load(x_ptr + offsets))

def copy(x):
    copy_kernel[(1,)](x, torch.empty_like(x), BLOCK=128)
    fill(x)

copied = Subject(copy, inputs=[Tensor("size")], dtypes=["float32"])
"""


def test_a_file_that_cannot_be_imported_is_a_problem_at_its_line(tmp_path: Path) -> None:
    found = gathered(tmp_path, HEAD + "raise RuntimeError('it needs a driver of its own')\n")
    (problem,) = found.problems
    assert problem.path.endswith("audit_wrong.py")
    assert problem.line == 15
    assert problem.message == "RuntimeError: it needs a driver of its own"


def test_a_subject_that_kills_its_process_costs_only_itself(tmp_path: Path) -> None:
    found = gathered(tmp_path, HEAD + "bad = Subject(lambda x: os.abort(), inputs=[Tensor('size')])\n")
    assert {launch.kernel.name for launch in found.launches} == {"fill_kernel"}
    (problem,) = found.problems
    assert "'bad'" in problem.message
    assert "SIGABRT" in problem.message


def test_what_the_users_code_prints_does_not_reach_our_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = gathered(tmp_path, HEAD + "print('hello from the user')\nos.system('echo hello again')\n")
    assert found.launches
    assert "hello" not in "".join(capfd.readouterr())


def test_a_subject_that_launches_nothing_is_said(tmp_path: Path) -> None:
    found = gathered(tmp_path, HEAD + "idle = Subject(lambda x: x + 1, inputs=[Tensor('size')], dtypes=['float32'])\n")
    (outcome,) = found.outcomes
    assert outcome.reason == "the subject 'idle' launches no kernel"


def test_cases_that_fail_alike_are_said_once(tmp_path: Path) -> None:
    refusing = """
def refuse(x):
    if x.dtype is torch.float32:
        raise TypeError("no singles")
    return fill(x)

picky = Subject(refuse, inputs=[Tensor('size')], dtypes=["float32", "float16"])
"""
    (outcome,) = gathered(tmp_path, HEAD + refusing).outcomes
    assert outcome.status is Status.NOT_RUN
    assert outcome.reason.startswith("the subject 'picky', with size=1024 float32 and 3 other cases: ")
    assert "calling it gives TypeError: no singles (" in outcome.reason
    assert outcome.reason.endswith("audit_wrong.py:18)")


def test_what_fails_on_all_targets_is_said_alike_and_without_them(tmp_path: Path) -> None:
    choosing = """
def choose(x):
    if x.shape[0] == 1:
        raise TypeError("too small")
    if x.shape[0] == 1000 and torch.version.hip:
        raise TypeError("only on NVIDIA")
    return fill(x)

choosy = Subject(choose, inputs=[Tensor('size')], dtypes=["float32"])
"""
    path = tmp_path / "audit_wrong.py"
    path.write_text(HEAD + choosing, encoding="utf-8")
    reasons = [outcome.reason for outcome in capture_subjects([path], ["sm_90", "gfx942"], jobs=1).outcomes]
    alike, other = dict.fromkeys(reasons)
    assert reasons.count(alike) == 2
    assert alike.startswith("the subject 'choosy', with size=1 float32: calling it gives TypeError: too small (")
    assert other.startswith("the subject 'choosy' on gfx942, with size=1000 float32: ")


def test_a_subject_of_which_no_case_can_be_called_is_a_problem(tmp_path: Path) -> None:
    found = gathered(tmp_path, HEAD + "bad = Subject(lambda x, y: fill(x), inputs=[Tensor('size')])\n")
    (problem,) = found.problems
    assert problem.message.startswith("the subject 'bad', in all 6 cases, such as size=1024 float32: ")
    assert "missing 1 required positional argument: 'y'" in problem.message
    assert found.outcomes == ()


def test_a_file_whose_import_hangs_is_a_problem_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonaudit.compile.capturing.become_gpu", become_impatient_gpu)
    found = gathered(tmp_path, HEAD + "import time\nwhile True:\n    time.sleep(0.01)\n")
    assert [problem.message for problem in found.problems] == ["importing it takes longer than 0.5 s"]


def become_impatient_gpu(target: str) -> None:
    from tritonaudit.capture import task

    task.IMPORT_SECONDS = 0.5
    task.become_gpu(target)


@pytest.mark.skipif(not hasattr(JITFunction, "is_gluon"), reason="this Triton has no Gluon")
def test_a_gluon_kernel_is_not_run_while_its_neighbours_are(tmp_path: Path) -> None:
    found = gathered(tmp_path, HEAD + GLUON)
    assert {launch.kernel.name for launch in found.launches} == {"fill_kernel"}
    (outcome,) = found.outcomes
    assert outcome.status is Status.NOT_RUN
    assert "`copy_kernel` is written in Gluon, which is not compiled (" in outcome.reason


def test_one_subject_can_be_captured_alone() -> None:
    ((_, outcome),) = run_tasks(
        capture, [CaptureTask(SPEC, "plain")], workers=1, limits=LIMITS, prepare=become_gpu, arguments=("sm_80",)
    )
    assert isinstance(outcome, Captured)
    assert outcome.target == "sm_80"
    assert len(outcome.launches) == outcome.cases == 6
