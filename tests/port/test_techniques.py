"""What is said of a variant's techniques is what its source says."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.port.techniques import techniques_of

HEAD = "import triton\nimport triton.language as tl\n\n\n"
TUNED = """\
@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"]
)
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        a = tl.load(x_ptr + offsets, offsets < n, eviction_policy="evict_last")
        tl.store(y_ptr + offsets, tl.dot(a, a))
        tl.atomic_add(y_ptr, 1.0)


def triton_op(x):
    tuned[(1,)](x, x, 3)
"""
PLAIN = """\
@triton.jit
def plain(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0, mask=tl.arange(0, BLOCK) < n)


def triton_op(x):
    plain[(1,)](x, 3, BLOCK=1024, num_warps=2)
"""


def reported(folder: Path, text: str) -> tuple[str, ...]:
    path = folder / "v1.py"
    path.write_text(text)
    return techniques_of(path)


def test_an_autotuned_kernel(tmp_path: Path) -> None:
    assert reported(tmp_path, HEAD + TUNED) == (
        "`tuned`: autotuned over 2 configs by n, BLOCK of 64, 128, num_warps of 4, 8, 1 of 2 loads and stores masked, "
        "`tl.dot`, atomics (`tl.atomic_add`), a loop over blocks, eviction_policy = `'evict_last'`",
    )


def test_a_plain_kernel_has_what_its_launch_gives(tmp_path: Path) -> None:
    assert reported(tmp_path, HEAD + PLAIN) == (
        "`plain`: not autotuned, BLOCK = `1024`, num_warps = `2`, 1 of 1 loads and stores masked",
    )


def test_configs_that_are_not_written_out_are_not_counted(tmp_path: Path) -> None:
    text = PLAIN.replace("@triton.jit", "@triton.autotune(configs=make(), key=['n'])\n@triton.jit")
    assert "autotuned over an unknown number of configs by n" in reported(tmp_path, HEAD + text)[0]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert reported(tmp_path, "def (") == ("cannot be read as Python: invalid syntax",)
    assert reported(tmp_path, "x = 1\n") == ("no kernel of Triton is defined in it",)
    assert techniques_of(tmp_path / "v2.py")[0].startswith("cannot be read: ")
