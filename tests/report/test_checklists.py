"""The checklists hold every item that an audit must answer, and each is bound to what answers it."""

from __future__ import annotations

import pytest

from tritonaudit.measure.checks import Check
from tritonaudit.report.checklists import CHECKLISTS, Axis, Convention, Done, Entry, Item, Measured, Value, stability
from tritonaudit.rules import all_rules
from tritonaudit.suites.axes import FILLS, SIZES
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.stability import HARDSHIPS

ITEMS = {
    "1. Correctness: inputs": [
        "size 1",
        "size 64",
        "size 4096",
        "size 1048576",
        "size 1000",
        "size B-1",
        "size B",
        "size B+1",
        "size 2B+3",
        "size 0 (empty)",
        "fill zeros",
        "fill ones",
        "fill 1e6",
        "fill 1e-6",
        "fill -1",
        "fill of alternating signs",
        "fill 1e38",
        "fill 1e-38",
        "fill inf",
        "fill nan",
        "batch 1",
        "batch 7",
        "batch 256",
        "layout contiguous",
        "layout transposed",
        "layout expanded (stride 0)",
        "layout sliced with an offset",
        "the dtypes that the subject names",
    ],
    "1. Correctness: verdicts and red flags": [
        "judged by an fp64 reference and PyTorch's own error",
        "within the strict 1e-5",
        "within the loose 1e-3",
        "red flag: error above the budget",
        "red flag: NaN or Inf where the reference has none",
        "red flag: a different result on a repeated run (race)",
        "red flag: boundary elements treated differently from PyTorch",
        "red flag: an input changed in place",
        "red flag: an output element never written",
        "red flag: an access out of bounds",
    ],
    "2. Numerical stability": [
        "holds on exp overflow ([100, 200, 300])",
        "holds on product overflow (1000 × 2.0)",
        "holds on exp underflow ([-100, -200, -300])",
        "holds on small products (1000 × 0.5)",
        "holds on cancellation ([1e10, 1e10+1])",
        "holds on alternating sums ([1e8, -1e8, 1])",
        "holds on rows wholly masked (-inf)",
        "holds on a row of zeros",
        "holds on ties",
        "holds on large decay",
        "log-space for large exponentials",
        "log-sum for long products",
        "denominators guarded",
        "accumulation in higher precision",
        "stable reductions",
        "no subtraction of near-equal values",
        "logsumexp and softmax subtract the maximum",
        "variance by Welford or two passes for large N",
        "red flag: exp of values above 80 without max subtraction",
        "red flag: division with no guard near zero",
        "red flag: accumulation in fp16",
        "red flag: subtraction of values of like magnitude",
    ],
    "3. Memory patterns": [
        "coalescing: neighbouring lanes on neighbouring addresses",
        "coalescing: no stride between lanes",
        "coalescing: 128-byte alignment",
        "reuse: working set against L1/L2",
        "reuse: no round trip through global memory",
        "traffic: each element loaded and stored once",
        "traffic: intermediates in registers",
        "traffic: no redundant loads",
    ],
    "4. Performance": [
        "timed at small, medium and large sizes",
        "compared with PyTorch",
        "compared with torch.compile",
        "compared with the baselines that the subject names",
        "interleaved, with the cache flushed",
        "verified again after the timing",
        "hardware efficiency against the datasheet and a measured rate",
        "red flag: slower than PyTorch at any size",
        "red flag: slower than torch.compile",
        "red flag: efficiency below 50 %",
        "red flag: cost that grows faster than the work",
        "red flag: spread above 10 %",
        "red flag: faster than the GPU can be",
        "roofline: FLOPs, bytes and arithmetic intensity",
        "roofline: ridge point and bound",
        "roofline: target of 90 % reached",
        "every hardware figure has its source",
        "profiled: what bounds it is counted, not guessed",
    ],
    "5. Best practices": [
        "constexpr for compile-time constants",
        "powers of 2",
        "grid from shapes",
        "boundary masks",
        "`@triton.autotune` with several configs",
        "autotune key covers what matters",
        "`num_warps` and `num_stages` swept",
        "a PyTorch reference beside each kernel",
        "a docstring with shapes beside each kernel",
        "a test beside each kernel",
        "a benchmark beside each kernel",
    ],
}
ENTRIES = [entry for asked in CHECKLISTS for entry in asked.entries]
CHECKS = {symptom.value for symptom in Symptom} | {stability(hardship.name) for hardship in HARDSHIPS}


def test_every_item_is_there() -> None:
    assert {asked.title: [entry.text for entry in asked.entries] for asked in CHECKLISTS} == ITEMS


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.text)
def test_every_item_is_bound_to_what_exists_or_says_why_not(entry: Entry) -> None:
    codes = {rule.code for rule in all_rules()}
    match entry:
        case Item():
            assert set(entry.rules) <= codes
            assert set(entry.checks) <= CHECKS
            assert bool(entry.rules or entry.checks) is not bool(entry.unanswered)
        case Done():
            assert entry.check in CHECKS
        case Convention():
            assert entry.name in ("strict", "loose")
        case Measured():
            assert set(entry.rules) <= codes
            assert entry.check in {check.value for check in Check}
        case Value():
            tried = {Axis.SIZE: SIZES, Axis.FILL: FILLS}.get(entry.axis)
            assert tried is None or entry.value in tried


def test_every_hardship_is_asked_for() -> None:
    asked = {check for entry in ENTRIES if isinstance(entry, Item) for check in entry.checks}
    assert {stability(hardship.name) for hardship in HARDSHIPS} <= asked
