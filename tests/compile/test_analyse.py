"""The task of a worker: facts of a variant, from the compiler or the cache."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.compile import kernels
from tests.compile.programs import Pointer, analysed, program, supported
from tritonaudit.compile.analyse import analyse_program
from tritonaudit.compile.cache import Cache

HALF, FULL = Pointer("fp16"), Pointer("fp32")
SOFTMAX = {"src": HALF, "dst": HALF, "stride": 1001, "n": 1001, "BLOCK": 1024}


@pytest.mark.parametrize("target", supported("sm_80", "sm_90", "sm_100", "gfx942"))
def test_what_compiles_has_resources(target: str) -> None:
    variant = analysed(kernels.softmax, target, **SOFTMAX)
    assert variant.target == target
    assert variant.error is None
    assert variant.resources is not None
    assert variant.resources.warps == 4
    assert variant.resources.occupancy == variant.resources.occupancy_of


def test_what_does_not_compile_has_an_error_instead() -> None:
    variant = analysed(kernels.unknown_instruction, "sm_90", src=Pointer("i32"), dst=Pointer("i32"), BLOCK=128)
    assert variant.resources is None
    assert variant.error is not None
    assert variant.error.message.startswith("ptxas: ")


def test_a_block_with_too_much_shared_memory_has_no_registers() -> None:
    resources = analysed(kernels.square, "sm_86", a=FULL, b=FULL, c=FULL, TILE=128, num_warps=8).resources
    assert resources is not None
    assert resources.shared > 101376
    assert resources.registers is None
    assert (resources.occupancy, resources.occupancy_of, resources.occupancy_limit) == (0, 48, "shared memory")


def test_a_second_time_it_comes_from_the_cache(tmp_path: Path) -> None:
    given = program(kernels.softmax, "sm_80", **SOFTMAX)
    cache = Cache(tmp_path)
    first = analyse_program(given, cache)
    again = analyse_program(given, cache)
    assert not first.cached
    assert again == replace(first, cached=True)
    assert again.narrow


def test_errors_are_kept_too(tmp_path: Path) -> None:
    given = program(kernels.unknown_instruction, "sm_80", src=Pointer("i32"), dst=Pointer("i32"), BLOCK=128)
    first = analyse_program(given, Cache(tmp_path))
    again = analyse_program(given, Cache(tmp_path))
    assert again.cached
    assert again.error == first.error


def test_the_task_can_be_sent_to_a_worker() -> None:
    given = program(kernels.softmax, "sm_80", **SOFTMAX)
    task, arguments = pickle.loads(pickle.dumps((analyse_program, (given, Cache(Path("folder"))))))
    assert (task, arguments) == (analyse_program, (given, Cache(Path("folder"))))
    variant = analysed(kernels.softmax, "sm_80", **SOFTMAX)
    assert pickle.loads(pickle.dumps(variant)) == variant


def test_the_same_program_gives_the_same_facts() -> None:
    given = program(kernels.softmax, "sm_90", **SOFTMAX)
    first, second = analyse_program(given), analyse_program(given)
    assert first == second
