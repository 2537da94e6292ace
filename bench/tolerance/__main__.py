"""Policies of tolerance side by side: which tells right kernels from wrong ones.

    python bench/tolerance [--as-gpu] [--each] [--dtype NAME] [OPERATION ...]

Each kernel is executed on the CPU engine and judged by each policy, beside a reference in float64 and PyTorch's result
in the same dtype. It is labelled right or wrong by what it does (`trial.py` says how). A policy errs where a right
kernel fails or a wrong one passes; only ours warns, which is neither, and is counted apart. On the kernels of the first
part the limits of ours were chosen, those of the second were written when the limits had been fixed, those of the
third when it had been told what is rounded on the way to a result. `--as-gpu`
executes as an H100 computes. Takes a minute; needs torch and triton, and no GPU.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from bench.tolerance import tables
from bench.tolerance.cases import PARTS, trials
from bench.tolerance.policies import OURS, POLICIES, judged
from bench.tolerance.run import References, result_of
from bench.tolerance.tables import Row
from bench.tolerance.trial import ALL, Trial


def main() -> None:
    """Run all, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/tolerance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--as-gpu", action="store_true", help="execute as an H100 computes")
    parser.add_argument("--each", action="store_true", help="print what each policy says to each kernel")
    parser.add_argument("--dtype", choices=ALL, help="only this one")
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="only those whose name begins so")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    started = time.perf_counter()
    rows: list[Row] = []
    for part in PARTS:
        chosen = [one for one in trials(part) if _is_chosen(one, arguments.dtype, arguments.operations)]
        if members := list(run(chosen, as_gpu=arguments.as_gpu)):
            print(f"## kernels {part}\n\n{tables.side_by_side(members)}", flush=True)
            rows += members
    if not rows:
        sys.exit("no such operation")
    print(f"## all\n\n{tables.side_by_side(rows)}")
    if arguments.each:
        print(tables.each(rows))
    print(f"## where ours errs or warns\n\n{tables.errors_of(OURS, rows)}")
    print(f"torch {torch.__version__}, {time.perf_counter() - started:.0f} s")


def _is_chosen(trial: Trial, dtype: str | None, operations: Sequence[str]) -> bool:
    is_named = not operations or any(trial.operation.name.startswith(name) for name in operations)
    return is_named and dtype in (None, trial.dtype)


def run(chosen: Iterable[Trial], *, as_gpu: bool) -> Iterable[Row]:
    """What each policy says to each of the trials."""
    references = References()
    for trial in chosen:
        result = result_of(trial, references, as_gpu=as_gpu)
        said = {name: policy(result) for name, policy in POLICIES.items()}
        yield Row(trial, said, judged(result).reason)


if __name__ == "__main__":
    main()
