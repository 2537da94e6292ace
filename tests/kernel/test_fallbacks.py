"""Which handlers hide that a kernel failed."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tritonaudit.kernel.fallbacks import fallbacks
from tritonaudit.kernel.launch import launches_of
from tritonaudit.source.outline import outline

TEXT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr):
    pass


def run(x):
    y = torch.empty_like(x)
    kernel[(4,)](x, y)
    return y


def outer(x):
    return run(x)


class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return run(x)


"""


def answers(text: str) -> list[str]:
    """What takes the kernel's place, as written."""
    module = outline("/nowhere/m.py", TEXT + textwrap.dedent(text))
    return [ast.unparse(found.answer) for found in fallbacks(module, launches_of(module)[module.jit[-1]])]


def handled(
    body: str = "return run(x)", caught: str = " Exception", handler: str = "return torch.relu(x)", name: str = "f"
) -> list[str]:
    lines = textwrap.indent(textwrap.dedent(handler), "        ")
    return answers(f"def {name}(x):\n    try:\n        {body}\n    except{caught}:\n{lines}\n    return torch.abs(x)\n")


@pytest.mark.parametrize(
    "body", ["return run(x)", "return outer(x)", "return Op.apply(x)", "y = x\n        kernel[(4,)](x, y)"]
)
def test_whatever_comes_to_the_launch_is_caught(body: str) -> None:
    assert handled(body) == ["return torch.relu(x)"]


@pytest.mark.parametrize("body", ["return torch.relu(x)", "return Other.apply(x)", "return model.run(x)"])
def test_other_code_is_none_of_its_business(body: str) -> None:
    assert handled(body) == []


@pytest.mark.parametrize(
    ("caught", "hides"),
    [
        ("", True),
        (" BaseException", True),
        (" (ValueError, Exception)", True),
        (" Exception as e", True),
        (" RuntimeError", False),
        (" ImportError", False),
        (" triton.OutOfResources", False),
    ],
)
def test_only_a_handler_of_everything_hides(caught: str, hides: bool) -> None:
    assert bool(handled(caught=caught)) == hides


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        ("return torch.log_softmax(x, 0)", "return torch.log_softmax(x, 0)"),
        ("return x * 2", "return x * 2"),
        ("pass", "return torch.abs(x)"),
        ("if x.is_cuda:\n    return torch.relu(x)\nreturn None", "return torch.relu(x)"),
        ("return None", None),
        ("return float('inf')", None),
        ("return Result(ok=False)", None),
        ("return {'ok': bool(0), 'seconds': time.time()}", None),
        ("sys.stderr.write('failed')\nreturn torch.relu(x)", None),
        ("raise", None),
        ("print(1)\nreturn torch.relu(x)", None),
        ("logger.debug('failed')\nreturn torch.relu(x)", None),
        ("log.info('failed')\nreturn torch.relu(x)", None),
        ("warnings.warn('failed')\nreturn torch.relu(x)", None),
    ],
)
def test_an_answer_in_silence_is_found(handler: str, answer: str | None) -> None:
    assert handled(handler=handler) == ([] if answer is None else [answer])


@pytest.mark.parametrize(("target", "count"), [("y", 1), ("z", 0)])
def test_what_is_set_in_place_of_the_result_is_an_answer(target: str, count: int) -> None:
    assert len(handled("y = run(x)", handler=f"{target} = torch.relu(x)")) == count


@pytest.mark.parametrize("answer", ["float('inf')", "bool(0)"])
def test_a_sentinel_is_no_answer(answer: str) -> None:
    assert handled("y = run(x)", handler=f"y = {answer}") == []


def test_what_the_body_computes_the_arguments_from_is_given() -> None:
    body = "flat = x.reshape(-1)\n        return run(flat)"
    assert handled(body) == ["return torch.relu(x)"]


def test_an_exception_that_is_used_is_not_hidden() -> None:
    assert handled(caught=" Exception as e", handler="failures.append(e)\nreturn torch.relu(x)") == []


@pytest.mark.parametrize("name", ["test_run", "benchmark", "autotune", "is_supported"])
def test_trials_may_fail(name: str) -> None:
    assert handled(name=name) == []


def test_what_may_not_be_there_is_tried() -> None:
    assert handled("from m import n\n        return run(x)") == []
