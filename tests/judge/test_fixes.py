"""Real bugs stand in one table with the faults that are injected."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.judge.fixes import main
from bench.judge.fixes.table import Injected, scored_of, table

PRINTED = """\
group                                       n   hit  fires
all                                       124   26%    44%
class int32-overflow                       17   59%    65%
class race                                  4    0%    25%
visible a:source                           80   30%    50%
findings in the 124 fixed files: 97 on 412 kernels
"""


SCORE = """\
import csv, sys
given = sys.argv[sys.argv.index("--bugs") + 1]
for row in csv.DictReader(open(given), delimiter="\\t"):
    for group in ("all", f"class {row['class']}", f"visible {row['visible']}", f"oracle {row['oracle']}"):
        print(f"{group:40} {1:4} {1:5.0%} {1:6.0%}")
print("findings in the 1 fixed files: 0 on 1 kernels")
"""


def test_a_class_has_its_bugs_and_its_faults_in_one_row() -> None:
    injected = {"barrier_dropped": Injected("race", 10, 3), "mask_dropped": Injected("missing-mask", 20, 9)}
    assert table({"dev": scored_of(PRINTED)}, injected).split("\n") == [
        "| class | dev | detected | at the place | injected faults | detected | operators |",
        "|---|---|---|---|---|---|---|",
        "| int32-overflow | 17 | 59 % | 65 % | 0 | - |  |",
        "| race | 4 | 0 % | 25 % | 10 | 30 % | barrier_dropped |",
        "| missing-mask | - | - | - | 20 | 45 % | mask_dropped |",
        "| **all** | 124 | 26 % | 44 % | 30 | 40 % | 2 |",
        "",
        "dev: 97 findings in the fixed files, on 412 kernels",
    ]


def test_what_is_no_score_is_not_taken_for_one() -> None:
    with pytest.raises(ValueError, match="no totals"):
        scored_of("Traceback: no such file")


def test_a_list_that_was_mined_is_scored_though_it_has_fewer_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, columns in (("dev", "id\tpath\tclass\trepo\tvisible\toracle"), ("mined", "id\tpath\tclass\trepo")):
        (tmp_path / f"{name}.tsv").write_text(f"{columns}\nfirst\tkernels.py\trace\tlab/kernels\n")
    (tmp_path / "extract").write_text("")
    (tmp_path / "score").write_text(SCORE)
    main(["--bugs", str(tmp_path), "--mirror", str(tmp_path), "--work", str(tmp_path / "work")])
    assert "| race | 1 | 100 % | 100 % | 1 | 100 % | 100 % | 0 | - |  |" in capsys.readouterr().out
