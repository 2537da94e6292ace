"""Does the source stage say that a kernel does not compile exactly where the compiler says so?

    python bench/language --snippets DIR --matrix FILE [--misses] [--only GROUP …]
    python bench/language --cases FILE [--without-launch] [--misses] [--only GROUP …]
    python bench/language --mutants 500 [--seed 0] [--misses]
    python bench/language --generate 500 --releases DIR [--seed 0] [--kept DIR] [--misses]
    python bench/language --corpus DIR [--write]

DIR holds files of kernels, each with a table CASES of the types and constants to compile them for; FILE says for each
case and release of Triton whether it compiles. Each case becomes a file with the kernel and a launch, and is audited
with `target-triton` set to the release. A Triton must be installed to read the tables; nothing is compiled.

A file of cases holds kernels as they are written, each with a launch that `--without-launch` takes away, and for each
release whether it compiles them.

Mutants are made of kernels of our own, and compiled by the front end of the installed Triton, whose release is the
target.

Kernels are generated from the table of Triton's functions and a grammar, and compiled by the releases whose wheels lie
unpacked in a folder, each as DIR/3.9.0/triton, in processes of their own: by their front ends, and to the end where we
refuse what the front end takes. What they said is kept, so that a run that was ended goes on.

Of a corpus, the errors are counted that `verdicts.tsv` says are true and false: every one was read, and compiled where
that could be done. Those that it does not hold are listed; `--write` adds them to it without a verdict.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import add_corpus_argument
from bench.language.cases import cases
from bench.language.compiled import compiles
from bench.language.kernels import judged_kernels
from bench.language.mutants import mutants, unchanged
from bench.language.published import judge
from bench.language.scores import Judged, Score, predictions, read_matrix
from bench.language.unseen import judged_generated

_GPU = "cuda90"
_UNDECIDABLE = Path(__file__).with_name("undecidable.tsv")


def main() -> int:
    """Judge every case, and print one table; the exit code says whether precision and recall are as wanted."""
    parser = argparse.ArgumentParser(
        prog="python bench/language", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--snippets", type=Path, metavar="DIR")
    parser.add_argument("--matrix", type=Path, metavar="FILE")
    parser.add_argument("--cases", type=Path, metavar="FILE")
    parser.add_argument("--without-launch", action="store_true", help="judge the kernels of --cases alone")
    parser.add_argument("--mutants", type=int, metavar="NUMBER")
    parser.add_argument("--generate", type=int, metavar="NUMBER")
    parser.add_argument("--releases", type=Path, metavar="DIR")
    kept = Path(tempfile.gettempdir(), "tritonaudit-language")
    parser.add_argument("--kept", type=Path, metavar="DIR", default=kept, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[], metavar="GROUP")
    parser.add_argument("--misses", action="store_true", help="list what was predicted wrongly")
    add_corpus_argument(parser, required=False)
    parser.add_argument("--write", action="store_true", help="add errors without a verdict to verdicts.tsv")
    arguments = parser.parse_args()
    if arguments.corpus:
        return 0 if judge(arguments.corpus, add=arguments.write) else 1
    if arguments.mutants:
        judged, left_out = _judge_mutants(arguments.mutants, arguments.seed), 0
    elif arguments.generate and arguments.releases:
        judged = judged_generated(arguments.generate, arguments.seed, arguments.releases, arguments.kept)
        left_out = 0
    elif arguments.cases:
        with_launch = not arguments.without_launch
        judged = list(judged_kernels(arguments.cases, with_launch=with_launch, only=tuple(arguments.only)))
        left_out = 0
    elif arguments.snippets and arguments.matrix:
        judged, left_out = _judge(arguments.snippets, arguments.matrix, arguments.only)
    else:
        parser.error("give --snippets and --matrix, --cases, --mutants, --generate and --releases, or --corpus")
    if arguments.generate:
        _print([replace(one, group=one.release) for one in judged], left_out)
        print()
    score = _print(judged, left_out)
    if arguments.misses:
        _list(judged)
    return 0 if (score.precision or 0) >= 0.99 and (score.recall or 0) >= 0.85 else 1


def _judge(snippets: Path, matrix: Path, only: Sequence[str]) -> tuple[list[Judged], int]:
    compiled = read_matrix(matrix, _GPU)
    undecidable = {
        tuple(line.split("\t")[:2]) for line in _UNDECIDABLE.read_text(encoding="utf-8").splitlines() if line
    }
    judged: list[Judged] = []
    left_out = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases(snippets, Path(scratch)):
            outcomes = compiled.get((case.group, case.name), {})
            if only and not any(case.group.startswith(group) for group in only):
                continue
            if (case.group, case.name) in undecidable:
                left_out += len(outcomes)
                continue
            judged += [
                Judged(case.group, case.name, release, not ok, predictions(case.text, release))
                for release, ok in outcomes.items()
            ]
    return judged, left_out


def _judge_mutants(count: int, seed: int) -> list[Judged]:
    release = version("triton")
    judged = []
    for mutant in [*unchanged(), *mutants(count, seed)]:
        ok, said = compiles(mutant)
        found = predictions(mutant.case.text, release)
        judged.append(Judged(mutant.change, mutant.case.name, release, not ok, found, said, mutant.case.text))
    return judged


def _print(judged: Sequence[Judged], left_out: int) -> Score:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        groups[one.group].append(one)
    print("| group | cases × releases | rejected | precision | recall | false alarms | misses |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, members in sorted(groups.items()):
        _row(name, members)
    score = _row("all", judged)
    share = left_out / (len(judged) + left_out) if judged else 0.0
    print(f"\nLeft out, since the text cannot decide them: {left_out} ({share:.1%}); reasons in {_UNDECIDABLE.name}.")
    return score


def _row(name: str, judged: Sequence[Judged]) -> Score:
    score = Score.of(judged)
    rejected = score.right_errors + score.misses
    shares = " | ".join("-" if share is None else f"{share:.1%}" for share in (score.precision, score.recall))
    print(f"| {name} | {len(judged)} | {rejected} | {shares} | {score.false_alarms} | {score.misses} |")
    return score


def _list(judged: Sequence[Judged]) -> None:
    wrong: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in judged:
        if not one.right:
            reported = "; ".join(sorted({f"{f.code} {f.message}" for f in one.predicted}))
            what = f"false alarm: {reported}" if one.predicted else f"missed: {one.said}".rstrip(": ")
            wrong[one.group, one.case, " ".join(what.split())].append(one.release)
    for (group, case, what), releases in wrong.items():
        print(f"{group} {case} [{' '.join(releases)}]: {what}")


if __name__ == "__main__":
    sys.exit(main())
