"""Lifted kernels run in real workers, called as inferred, and compiled to TTIR by Triton's own front end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="triton compiles the kernels")

import triton

from tests.capture.projects import function, guesses_that_count, write
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.task import become_gpu
from tritonaudit.capture.unasked import Inferred, InferTask, infer_launches
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

LIMITS = Limits(seconds=120, memory=4 << 30)
OLD = "triton.language.math.tanh"

FILES = {
    "plain.py": """\
        from pkg.helpers import twice

        raise SystemExit("the project was imported")


        @triton.jit
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offs, mask=offs < n)
            tl.store(out_ptr + offs, twice(x), mask=offs < n)


        def run(x):
            out = torch.empty_like(x)
            kernel[(1,)](x, out, x.numel(), BLOCK=128)
        """,
    "pkg/__init__.py": "",
    "pkg/helpers.py": """\
        import nowhere

        IS_RARE = nowhere.is_rare()

        if IS_RARE:
            FACTOR = tl.constexpr(3)
        else:
            FACTOR = tl.constexpr(2)

        if nowhere.is_recent("triton"):
            from triton.language.extra.libdevice import tanh
        else:
            from triton.language.libdevice_of_old import tanh


        @triton.jit
        def twice(x):
            return tanh(x.to(tl.float32)) * FACTOR
        """,
    "tuned.py": """\
        from nowhere import cached, tracked


        def configs():
            return [triton.Config({"BLOCK": size}, num_warps=size // 32) for size in (64, 128)]


        @tracked
        @cached(configs=configs(), key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["EVEN"] or args["n"] % args["BLOCK"] == 0})
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            offs = tl.arange(0, BLOCK)
            tl.store(x_ptr + offs, 1.0, mask=None if EVEN else offs < n)
        """,
    "pruned.py": """\
        def prune(configs, named, **_):
            return [config for config in configs if config.kwargs["BLOCK"] <= named["n"]]


        @triton.autotune(
            [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 4096})],
            key=["n"],
            prune_configs_by={"early_config_prune": prune},
        )
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


        def run(x):
            kernel[(1,)](x, 1024)
        """,
    "unknown_configs.py": """\
        from nowhere import sizes


        @triton.autotune(configs=[triton.Config({"BLOCK": size}) for size in sizes()], key=[])
        @triton.jit
        def kernel(x_ptr, BLOCK: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
        """,
    "nested.py": """\
        def make(SCALE=tl.constexpr(2)):
            @triton.jit
            def kernel(x_ptr, BLOCK: tl.constexpr):
                tl.store(x_ptr + tl.arange(0, BLOCK), SCALE)

            return kernel
        """,
    "method.py": """\
        class Layer(torch.autograd.Function):
            @staticmethod
            @triton.jit
            def kernel(x_ptr, BLOCK: tl.constexpr):
                tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
        """,
    "mixed.py": """\
        @triton.jit
        def kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
            offs = tl.arange(0, BLOCK)
            grid = offs[:, None] * BLOCK + offs[None, :]
            total = tl.load(x_ptr)
            for _ in range(4):
                total += tl.sum(tl.dot(tl.load(y_ptr + grid), tl.load(y_ptr + grid)))
            tl.store(out_ptr, total)
        """,
    "wrong.py": """\
        @triton.jit
        def kernel(x_ptr, BLOCK: tl.constexpr):
            offs = tl.arange(0, BLOCK)
            tl.store(x_ptr + offs, tl.no_such_thing(offs))
        """,
    "missing.py": """\
        from nowhere import helper


        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, helper(1.0))
        """,
    "older.py": """\
        from triton.language.math import tanh


        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, tanh(tl.load(x_ptr)))
        """,
    "annotated.py": """\
        @triton.jit
        def kernel(x_ptr: torch.Tensor, n: tl.int64, BLOCK: "tl.constexpr"):
            tl.store(x_ptr + tl.arange(0, BLOCK) + n, 1.0)
        """,
    "passed.py": """\
        @triton.jit
        def square(x):
            return x * x


        @triton.jit
        def kernel(x_ptr, ACTIVATION: tl.constexpr, DTYPE: tl.constexpr):
            tl.store(x_ptr, ACTIVATION(tl.load(x_ptr)).to(DTYPE))


        def run(x):
            kernel[(1,)](x, square, tl.float32)
        """,
}
KERNELS = [name for name in FILES if not name.startswith("pkg/")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {name: "\n".join(line[8:] for line in text.split("\n")) for name, text in FILES.items()}
    return write(tmp_path_factory.mktemp("project"), files)


@pytest.fixture(scope="module")
def inferred(root: Path) -> Mapping[str, Inferred]:
    """What comes of every kernel, in one worker."""
    tasks = [InferTask(root, root / name, function(root / name, "kernel").jit.qualname) for name in KERNELS]
    results = run_tasks(infer_launches, tasks, workers=1, limits=LIMITS, prepare=become_gpu, arguments=("sm_90",))
    found: dict[str, Inferred] = {}
    for task, outcome in results:
        assert not isinstance(outcome, Killed), outcome
        found[task.path.name] = outcome
    return found


def launches(inferred: Mapping[str, Inferred], name: str) -> tuple[Launch, ...]:
    """The launches of a kernel that compiles."""
    outcome = inferred[name]
    assert [launch.error for launch in outcome.launches if launch.error is not None] == []
    assert outcome.launches, outcome.reason
    return outcome.launches


def assumed(inferred: Mapping[str, Inferred], name: str) -> str:
    return "\n".join(inferred[name].launches[0].assumed)


def test_a_kernel_is_compiled_without_its_project_at_its_own_lines(
    root: Path, inferred: Mapping[str, Inferred]
) -> None:
    (launch,) = launches(inferred, "plain.py")
    text = (root / "plain.py").read_text().split("\n")
    assert launch.kernel.path == str(root / "plain.py")
    assert text[launch.kernel.line - 1].startswith("def kernel")
    assert dict(launch.signature) == {"x_ptr": "*fp16", "out_ptr": "*fp16", "n": "i32", "BLOCK": "constexpr"}
    assert dict(launch.arguments)["BLOCK"] == 128
    assert launch.program is not None
    line = next(number for number, words in enumerate(text, 1) if "tl.load" in words)
    assert f'"{root / "plain.py"}":{line}:' in launch.program.ttir
    assert str(root / "pkg" / "helpers.py") in launch.program.ttir
    assert launch.is_inferred
    assert "`x_ptr` points to float16" in assumed(inferred, "plain.py")
    assert "`IS_RARE` is taken to be False" in assumed(inferred, "plain.py")
    assert "`nowhere.is_recent('triton')` is taken to be True" in assumed(inferred, "plain.py")


def test_every_config_is_a_launch_whoever_tunes(inferred: Mapping[str, Inferred]) -> None:
    found = launches(inferred, "tuned.py")
    sizes = [dict(launch.arguments)["BLOCK"] for launch in found]
    assert sizes == [64, 128]
    assert [dict(launch.arguments)["EVEN"] for launch in found] == [True, True]
    assert "`tracked` is left out" in assumed(inferred, "tuned.py")


def test_what_configs_and_heuristics_set_is_not_assumed(root: Path) -> None:
    ((_, sentences),) = run_tasks(
        guesses_that_count, [root], workers=1, limits=LIMITS, prepare=become_gpu, arguments=("sm_90",)
    )
    assert not isinstance(sentences, Killed), sentences
    assert [sentence.split()[0] for sentence in sentences] == ["`x_ptr`", "`n`"]


def test_a_pruner_prunes(inferred: Mapping[str, Inferred]) -> None:
    (launch,) = launches(inferred, "pruned.py")
    assert dict(launch.arguments)["BLOCK"] == 64


def test_configs_that_cannot_be_had_are_guessed_and_that_is_said(inferred: Mapping[str, Inferred]) -> None:
    (launch,) = launches(inferred, "unknown_configs.py")
    assert dict(launch.arguments)["BLOCK"] == 64
    assert "the configs of `triton.autotune` are not known" in assumed(inferred, "unknown_configs.py")
    assert "`BLOCK` is 64: no launch gives it" in assumed(inferred, "unknown_configs.py")


@pytest.mark.parametrize("name", ["nested.py", "method.py", "annotated.py"])
def test_a_kernel_compiles_wherever_it_stands(inferred: Mapping[str, Inferred], name: str) -> None:
    assert launches(inferred, name)


@pytest.mark.skipif(triton.__version__.startswith("3.2."), reason="3.2 takes no function as a constexpr")
def test_a_kernel_is_given_the_function_that_its_launch_passes(inferred: Mapping[str, Inferred]) -> None:
    assert launches(inferred, "passed.py")


def test_a_guess_that_the_compiler_rejects_is_replaced(inferred: Mapping[str, Inferred]) -> None:
    (launch,) = launches(inferred, "mixed.py")
    assert dict(launch.signature)["x_ptr"] == "*fp32"
    assert "`x_ptr` points to float32: the kernel compiles so" in assumed(inferred, "mixed.py")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.py", "it depends on the stand-in for `nowhere.helper`"),
        ("older.py", f"written for Triton 2.1 to 2.3: `{OLD}` is not in Triton {triton.__version__}"),
    ],
)
def test_a_kernel_that_needs_what_is_not_there_is_not_launched(
    inferred: Mapping[str, Inferred], name: str, reason: str
) -> None:
    assert inferred[name].launches == ()
    assert inferred[name].reason == reason


@pytest.mark.parametrize(("name", "words"), [("wrong.py", "no_such_thing")])
def test_what_is_wrong_with_a_kernel_is_said_at_its_line(
    root: Path, inferred: Mapping[str, Inferred], name: str, words: str
) -> None:
    (launch,) = inferred[name].launches
    assert launch.error is not None
    text = (root / name).read_text().split("\n")
    assert launch.error.path == str(root / name)
    assert words in text[launch.error.line - 1]
    assert words in launch.error.message
