"""What can be said of a subject, and what is refused with the remedy."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from tests.checkout import ROOT, environment
from tritonaudit import Case, Offsets, Size, Subject, Tensor


def nothing(*_: Any, **__: Any) -> None:
    """A wrapper."""


# -- importing -----------------------------------------------------------------------------------------------------


def test_importing_tritonaudit_loads_none_of_it() -> None:
    program = "import sys, tritonaudit; print([m for m in sys.modules if m.startswith('tritonaudit.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    import tritonaudit

    with pytest.raises(AttributeError, match="no attribute 'Subjekt'"):
        _ = tritonaudit.Subjekt  # type: ignore[attr-defined]


# -- dimensions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dim", "size"),
    [
        (7, 7),
        ("n", 10),
        ("2 * n", 20),
        ("n + 1", 11),
        ("n // 4", 2),
        ("-(-n // 4)", 3),
        ("n * m - 1", 29),
    ],
)
def test_a_dimension_has_a_size(dim: str | int, size: int) -> None:
    assert Case({"n": 10, "m": 3})[dim] == size


@pytest.mark.parametrize("dim", ["", "2n", "n.m", "f(n)", "n ** 2", "n / 2", "x if n else y", -1, 1.5, True, None])
def test_what_is_no_dimension_is_refused(dim: Any) -> None:
    with pytest.raises(ValueError, match="is not a dimension: write"):
        Tensor("rows", dim)


def test_a_case_has_no_sizes_but_its_own() -> None:
    with pytest.raises(KeyError):
        Case({"n": 10})["m"]


def test_a_label_says_what_is_not_usual() -> None:
    assert Case({"rows": 4}).label == "rows=4 float32"
    assert Case({"n": 1}, "float16", fill="inf").label == "n=1 float16 inf"
    assert Case({"n": 1}, seed=3).label == "n=1 float32 seed=3"


# -- tensors and subjects ------------------------------------------------------------------------------------------


class TorchDtype:
    """What torch's own dtypes look like from outside."""

    def __str__(self) -> str:
        return "torch.int32"


def test_torchs_dtypes_are_known_by_their_names() -> None:
    assert Tensor("n", dtype=TorchDtype()).dtype == "int32"
    assert Subject(nothing, dtypes=[TorchDtype()]).dtypes == ("int32",)  # type: ignore[list-item]


