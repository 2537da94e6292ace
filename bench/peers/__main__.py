"""`python bench/peers --cuxray PATH`: tritonaudit and cuxray side by side on the kernels of the agreement bench.

No GPU is needed. tritonaudit captures and compiles the kernels itself; cuxray is given what Triton compiles, with the
metadata that Triton keeps beside it, and the binary utilities in Triton's wheel.

    python -m venv /tmp/cuxray && /tmp/cuxray/bin/pip install cuxray==0.6.0
    python bench/peers --cuxray /tmp/cuxray/bin/cuxray
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

from bench.agreement.facts import Compiled, read_compiled
from bench.agreement.sides import Failed, run
from bench.agreement.tables import table
from bench.peers.cuxray import KNOWN, Cuxray, toolchain
from bench.peers.findings import DOCUMENTED, FIGURES, Pair, counted
from bench.processes import tool

_TARGET = "sm_90"


def main() -> int:
    """Run both, print what they find."""
    parser = argparse.ArgumentParser(
        prog="python bench/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cuxray", metavar="PATH", help="the command (default: the one on PATH)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write what each says there, as JSON")
    arguments = parser.parse_args()
    command = arguments.cuxray or tool("cuxray")
    if command is None:
        print(f"NOT RUN: cuxray is not installed: pip install cuxray=={KNOWN}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return _compare(str(command), Path(scratch), arguments.output)
        except Failed as failure:
            print(failure, file=sys.stderr)
            return 2


def _compare(command: str, scratch: Path, output: Path | None) -> int:
    cuxray = Cuxray(command, toolchain(scratch / "cuxray"))
    version = cuxray.version()
    ours = _ours(scratch)
    _tell("Triton: compiling the same launches into a cache")
    hidden = {"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": str(scratch / "triton")}
    run([sys.executable, "-m", "bench.peers.triton_cache", _TARGET, str(scratch / "cache")], hidden)
    pairs = []
    for number, one in enumerate(ours, 1):
        _tell(f"cuxray: {number} of {len(ours)}, {one.subject}")
        pairs.append(Pair(one, cuxray.report(scratch / "cache" / one.subject)))
    _print(pairs, version)
    if output:
        both = [{"tritonaudit": asdict(pair.ours), "cuxray": asdict(pair.theirs)} for pair in pairs]
        output.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")
    return 0


def _ours(scratch: Path) -> list[Compiled]:
    _tell("tritonaudit: capturing and compiling")
    path = scratch / "compiled.json"
    hidden = {"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": str(scratch / "ours")}
    run([sys.executable, "-m", "bench.agreement.compiled", _TARGET, str(path)], hidden)
    return read_compiled(path)


def _print(pairs: Sequence[Pair], version: str) -> None:
    print(f"# tritonaudit and cuxray {version} on the same {len(pairs)} launches, {_TARGET}\n")
    print("cuxray ran as `report` and `advise`, with the threads and the shared memory of each launch.\n")
    if version != KNOWN:
        print(f"What is not counted here was written by the documentation of cuxray {KNOWN}.\n")
    print(table(("finding", "tritonaudit", "cuxray"), [*counted(pairs), *DOCUMENTED]))
    print("Launch by launch: one figure where they are equal, tritonaudit / cuxray where they are not.\n")
    figures = [f"{figure.name}:" for figure in FIGURES]
    head = ("launch", *figures, "tritonaudit: narrow", "cuxray: uncoalesced", "cuxray advises")
    print(table(head, map(_row, pairs)))


def _row(pair: Pair) -> Sequence[object]:
    if pair.ours.error or pair.theirs.error:
        said = pair.ours.error or f"cuxray: {pair.theirs.error}"
        return (pair.ours.subject, said, *[""] * (len(FIGURES) + 2))
    figures = [ours if ours == theirs else f"{ours} / {theirs}" for ours, theirs in (f.both(pair) for f in FIGURES)]
    advice = "; ".join(filter(None, (*pair.theirs.actions, pair.theirs.note)))
    return (pair.ours.subject, *figures, "; ".join(pair.narrow), "; ".join(pair.uncoalesced), advice)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
