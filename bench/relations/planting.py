"""Faults that are put into copies of published wrappers, and which of them relations find."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.relations.auditing import audited, checkout_of

_KEPT = """

_KEPT = {}


def _kept(key, make):
    if key not in _KEPT:
        _KEPT[key] = make()
    return _KEPT[key]
"""
"""What a fault appends that keeps something from one call to the next."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong in a wrapper of a file: texts that are replaced there, once each."""

    file: str
    subject: str
    what: str
    edits: tuple[tuple[str, str], ...]
    keeps: bool = False


_RELU, _SOFTMAX = "liger_kernel/ops/relu_squared.py", "liger_kernel/ops/softmax.py"
_SWIGLU = "liger_kernel/ops/swiglu.py"
_GELU, _SILU = "conch/kernels/activation/gelu_tanh_and_mul.py", "conch/kernels/activation/silu_and_mul.py"
FAULTS = (
    Fault(
        _RELU,
        "LigerReLUSquaredFunction.apply",
        "the stride of rows assumed",
        (("    @ensure_contiguous\n", ""), ("X_ptr += row_idx * X_stride", "X_ptr += row_idx * n_cols")),
    ),
    Fault(
        _RELU,
        "LigerReLUSquaredFunction.apply",
        "the mask of a store lost",
        (("tl.store(Y_ptr + col_offsets, y_row, mask=mask)", "tl.store(Y_ptr + col_offsets, y_row)"),),
    ),
    Fault(
        _RELU,
        "LigerReLUSquaredFunction.apply",
        "the block kept from the first call",
        (("= calculate_settings(n_cols)", '= _kept("block", lambda: calculate_settings(n_cols))'),),
        keeps=True,
    ),
    Fault(
        _RELU,
        "LigerReLUSquaredFunction.apply",
        "the reset of an output that is added to lost",
        (
            ("Y = torch.empty_like(X_2d)", "Y = _kept(X_2d.shape, lambda: torch.zeros_like(X_2d))"),
            ("y_row = relu_x * relu_x", "y_row = relu_x * relu_x + tl.load(Y_ptr + col_offsets, mask=mask, other=0)"),
        ),
        keeps=True,
    ),
    Fault(
        _SOFTMAX,
        "LigerSoftmaxFunction.apply",
        "padding of 0 in place of -inf",
        (('mask=mask, other=-float("inf")', "mask=mask, other=0.0"),),
    ),
    Fault(
        _SOFTMAX,
        "LigerSoftmaxFunction.apply",
        "the last of an odd number of rows left out",
        (
            (
                "_softmax_single_block_forward_kernel[(n_rows,)]",
                "_softmax_single_block_forward_kernel[(n_rows // 2 * 2,)]",
            ),
        ),
    ),
    Fault(_GELU, "gelu_tanh_and_mul_launcher", "a mask one too far", (("local_offset < d", "local_offset <= d"),)),
    Fault(
        _SILU,
        "silu_and_mul_launcher",
        "tensors taken that are not contiguous",
        (("    assert x.is_contiguous()", "    assert True"),),
    ),
    Fault(
        _SWIGLU,
        "LigerSiLUMulFunction.apply",
        "the last of an odd number of columns left out",
        (("mask = col_offsets < n_cols\n", "mask = col_offsets < n_cols // 2 * 2\n"),),
    ),
    Fault(
        _SWIGLU,
        "LigerSiLUMulFunction.apply",
        "a factor of the gradient lost",
        (("db_row = dc_row * silu_a", "db_row = dc_row * sig_a"),),
    ),
)


def planted(packages: Sequence[Path], scratch: Path, budget: float, most: float, kept: Path) -> str:
    """A row for each fault and each healthy file."""
    lines = ["| wrapper | fault | found | said |", "|---|---|---|---|"]
    folders = [checkout_of(package.resolve(), scratch) for package in packages]
    for number, fault in enumerate(FAULTS):
        path = next((folder / fault.file for folder in folders if (folder / fault.file).is_file()), None)
        if path is None:
            continue
        healthy = path.read_text(encoding="utf-8")
        path.write_text(_faulty(healthy, fault), encoding="utf-8")
        lines.append(
            _row(fault.subject, fault.what, audited(path, budget, most, kept / f"fault-{number}"), fault.subject)
        )
        path.write_text(healthy, encoding="utf-8")
        print(lines[-1], flush=True)
    for file, subject in dict.fromkeys((fault.file, fault.subject) for fault in FAULTS):
        path = next((folder / file for folder in folders if (folder / file).is_file()), None)
        if path is not None:
            lines.append(_row(subject, "none", audited(path, budget, most, kept / "healthy"), subject))
            print(lines[-1], flush=True)
    return "\n".join(lines)


def _faulty(text: str, fault: Fault) -> str:
    for old, new in fault.edits:
        assert old in text, f"{fault.file} has no {old!r}"
        text = text.replace(old, new, 1)
    return text + _KEPT if fault.keeps else text


def _row(subject: str, what: str, report: dict[str, Any], name: str) -> str:
    said = list(_said(report, name))
    sure = [text for text in said if not text.startswith("question")]
    found = "yes" if sure else "asked" if said else "no" if "ran" in report else "not in time"
    cell = json.dumps(said[0][:160])[1:-1].replace("|", "/") if said else ""
    return f"| `{subject}` | {what} | {found} | {cell} |"


def _said(report: dict[str, Any], name: str) -> Iterator[str]:
    for finding in report["findings"]:
        yield f"{finding['code']} line {finding['line']}: {finding['message']}"
    for subject in report.get("ran", {}).get("subjects", []):
        if subject["subject"] == name:
            yield from (f"question: {text}" for text in subject["questions"])
            if not any(c["status"] == "pass" for c in subject["checks"] if c["check"].startswith("relation")):
                yield f"question: not called: {subject['checks'][0]['reason']}"
