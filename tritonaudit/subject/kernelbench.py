"""Subjects from KernelBench pairs: `Model` is what `ModelNew` must do as well. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from tritonaudit.subject.inputs import OnDevice, seed_torch, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.parameters import check_parameters, digests_of, draw_parameters

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
        self._built: dict[tuple[str, bool, str, int], Any] = {}
        self.__name__ = getattr(model, "__name__", "model")

    def __call__(self, *inputs: Any) -> Any:
        return self._called(inputs, "", 0)

    def buffers_after(self, inputs: Sequence[Any], case: Case, names: Collection[str] = ()) -> dict[str, torch.Tensor]:
        """Those of a new model after a call, by name: the ones of these names, and the ones that the call changed.

        They are as wide as what is computed with, which is more where a mode has it so. Raises what the model raises,
        and OtherParameters or FewerParameters where the case asks for others.
        """
        device, is_meta = _device_of(inputs)
        if not _buffers(self._kept(device, is_meta, case.parameters, case.seed)):
            return {}
        model = self._new(device, case.parameters, case.seed)
        for part in model.modules():
            for name, buffer in list(part.named_buffers(recurse=False)):
                setattr(part, name, buffer.to(buffer.dtype))  # in float64 what is written there would be rounded
        before = {name: buffer.clone() for name, buffer in _buffers(model).items()}
        with torch.no_grad():
            model(*inputs)
        return {
            name: buffer
            for name, buffer in _buffers(model).items()
            if name in names or name not in before or not _is_equal(buffer, before[name])
        }

    def with_others(self, parameters: str, seed: int) -> Callable[..., Any]:
        """The same with other numbers in place of its parameters of this digest.

        Calling it raises OtherParameters, or FewerParameters, where they are not.
        """
        return lambda *inputs: self._called(inputs, parameters, seed)

    def digests(self) -> tuple[str, ...]:
        """Those of its parameters which can be others; none where it cannot be built."""
        known = (model for (_, is_meta, parameters, _), model in self._built.items() if not (is_meta or parameters))
        try:
            return tuple(digests_of(next(known, None) or self._kept("cpu", False, "", 0)))
        except Exception:  # its own constructor may raise anything
            return ()

    def _called(self, inputs: Sequence[Any], parameters: str, seed: int) -> Any:
        model = self._kept(*_device_of(inputs), parameters, seed)
        with torch.no_grad():
            return model(*inputs)

    def _kept(self, device: str, is_meta: bool, parameters: str, seed: int) -> Any:
        key = device, is_meta, parameters, seed
        if key not in self._built:
            model = self._new(device, parameters, seed)
            for other in [other for other in self._built if parameters and other[2]]:  # a model may be large
                del self._built[other]
            self._built[key] = model
        return self._built[key]

    def _new(self, device: str, parameters: str, seed: int) -> Any:
        model = self._build(device)
        if parameters:
            check_parameters(model, parameters)
            draw_parameters(model, parameters, seed)
        return model

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
        """A new model; what a call draws does not depend on whether one was built before it."""
        uses_gpu = device.startswith("cuda") and torch.cuda.is_initialized()
        with torch.random.fork_rng([torch.device(device)] if uses_gpu else []):
            seed_torch(_SEED)
            with OnDevice(device):
                model = self.model(*self._arguments())
            return model.to(device) if isinstance(model, torch.nn.Module) else model


def parameters_of(subject: Subject) -> tuple[str, ...]:
    """Digests of parameters of the model that a subject is judged by, which can be others; none where it is none."""
    return subject.reference.digests() if isinstance(subject.reference, Built) else ()


def in_case(function: Callable[..., Any], case: Case) -> Callable[..., Any]:
    """A subject's function, or its reference, with the parameters of a case."""
    return (
        function.with_others(case.parameters, case.seed)
        if isinstance(function, Built) and case.parameters
        else function
    )


def buffers_in_case(function: Callable[..., Any], case: Case, names: Sequence[str]) -> Callable[..., Any]:
    """What a subject's function, which is a model, leaves in buffers: those of these names, and those it changes."""
    assert isinstance(function, Built)
    return lambda *inputs: function.buffers_after(inputs, case, names)


def _device_of(inputs: Sequence[Any]) -> tuple[str, bool]:
    """The device of what a model is called with, and whether that has no data, which shows no other device."""
    tensor = next(tensors_in(inputs), None)
    return ("cpu", False) if tensor is None else (str(tensor.device), bool(tensor.is_meta))


def _buffers(model: Any) -> dict[str, torch.Tensor]:
    """Those of a model that have a size by now, by name."""
    named = model.named_buffers() if isinstance(model, torch.nn.Module) else ()
    return {name: buffer for name, buffer in named if not torch.nn.parameter.is_lazy(buffer)}


def _is_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other))


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
