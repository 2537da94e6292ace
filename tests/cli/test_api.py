"""`tritonaudit api`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Command = Callable[..., Any]


def test_a_name_is_shown_through_the_releases(tritonaudit: Command) -> None:
    ran = tritonaudit("api", "tl.gather")
    assert ran.code == 0
    title, *lines = ran.out.splitlines()
    assert title == "triton.language.gather"
    assert [line.split("  ")[1] for line in lines] == ["2.0 to 3.2", "3.3 to 3.9"]
    assert lines[0].endswith("not there")
    assert lines[1].endswith("gather(src, index, axis)  [builtin]")


def test_neighbours_with_the_same_parameters_share_a_line(tritonaudit: Command) -> None:
    lines = tritonaudit("api", "tl.make_block_ptr").out.splitlines()[1:]
    assert [line.split("  ")[1].rstrip() for line in lines] == ["2.0", "2.1 to 3.6", "3.7 to 3.8", "3.9"]
    assert [line.rpartition("[")[2] for line in lines[2:]] == ["builtin, deprecated]", "builtin, removed]"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("triton.language.load", "triton.language.load"),
        ("load", "triton.language.load"),
        ("libdevice.tanh", "triton.language.extra.libdevice.tanh"),
        ("tl.extra.cuda.libdevice.tanh", "triton.language.extra.cuda.libdevice.tanh"),
        ("testing.do_bench", "triton.testing.do_bench"),
        ("do_bench", "triton.testing.do_bench"),
        ("Config", "triton.Config"),
        ("tensor.item", "triton.language.tensor.item"),
        ("gl.warp_specialize", "triton.experimental.gluon.language.warp_specialize"),
    ],
)
def test_a_name_is_written_as_people_do(tritonaudit: Command, text: str, meant: str) -> None:
    assert meant in tritonaudit("api", text).out.splitlines()


@pytest.mark.parametrize(("release", "code"), [("3.2", 1), ("3.3", 0), (">=3.3", 0), (">=3.2", 1)])
def test_the_exit_code_says_whether_the_releases_have_it(tritonaudit: Command, release: str, code: int) -> None:
    ran = tritonaudit("api", "tl.gather", "--triton", release)
    assert ran.code == code
    assert ran.out.startswith("triton.language.gather\n")


def test_a_deprecated_parameter_is_named(tritonaudit: Command) -> None:
    assert "`allow_tf32` deprecated]" in tritonaudit("api", "tl.dot", "--triton", "3.9").out


@pytest.mark.parametrize(
    ("mistaken", "meant"), [("tl.lode", "triton.language.load"), ("cdvi", "cdiv"), ("libdevice.tahn", "libdevice.tanh")]
)
def test_an_unknown_name_is_guessed(tritonaudit: Command, mistaken: str, meant: str) -> None:
    ran = tritonaudit("api", mistaken)
    assert (ran.code, ran.out) == (2, "")
    assert meant in ran.err


def test_a_release_that_is_none_is_refused(tritonaudit: Command) -> None:
    assert tritonaudit("api", "tl.load", "--triton", "newest").code == 2
