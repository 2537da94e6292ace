"""Counts the work of a case: operations and bytes. Imports torch: for processes in which user code runs."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from tritonaudit.execute.blame import described
from tritonaudit.hardware.roofline import Work
from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.subject.inputs import Arguments, call, make_inputs, tensors_in
from tritonaudit.subject.model import Case, Subject

GIVEN = "given by the subject"
_COUNTED = "counted by torch.utils.flop_counter in the reference: products of matrices and convolutions"
_NONE_COUNTED = (
    "torch.utils.flop_counter, which counts products of matrices and convolutions, finds none in the reference"
)
_BYTES = "what the reference reads of its inputs, each byte once, and what it returns, written once"
_WITHOUT_REFERENCE = "its inputs, each byte read once, and what it returns, written once"
_GRADIENTS = "; the gradients of its results, and of its inputs, too"
_OUTSIDE = "float32"  # the dtype of arithmetic outside matrix products, unless the subject says otherwise

_READ_NOTHING = frozenset(
    (
        *("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"),
        *("new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full"),
    )
)
_OVERWRITE = frozenset(("copy_", "zero_", "fill_", "normal_", "uniform_", "bernoulli_", "random_"))
_GATHER = frozenset(("embedding", "index_select", "index", "gather", "take", "nll_loss_forward"))
"""Operations that read of their first argument a part, by indices."""


def count(subject: Subject, case: Case) -> Work:
    """The work of a case, as the subject gives it, or else as its reference does it on tensors without data.

    Where that fails the reference is run on real ones. What cannot be counted is None, and its source says why.
    """
    try:
        return counted(subject, replace(case, device="meta"))
    except Exception as error:
        if case.device == "cuda" and not torch.cuda.is_available():
            return uncounted(subject, case, f"on tensors without data the reference {described(error)}")
    try:
        return counted(subject, case)
    except Exception as error:
        return uncounted(subject, case, f"the reference {described(error)}")


def uncounted(subject: Subject, case: Case, reason: str) -> Work:
    """The work of a case of which no more is known than what the subject gives."""
    return _work(subject, case, _Seen(reason=reason))


def counted(subject: Subject, case: Case) -> Work:
    """The work of a case, as its reference does it on the tensors that the case makes.

    Raises whatever the reference, or the making of its inputs, raises.
    """
    inputs = make_inputs(subject, case)
    function = subject.reference or subject.function
    if case.device == "meta" and isinstance(function, torch.nn.Module):
        function = copy.deepcopy(function).to("meta")
    watch = _Watch(inputs, _parameters(function))
    with _CausalMode(watch), watch.counter, watch:
        outputs = call(function, *inputs, gradients=subject.gradients)
    return _work(subject, case, _seen(subject, inputs, outputs, watch))


# -- what was seen -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """What running the reference showed; without a reference, or where it failed, `reason` says why there is less."""

    flops: float | None = None
    read: float | None = None
    written: float | None = None
    operands: str = ""
    is_causal: bool = False
    reason: str = ""


def _seen(subject: Subject, inputs: Arguments, outputs: Any, watch: _Watch) -> _Seen:
    given = list(tensors_in(inputs))
    mutated = [tensor for place in subject.mutates for tensor in tensors_in(_argument(inputs, place))]
    known = {_storage(tensor) for tensor in given}
    returned = [tensor for tensor in tensors_in(outputs) if _storage(tensor) not in known]
    written = _distinct_bytes([*returned, *mutated])
    read = watch.read()
    if subject.gradients:
        written += _distinct_bytes([tensor.grad for tensor in given if tensor.grad is not None])
        read += _distinct_bytes([tensor for tensor in tensors_in(outputs) if tensor.requires_grad])
    if subject.reference is None:
        return _Seen(None, _distinct_bytes(given), written, reason="there is no reference to count them in")
    if watch.causal and subject.gradients:
        reason = "the backward pass of causal attention is not counted: give `flops`"
        return _Seen(None, read, written, _narrowest(watch, given), reason=reason)
    flops = watch.counter.get_total_flops() - watch.causal / 2
    return _Seen(flops, read, written, _narrowest(watch, given), bool(watch.causal))


def _argument(inputs: Arguments, place: str | int) -> Any:
    positional, keywords = inputs
    if isinstance(place, str):
        return keywords.get(place)
    return positional[place] if place < len(positional) else None


def _narrowest(watch: _Watch, given: Sequence[torch.Tensor]) -> str:
    """The dtype that a kernel may multiply in: that of the products, or of an input that the reference widens."""
    if not watch.operands:
        return ""
    product, _ = watch.operands.most_common(1)[0]
    offered = [product, *(t.dtype for t in given if t.is_floating_point() and t.dim() >= 2)]
    narrowest = min(offered, key=lambda dtype: dtype.itemsize)
    return str(narrowest if product.is_floating_point else product).removeprefix("torch.")


def _work(subject: Subject, case: Case, seen: _Seen) -> Work:
    flops, flops_source = _flops(subject, case, seen)
    amount, source, written = _bytes(subject, case, seen)
    is_matrix = bool(seen.operands)
    dtype = seen.operands if is_matrix else _OUTSIDE if flops else case.dtype
    return Work(flops, flops_source, amount, source, dtype, is_matrix, written)


def _flops(subject: Subject, case: Case, seen: _Seen) -> tuple[float | None, str]:
    if subject.flops is not None:
        return _given("flops", subject.flops, case)
    if seen.flops is None:
        return None, seen.reason
    if not seen.flops:
        return 0.0, _NONE_COUNTED
    return seen.flops, _COUNTED + ("; of causal attention half" if seen.is_causal else "")


def _bytes(subject: Subject, case: Case, seen: _Seen) -> tuple[float | None, str, float | None]:
    """The bytes, where they are known from, and those of them that are written."""
    if subject.bytes is not None:
        return *_given("bytes", subject.bytes, case), None
    if seen.read is None or seen.written is None:
        return None, seen.reason, None
    source = _BYTES if subject.reference is not None else _WITHOUT_REFERENCE
    return seen.read + seen.written, source + (_GRADIENTS if subject.gradients else ""), seen.written


def _given(name: str, function: Callable[[Case], float], case: Case) -> tuple[float | None, str]:
    """What the subject says its work is, and that it does; None and the reason where that is no number."""
    try:
        amount = float(function(case))
    except Exception as error:
        return None, f"the subject's `{name}` {described(error)}"
    if not 0 <= amount < math.inf:
        return None, f"the subject's `{name}` gives {amount!r}: give a number of 0 or more"
    return amount, GIVEN


# -- watching ------------------------------------------------------------------------------------------------------


class _Watch(OperatorMode):
    """Sees what is read of the inputs, and of which dtypes products are; its `counter` counts their operations."""

    def __init__(self, inputs: Arguments, parameters: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.counter = FlopCounterMode(display=False, custom_mapping=_uncounted_attention())
        self.operands: Counter[torch.dtype] = Counter()
        self.causal = 0.0
        self._whole: dict[int, float] = {}
        self._views: dict[int, dict[Any, float]] = {}
        for tensor in (*tensors_in(inputs), *parameters):
            storage = _storage(tensor)
            self._whole[storage] = self._whole.get(storage, 0) + _distinct(tensor) * tensor.element_size()

    def read(self) -> float:
        """The bytes read of inputs and parameters, each once."""
        return sum(min(sum(views.values()), self._whole[storage]) for storage, views in self._views.items())

    def on_operator(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        before = self.counter.get_total_flops()
        result = func(*args, **kwargs)
        if flops := self.counter.get_total_flops() - before:
            floating = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
            self.operands[floating[0].dtype] += int(flops)
        name = func.name().split("::")[-1].split(".")[0]
        if name not in _READ_NOTHING and not _is_view(func):
            self._note(name, func, args, kwargs, result)
        return result

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Raises NotImplementedError: what is read and computed in it is not seen."""
        raise NotImplementedError(f"nobody sees what {function} computes")

    def _note(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        outputs = {argument.name for argument in func._schema.arguments if argument.is_out}
        values = [*args, *(value for key, value in kwargs.items() if key not in outputs)]
        for place, value in enumerate(values):
            for tensor in tensors_in(value):
                if _storage(tensor) not in self._whole or (place == 0 and name in _OVERWRITE):
                    continue
                elements = _distinct(tensor)
                if place == 0 and name in _GATHER:
                    elements = min(elements, _gathered(name, args, result))
                view = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), name in _GATHER)
                self._views.setdefault(_storage(tensor), {})[view] = elements * tensor.element_size()


