"""Real bugs stand in one table with the faults that are injected."""

from __future__ import annotations

import pytest

from bench.judge.fixes.table import Injected, scored_of, table

PRINTED = """\
group                                       n   hit  fires
all                                       124   26%    44%
class int32-overflow                       17   59%    65%
class race                                  4    0%    25%
visible a:source                           80   30%    50%
findings in the 124 fixed files: 97 on 412 kernels
"""


def test_a_class_has_its_bugs_and_its_faults_in_one_row() -> None:
    injected = {"barrier_dropped": Injected("race", 10, 3), "mask_dropped": Injected("missing-mask", 20, 9)}
    assert table({"dev": scored_of(PRINTED)}, injected).split("\n") == [
        "| class | dev | told | at the place | injected faults | told | operators |",
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
