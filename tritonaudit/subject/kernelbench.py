"""Subjects from KernelBench pairs: `Model` is what `ModelNew` must do as well. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from tritonaudit.subject.inputs import OnDevice, seed_torch, tensors_in
from tritonaudit.subject.model import Subject

_SEED = 42  # of both models' parameters, so that they are the same


def pair_subject(new: ModuleType, reference: ModuleType, name: str) -> Subject:
    """The subject of a pair: both models are built with the same arguments and seed, where their inputs are.

    The pair's own functions say what the inputs are, their dtype included, so that there is one case.
    """
    arguments: Callable[[], Sequence[Any]] = getattr(reference, "get_init_inputs", list)
    make: Callable[[], Sequence[Any]] = reference.get_inputs

    def inputs(device: str) -> tuple[Any, ...]:
        return tuple(_on(device, value) for value in make())

    return Subject(
        Built(new.ModelNew, arguments),
        reference=Built(reference.Model, arguments),
        inputs=inputs,
        name=name,
        dtypes=("float32",),
    )


class Built:
    """A model as a function: built when it is first called with tensors of a device, and run without gradients."""

    def __init__(self, model: Callable[..., Any], arguments: Callable[[], Sequence[Any]]) -> None:
        self.model = model
        self._arguments = arguments
        self._built: dict[tuple[str, bool], Any] = {}
        self.__name__ = getattr(model, "__name__", "model")

    def __call__(self, *inputs: Any) -> Any:
        tensor = next(tensors_in(inputs), None)
        # A stand-in without data shows the same device as one that has some.
        where = ("cpu", False) if tensor is None else (str(tensor.device), bool(tensor.is_meta))
        if where not in self._built:
            self._built[where] = self._build(where[0])
        with torch.no_grad():
            return self._built[where](*inputs)

    def sizes_held(self) -> dict[int, str]:
        """The sizes that the model, built without memory, hangs on, and as what it has each of them."""
        arguments = self._arguments()
        with OnDevice("meta"):
            model = self.model(*arguments)
        held = dict.fromkeys(_numbers(list(arguments)), "an argument of the models")
        if isinstance(model, torch.nn.Module):
            for weights in (*model.parameters(), *model.buffers()):
                held.update(dict.fromkeys(weights.shape, "a dimension of the reference's weights"))
            for part in model.modules():
                own = {name: value for name, value in vars(part).items() if not name.startswith("_")}
                held = {**dict.fromkeys(_numbers(own), "a number that the reference holds"), **held}
        return held

    def _build(self, device: str) -> Any:
        seed_torch(_SEED)
        with OnDevice(device):
            model = self.model(*self._arguments())
        return model.to(device) if isinstance(model, torch.nn.Module) else model


def _numbers(value: Any) -> Iterator[int]:
    """The integers in it, and the sizes of its tensors."""
    if type(value) is int:
        yield value
    elif isinstance(value, torch.Tensor):
        yield from value.shape
    elif isinstance(value, Mapping):
        yield from _numbers(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _numbers(member)


def _on(device: str, value: Any) -> Any:
    return value.to(device) if isinstance(value, torch.Tensor) else value
