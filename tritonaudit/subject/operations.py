"""Operations of PyTorch that variants are often of: its function, its arguments, what it computes. Imports no torch."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonaudit.subject.model import Size, Tensor


@dataclass(frozen=True)
class Known:
    """An operation: `function` is the dotted name of PyTorch's, `formula` and `growth` say what it computes and costs.

    `output` is the shape of the result. `arguments` are those of the function that variants are tried with, by its
    names and in its order: a `Tensor` for each tensor, and for an option its value.
    """

    function: str
    formula: str
    growth: str
    output: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Fitted:
    """How a wrapper is given the arguments; `absent` are options that it does not take, and PyTorch's function does."""

    positional: tuple[Any, ...]
    keywords: Mapping[str, Any]
    absent: Mapping[str, Any]


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_ROWS = Tensor("rows", "size")
_HEADS = Tensor("batch", "heads", "seq", "head_dim")
_SHAPE = "(rows, size)"
_PER_ELEMENT = "O(elements)"
_PER_ROW = "O(rows · size)"
_FUNCTIONAL = "torch.nn.functional"
_ATTENTION = Known(
    f"{_FUNCTIONAL}.scaled_dot_product_attention",
    "out = softmax(q kᵀ / √head_dim) v, for each head",
    "O(batch · heads · seq² · head_dim)",
    "(batch, heads, seq, head_dim)",
    {"query": _HEADS, "key": _HEADS, "value": _HEADS, "is_causal": False},
)

_KNOWN = {
    "add": Known("torch.add", "out = x + y", _PER_ELEMENT, _SHAPE, {"input": _ROWS, "other": _ROWS}),
    "sub": Known("torch.sub", "out = x - y", _PER_ELEMENT, _SHAPE, {"input": _ROWS, "other": _ROWS}),
    "mul": Known("torch.mul", "out = x · y", _PER_ELEMENT, _SHAPE, {"input": _ROWS, "other": _ROWS}),
    "relu": Known(f"{_FUNCTIONAL}.relu", "out = max(x, 0)", _PER_ELEMENT, _SHAPE, {"input": _ROWS}),
    "gelu": Known(f"{_FUNCTIONAL}.gelu", "out = x · Φ(x)", _PER_ELEMENT, _SHAPE, {"input": _ROWS}),
    "silu": Known(f"{_FUNCTIONAL}.silu", "out = x / (1 + exp(-x))", _PER_ELEMENT, _SHAPE, {"input": _ROWS}),
    "sigmoid": Known("torch.sigmoid", "out = 1 / (1 + exp(-x))", _PER_ELEMENT, _SHAPE, {"input": _ROWS}),
    "tanh": Known("torch.tanh", "out = tanh(x)", _PER_ELEMENT, _SHAPE, {"input": _ROWS}),
    "softmax": Known(
        f"{_FUNCTIONAL}.softmax",
        "out = exp(x - max x) / Σ exp(x - max x), by rows",
        _PER_ROW,
        _SHAPE,
        {"input": _ROWS, "dim": -1},
    ),
    "log_softmax": Known(
        f"{_FUNCTIONAL}.log_softmax",
        "out = x - max x - log Σ exp(x - max x), by rows",
        _PER_ROW,
        _SHAPE,
        {"input": _ROWS, "dim": -1},
    ),
    "layer_norm": Known(
        f"{_FUNCTIONAL}.layer_norm",
        "out = (x - mean) / √(variance + eps) · weight + bias, by rows",
        _PER_ROW,
        _SHAPE,
        {
            "input": _ROWS,
            "normalized_shape": [Size("size")],
            "weight": Tensor("size"),
            "bias": Tensor("size"),
            "eps": 1e-5,
        },
    ),
    "rms_norm": Known(
        f"{_FUNCTIONAL}.rms_norm",
        "out = x / √(mean x² + eps) · weight, by rows",
        _PER_ROW,
        _SHAPE,
        {"input": _ROWS, "normalized_shape": [Size("size")], "weight": Tensor("size"), "eps": 1e-5},
    ),
    "matmul": Known(
        "torch.matmul", "out = x y", "O(m · n · k)", "(m, n)", {"input": Tensor("m", "k"), "other": Tensor("k", "n")}
    ),
    "bmm": Known(
        "torch.bmm",
        "out = x y, for each of a batch",
        "O(batch · m · n · k)",
        "(batch, m, n)",
        {"input": Tensor("batch", "m", "k"), "mat2": Tensor("batch", "k", "n")},
    ),
    "cross_entropy": Known(
        f"{_FUNCTIONAL}.cross_entropy",
        "out = mean over rows of log Σ exp(x) - x[target]",
        "O(rows · classes)",
        "()",
        {"input": Tensor("rows", "classes"), "target": Tensor("rows", dtype="int64", high="classes")},
    ),
    "mha": _ATTENTION,
    "attention": _ATTENTION,
    "scaled_dot_product_attention": _ATTENTION,
}


def known_operation(name: str) -> Known | None:
    """The operation of that name; underscores do not matter: `layernorm` is `layer_norm`."""
    wanted = _plain(name)
    return next((known for other, known in _KNOWN.items() if _plain(other) == wanted), None)


def known_names() -> tuple[str, ...]:
    """The names of all of them."""
    return tuple(_KNOWN)


def fitted(known: Known, signature: inspect.Signature) -> Fitted | None:
    """How a wrapper of that signature takes the arguments; None where it is not of PyTorch's own interface.

    Tensors go by their order, options by their names; an option may be missing unless a tensor comes behind it.
    """
    order = list(known.arguments)
    tensors = [name for name, value in known.arguments.items() if isinstance(value, Tensor)]
    options = {name: value for name, value in known.arguments.items() if name not in tensors}
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    is_in_order = True
    for name, parameter in signature.parameters.items():
        is_positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if name in options:
            given = name
        elif is_positional and tensors:
            given = tensors.pop(0)
        elif parameter.default is not parameter.empty or parameter.kind in _VARIADIC:
            is_in_order = False
            continue
        else:
            return None
        if is_in_order and is_positional and order.index(given) == len(positional):
            positional.append(known.arguments[given])
        elif given in options and parameter.kind is not parameter.POSITIONAL_ONLY:
            is_in_order = False
            keywords[given] = options[given]
        else:
            return None
        options.pop(given, None)
    return None if tensors else Fitted(tuple(positional), keywords, options)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
