"""Do the fixes leave kernels that compile and compute what they should, and files that parse?

    python bench/fixes [--codes CODE …]
    python bench/fixes --corpus DIR [--unsafe]
    python bench/fixes --corpus DIR --work DIR [--specs N] [--most N] [--jobs N]

Every fixture with fixes is fixed for the installed Triton. Its fixed kernels are compiled by the compile stage, and
those for which `cases.py` says what is right are executed on the CPU engine, before, after the safe fixes only, and
after all: a result is right if it is as wanted and nothing is accessed that should not be.

With `--corpus` a copy of each package is fixed twice: all must parse, and the second time nothing may change.

With `--work`, too, the kernels of the packages that their wrappers launch are executed on the CPU engine, before and
after the safe fix of each rule that tells of them, as they are and with faults put in, of which `seeds.py` says what
they are. What was found is kept in the folder, and a killed run goes on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import WHAT_A_CORPUS_IS
from bench.fixes.fixtures import Fixture, fixtures
from bench.fixes.rows import Row, notes, table
from bench.judge.keeping import folder


def main() -> int:
    """Print the table; the exit code says whether there is anything that should not be."""
    parser = argparse.ArgumentParser(
        prog="python bench/fixes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--codes", nargs="+", default=[], metavar="CODE", help="only the fixtures of these rules")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help=WHAT_A_CORPUS_IS)
    parser.add_argument("--unsafe", action="store_true", help="in the corpus, apply the unsafe fixes as well")
    parser.add_argument("--work", type=folder, metavar="DIR", help="what executing packages needs, and has found")
    parser.add_argument("--specs", type=int, default=170, metavar="N", help="files of a package [default: 170]")
    parser.add_argument("--seconds", type=float, default=2, metavar="N", help="what a call took at most [default: 2]")
    parser.add_argument("--most", type=int, default=2, metavar="N", help="faults put into a kernel [default: 2]")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    if arguments.work and arguments.corpus:
        return _executed(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.corpus:
            return _on_packages(arguments.corpus.resolve(), Path(scratch), arguments.unsafe)
        return _on_fixtures(arguments.codes, Path(scratch))


def _on_fixtures(codes: Sequence[str], scratch: Path) -> int:
    from tritonaudit.compile.installed import triton_version

    release = ".".join(str(triton_version()).split(".")[:2])
    chosen = [fixture for fixture in fixtures(release) if not codes or fixture.code in codes]
    rows = _rows(chosen, scratch)
    print(f"Triton {triton_version()}\n")
    print(table([fixture.code for fixture in chosen], rows))
    print(notes(rows))
    return 1 if any(row.is_bad for row in rows) else 0


def _rows(chosen: Sequence[Fixture], scratch: Path) -> list[Row]:
    from bench.fixes.compiled import complaints
    from bench.fixes.trial import outcomes

    for fixture in chosen:
        for when, text in (("before", fixture.before), ("safe", fixture.safe), ("after", fixture.after)):
            (scratch / when).mkdir(exist_ok=True)
            (scratch / when / f"{fixture.code}.py").write_text(text, encoding="utf-8")
    said = complaints(scratch / "after")
    rows = []
    for fixture in chosen:
        name = f"{fixture.code}.py"
        before, after = (outcomes(scratch / when / name, fixture.code, fixture.kernels) for when in ("before", "after"))
        safe = outcomes(scratch / "safe" / name, fixture.code, fixture.safe_kernels)
        rows += [
            Row(fixture.code, one, _complaint(said, name, one), before.get(one), after.get(one), safe.get(one))
            for one in fixture.kernels
        ]
    return rows


def _complaint(said: Mapping[tuple[str, str], str], file: str, kernel: str) -> str | None:
    return said.get((file, kernel), said.get((file, kernel.rpartition(".")[2])))


def _executed(asked: argparse.Namespace) -> int:
    from bench.fixes.executed import tables, tried

    found = tried(asked.corpus.resolve(), asked.work, asked.specs, asked.seconds, asked.most, asked.jobs)
    print(tables(found))
    return 1 if any(trial.is_bad for one in found for trial in one.trials) else 0


def _on_packages(corpus: Path, scratch: Path, unsafe: bool) -> int:
    from bench.fixes.corpus import outcomes

    total: Counter[str] = Counter()
    failures = 0
    print("| package | files | fixed | files changed | do not parse | changed again |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in outcomes(corpus, scratch, unsafe):
        figures = (one.files, one.fixed, one.changed, len(one.unparsable), len(one.again))
        print(f"| {one.package} | {' | '.join(map(str, figures))} |", flush=True)
        for what in (*one.unparsable, *one.again, *one.problems):
            print(f"  {what}", file=sys.stderr)
        total += one.offered
        failures += len(one.unparsable) + len(one.again) + len(one.problems)
    print("\n| code | fixable findings |\n| --- | ---: |")
    for code, count in sorted(total.items()):
        print(f"| {code} | {count} |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
