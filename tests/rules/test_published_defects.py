"""Minimised cases of defects that published packages have had, each with the rule that must find it and where.

`# found: CODE` marks a line; on all others nothing of these kinds may be found.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check_text

_HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n"
_KINDS = ("TAC104", "TAC105", "TAC106", "TAC107", "TAC202")
_MARK = re.compile(r"# found: (TAC\d+)")

DEFECTS = {
    "block pointers are gone": (
        "==3.9",
        """
        @triton.jit
        def tile_sum(x_ptr, out_ptr, rows, cols, R: tl.constexpr, C: tl.constexpr):
            tile = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (0, 0), (R, C), (1, 0))  # found: TAC106
            acc = tl.zeros((R,), tl.float32)
            for _ in range(0, cols, C):
                acc += tl.sum(tl.load(tile, boundary_check=(0, 1)), 1)
                tile = tl.advance(tile, (0, C))
            tl.store(out_ptr + tl.arange(0, R), acc, mask=tl.arange(0, R) < rows)
        """,
    ),
    "a name that was never there": (
        ">=3.2",
        """
        @triton.jit
        def round_up(n, step):
            return tl.cidv(n, step) * step  # found: TAC105
        """,
    ),
    "a parameter of dot that is gone": (
        ">=3.2",
        """
        @triton.jit
        def scores(q_ptr, k_ptr, out_ptr, D: tl.constexpr):
            at = tl.arange(0, 16)[:, None] * D + tl.arange(0, D)[None, :]
            s = tl.dot(tl.load(q_ptr + at), tl.load(k_ptr + at), trans_b=True)  # found: TAC105
            tl.store(out_ptr + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], s)
        """,
    ),
    "an experiment that ended": (
        "==3.6",
        """
        @triton.jit
        def copy(in_desc, out_desc, R: tl.constexpr, C: tl.constexpr):
            x = tl._experimental_descriptor_load(in_desc, [0, 0], [R, C], tl.float16)  # found: TAC106
            tl._experimental_descriptor_store(out_desc, x, [0, 0])  # found: TAC106
        """,
    ),
    "libdevice under its first name": (
        ">=3.0",
        """
        @triton.jit
        def gelu(x_ptr, B: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, B))
            tl.store(x_ptr + tl.arange(0, B), x * tl.libdevice.tanh(x))  # found: TAC106
        """,
    ),
    "break when the data end": (
        ">=3.2",
        """
        @triton.jit
        def attend(length_ptr, k_ptr, out_ptr, PAGES: tl.constexpr, B: tl.constexpr):
            length = tl.load(length_ptr)
            acc = tl.zeros((B,), tl.float32)
            for page in range(PAGES):
                if page * B >= length:
                    break  # found: TAC104
                acc += tl.load(k_ptr + page * B + tl.arange(0, B))
            tl.store(out_ptr + tl.arange(0, B), acc)
        """,
    ),
    "continue past the rows that are not there": (
        "==3.5",
        """
        @triton.jit
        def rows(x_ptr, out_ptr, n, TILE: tl.constexpr):
            for t in range(TILE):
                row = tl.program_id(0) * TILE + t
                if row >= n:
                    continue  # found: TAC104
                tl.store(out_ptr + row, tl.load(x_ptr + row) * 2)
        """,
    ),
    "masks combined by and": (
        ">=3.4",
        """
        @triton.jit
        def mean(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
            row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
            row_mask = row < M
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, N, BN):
                col = start + tl.arange(0, BN)[None, :]
                col_mask = col < N
                mask = row_mask and col_mask  # found: TAC107
                acc += tl.load(x_ptr + row * N + col, mask=mask, other=0.0)
            tl.store(out_ptr + row, tl.sum(acc, 1)[:, None] / N, mask=row_mask)
        """,
    ),
    "masks combined by or, where they are passed": (
        ">=3.4",
        """
        @triton.jit
        def pick(x_ptr, out_ptr, lo, hi, B: tl.constexpr):
            at = tl.arange(0, B)
            tl.store(out_ptr + at, tl.load(x_ptr + at), mask=at < lo or at > hi)  # found: TAC107
        """,
    ),
    "a key that no parameter has any more": (
        ">=3.2",
        """
        CONFIGS = [triton.Config({"B": 64}), triton.Config({"B": 128})]

        if torch.cuda.is_available():

            @triton.autotune(configs=CONFIGS, key=["num_elements"])  # found: TAC202
            @triton.jit
            def scale(x_ptr, out_ptr, rows: int, cols: int, B: tl.constexpr):
                at = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < rows * cols), mask=at < rows * cols)
        """,
    ),
    "one of several keys, and a Triton that another module hands on": (
        "==3.9",
        """
        from package.compatibility import tl, triton

        @triton.heuristics({"VARLEN": lambda args: args["offsets_ptr"] is not None})
        @triton.autotune(
            configs=[triton.Config({"C": c}, num_warps=w) for c in (32, 64) for w in (2, 4)],
            key=["D", "BT", "C"],  # found: TAC202
        )
        @triton.jit
        def chunk(x_ptr, offsets_ptr, T, D: tl.constexpr, C: tl.constexpr, VARLEN: tl.constexpr):
            at = tl.program_id(0) * C + tl.arange(0, C)
            if VARLEN:
                T = tl.load(offsets_ptr + 1)
            tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < T) * D, mask=at < T)
        """,
    ),
}


@pytest.mark.parametrize(("target", "text"), DEFECTS.values(), ids=DEFECTS.keys())
def test_a_defect_that_was_published_is_found(target: str, text: str, tmp_path: Path) -> None:
    lines = (_HEAD + dedent(text)).splitlines()
    marked = {(number, found[1]) for number, line in enumerate(lines, 1) if (found := _MARK.search(line))}
    audit = check_text("\n".join(lines).encode(), tmp_path / "kernel.py", Config(tmp_path, target_triton=target))
    found = {(finding.span.line, finding.code) for finding in audit.findings if finding.code in _KINDS}
    assert found == marked