def test_dimensions_are_listed_in_the_order_of_the_arguments() -> None:
    subject = Subject(
        nothing,
        inputs=[Tensor("b", 3, "2 * n"), Size("n"), [Tensor("n", "k"), {"mask": Tensor("m")}]],
        keywords={"cu_seqlens": Offsets("sequences", "tokens")},
        sizes={"k": [64]},
    )
    assert subject.dimensions == ("b", "n", "k", "m", "sequences", "tokens")


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ({"inputs": Tensor("n")}, r"write inputs=\[Tensor"),
        ({"inputs": "n"}, r"write inputs=\[Tensor"),
        ({"inputs": {"x": Tensor("n")}}, r"write inputs=\[Tensor"),
        ({"inputs": 3}, r"write inputs=\[Tensor"),
        ({"dtypes": "float16"}, r"write dtypes=\['float16'\]"),
        ({"dtypes": []}, r"write dtypes="),
        ({"dtypes": ["fp16"]}, "unknown dtype 'fp16': write one of float64, float32"),
        ({"mutates": "x"}, r"write mutates=\['x'\]"),
        ({"mutates": ["zzz"]}, r"mutates names 'zzz', but no argument has this name \(there are: none\)"),
        ({"mutates": [17]}, "mutates names the position 17, but there are [01] inputs, from 0"),
        ({"reference": 3}, "reference=3 cannot be called"),
        ({"torch_share": 1.5}, "torch_share=1.5 is not a fraction: write a number from 0 to 1"),
        ({"torch_share": float("nan")}, "torch_share=nan is not a fraction"),
        ({"baselines": {"torch": 3}}, "torch=3 cannot be called"),
        ({"inputs": [Tensor("n")], "sizes": {"m": [1]}}, r"no Tensor has this dimension \(there are: n\)"),
        ({"inputs": [Tensor("n")], "sizes": {"n": []}}, "write a list of numbers"),
        ({"inputs": [Tensor("n")], "sizes": {"n": 64}}, "write a list of numbers"),
        ({"inputs": [Tensor("n")], "sizes": {"n": [-1]}}, "a number of 0 or more"),
        ({"inputs": [Tensor("n"), Size("m")]}, "'m' has no size: no Tensor has this dimension"),
        ({"inputs": [Tensor("n", dtype="int64", high="vocab")]}, "'vocab' has no size"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_remedy(arguments: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ValueError, match=remedy):
        Subject(nothing, **arguments)


def test_a_function_must_be_one() -> None:
    with pytest.raises(ValueError, match="function=3 cannot be called"):
        Subject(3)  # type: ignore[arg-type]


def test_sizes_may_be_those_of_an_argument_that_no_tensor_has() -> None:
    subject = Subject(nothing, inputs=[Tensor("n"), Size("block")], sizes={"block": [64]})
    assert subject.dimensions == ("n", "block")


# -- inputs by keywords --------------------------------------------------------------------------------------------


def by_case(case: Case) -> None:
    """Inputs from a case."""


def by_size(size: int, fill: float | None = None) -> None:
    """Inputs by keywords."""


def by_more(size: int, shape: str) -> None:
    """Inputs from what is not known."""


@pytest.mark.parametrize(
    ("function", "keywords"), [(by_case, ()), (by_size, ("size", "fill")), (by_more, ()), (dict, ())]
)
def test_keywords_are_reported_from_a_case(function: Any, keywords: tuple[str, ...]) -> None:
    assert Subject(nothing, inputs=function).input_keywords == keywords
    assert Subject(nothing, inputs=[Tensor("n")]).input_keywords == ()


def scaled_(gradient: Any, factor: Any = 2.0, *, found: Any = None) -> None:
    """A wrapper that changes its first argument, and notes in another what it has found."""


def test_what_is_changed_by_intent_is_named_as_the_wrapper_has_it() -> None:
    inputs, keywords = [Tensor("n"), Tensor(1)], {"found": Tensor(1)}
    assert Subject(scaled_, inputs=inputs, keywords=keywords, mutates=["gradient", "found", 1]).mutates == (
        0,
        "found",
        1,
    )
    assert Subject(partial(scaled_, 1.0), inputs=inputs[:1], mutates=["factor"]).mutates == (0,)


def test_what_a_function_gives_may_come_by_position_or_by_keyword() -> None:
    assert Subject(scaled_, inputs=by_case, mutates=["gradient"]).mutates == (0, "gradient")
    assert Subject(scaled_, inputs=by_case, mutates=["found"]).mutates == ("found",)
    assert Subject(nothing, inputs=by_case, mutates=["gradient"]).mutates == ("gradient",)


@pytest.mark.parametrize(("inputs", "there_are"), [([Tensor("n")], "gradient"), (by_case, "gradient, factor")])
def test_names_that_no_argument_has_are_refused_with_those_that_there_are(inputs: Any, there_are: str) -> None:
    message = f"mutates names 'grad', but no argument has this name (there are: {there_are})"
    with pytest.raises(ValueError, match=re.escape(message)):
        Subject(scaled_, inputs=inputs, mutates=["grad"])


def test_tensors_are_read_only_unless_they_are_changed_by_intent() -> None:
    rows, cols, bias = Tensor("rows"), Tensor("cols"), Tensor("bias")
    subject = Subject(print, inputs=[[rows, cols], cols], keywords={"bias": bias}, mutates=[0, "bias"])
    assert subject.read_only == (cols,)
    assert Subject(print, inputs=print).read_only == ()


@pytest.mark.parametrize(
    ("timed", "message"),
    [
        ({"huge": {"n": 8}}, "timed names the size 'huge': there are small, medium, large"),
        ({"small": 8}, "timed['small'] is 8: write the size of each dimension"),
        ({"small": {"m": 8}}, "timed gives 'm' a size, but no Tensor has this dimension (there are: n)"),
        ({"large": {"n": 0}}, "timed['large'] gives 'n' the size 0"),
    ],
)
def test_sizes_to_be_timed_that_cannot_be(timed: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Subject(print, inputs=[Tensor("n")], timed=timed)


def test_a_function_of_the_case_may_have_any_sizes_timed() -> None:
    subject = Subject(print, inputs=lambda case: (), timed={"small": {"rows": 8}})
    assert subject.timed["small"] == {"rows": 8}


@pytest.mark.parametrize("role", ["flops", "bytes"])
def test_what_work_there_is_is_a_function_of_the_case(role: str) -> None:
    with pytest.raises(ValueError, match=f"{role}=12 cannot be called"):
        Subject(print, **{role: 12})  # type: ignore[arg-type]
