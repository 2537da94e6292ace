"""`python bench/agreement`: does what the compile stage says without a GPU equal what a real one says?

The tool's side sees no GPU. The other side runs the same kernels on the GPU as Triton compiles them: the driver tells
registers, memory and occupancy, and Nsight Compute counts requests and sectors. Each side compiles for itself.

The exit code is 1 where they disagree, and 0 where there is no GPU to compare with.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.agreement import ncu, tables
from bench.agreement.facts import Compiled, Counted, Gpu, Loaded, read_compiled, read_loaded, write
from bench.agreement.plain import PLAIN
from bench.agreement.rows import AccessRow, ResourceRow, access_rows, resource_rows
from bench.agreement.sides import Failed, run

_TARGET = "sm_90"


def main() -> int:
    """Run both sides, print what they say side by side."""
    parser = argparse.ArgumentParser(prog="python bench/agreement", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, metavar="DIR", help="write what each side says there, as JSON")
    parser.add_argument("--compile-only", action="store_true", help="the tool's side alone: no GPU is needed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.output or Path(scratch, "output")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return _compile_only(folder, scratch) if arguments.compile_only else _compare(folder, scratch)
        except Failed as failure:
            print(failure, file=sys.stderr)
            return 2


def _compile_only(folder: Path, scratch: str) -> int:
    compiled = _compiled(_TARGET, folder, scratch)
    print(f"# What the compile stage says for {_TARGET}\n")
    print(tables.compiled(compiled))
    return int(any(one.error for one in compiled))


def _compare(folder: Path, scratch: str) -> int:
    gpu = Gpu(**json.loads(run([sys.executable, "-m", "bench.agreement.gpu", "describe"], {})))
    if gpu.not_run:
        print(f"NOT RUN: {gpu.not_run}")
        return 0
    compiled = _compiled(gpu.target, folder, scratch)
    # Triton keeps there what it compiles, so that the profiler does not wait for it again.
    cache = {"TRITON_CACHE_DIR": str(Path(scratch, "gpu"))}
    loaded = _loaded(folder, cache)
    rows = resource_rows(compiled, loaded)
    print(f"# What the compile stage says, and what an {gpu.name} says\n")
    print(f"Triton {gpu.triton}, torch {gpu.torch}, {gpu.target}\n")
    print(tables.resources(rows))
    counted, not_run = _counted(rows, folder, cache)
    accesses = access_rows(PLAIN, rows, counted)
    print(f"NOT RUN: {not_run}" if not_run else tables.accesses(accesses))
    _write_summary(folder / "agreement.json", gpu, rows, accesses, not_run)
    return int(not (all(row.agrees for row in rows) and all(row.agrees for row in accesses)))


def _compiled(target: str, folder: Path, scratch: str) -> list[Compiled]:
    output = folder / "compiled.json"
    hidden = {"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": str(Path(scratch, "no_gpu"))}
    _tell(f"the tool's side: capturing and compiling for {target}, with no GPU in sight")
    run([sys.executable, "-m", "bench.agreement.compiled", target, str(output.resolve())], hidden)
    return read_compiled(output)


def _loaded(folder: Path, cache: dict[str, str]) -> list[Loaded]:
    output = folder / "loaded.json"
    _tell("the GPU's side: running every subject, and asking the driver")
    run([sys.executable, "-m", "bench.agreement.gpu", "load", str(output.resolve())], cache)
    return read_loaded(output)


def _counted(rows: Sequence[ResourceRow], folder: Path, cache: dict[str, str]) -> tuple[list[Counted], str]:
    """What the profiler counted, or why it did not."""
    kernels = {row.loaded.subject: row.loaded.kernel for row in rows if row.loaded.subject in PLAIN and not row.error}
    _tell(f"the profiler: one launch of each of {len(kernels)} subjects")
    try:
        counted = ncu.count(kernels, folder, cache)
    except ncu.NotRun as reason:
        return [], str(reason)
    write(folder / "counted.json", counted)
    return counted, ""


def _write_summary(
    path: Path, gpu: Gpu, rows: Sequence[ResourceRow], accesses: Sequence[AccessRow], not_run: str
) -> None:
    summary = {
        "gpu": asdict(gpu),
        "resources": {
            "launches": len(rows),
            "agree": sum(row.agrees for row in rows),
            "same_program": sum(row.same_program for row in rows),
            "correct": sum(row.is_correct for row in rows),
        },
        "accesses": {
            "rows": len(accesses),
            "agree": sum(row.agrees for row in accesses),
            "not_run": not_run,
        },
        "disagreeing": [row.compiled.subject for row in rows if not row.agrees]
        + [f"{row.subject} {row.kind}" for row in accesses if not row.agrees],
    }
    path.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