class _CausalMode(TorchFunctionMode):  # type: ignore[misc]
    """Adds up the operations of causal attention, of which the counter counts those that the mask leaves out too."""

    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        is_causal = func is torch.nn.functional.scaled_dot_product_attention and (
            kwargs.get("is_causal") or (len(args) > 5 and args[5])
        )
        before = self._watch.counter.get_total_flops()
        result = func(*args, **kwargs)
        if is_causal:
            self._watch.causal += self._watch.counter.get_total_flops() - before
        return result


def _uncounted_attention() -> dict[Any, Any]:
    """Attention as torch has it on a CPU, which its counter does not know."""
    attention = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)

    def flops(query: Any, key: Any, value: Any, *_: Any, out_shape: Any = None, **__: Any) -> Any:
        return sdpa_flop_count(query, key, value)

    return {} if attention is None else {attention: flops}


def _is_view(func: Any) -> bool:
    """Whether what it returns is its argument, seen otherwise."""
    aliases = [returned.alias_info for returned in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)


def _gathered(name: str, args: tuple[Any, ...], result: Any) -> int:
    """How many elements an operation takes by indices, at most."""
    picked = args[1] if name == "nll_loss_forward" else next(iter(tensors_in(result)), None)
    return int(picked.numel()) if picked is not None else 0


def _parameters(function: Callable[..., Any]) -> list[torch.Tensor]:
    module = function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
    return [*module.parameters(), *module.buffers()] if isinstance(module, torch.nn.Module) else []


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _distinct(tensor: torch.Tensor) -> int:
    """How many elements a tensor has in memory, which are fewer where it is expanded."""
    if not tensor.numel():
        return 0
    return math.prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)


def _distinct_bytes(tensors: Sequence[torch.Tensor]) -> float:
    """The bytes of tensors, of those that share memory no more than there is."""
    by_storage: dict[int, list[torch.Tensor]] = {}
    for tensor in tensors:
        by_storage.setdefault(_storage(tensor), []).append(tensor)
    return float(sum(_shared_bytes(sharing) for sharing in by_storage.values()))


def _shared_bytes(sharing: Sequence[torch.Tensor]) -> int:
    views = {(t.storage_offset(), tuple(t.shape), t.stride()): _distinct(t) * t.element_size() for t in sharing}
    return int(min(sum(views.values()), sharing[0].untyped_storage().nbytes()))
