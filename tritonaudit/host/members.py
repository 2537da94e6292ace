"""Attributes, methods and elements of the values of host code."""

from __future__ import annotations

import ast
from typing import Any

from tritonaudit.domains.affine import Affine
from tritonaudit.host import library, tensors
from tritonaudit.host.operators import compare
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.values import (
    Bag,
    Builtin,
    Class,
    Config,
    Dims,
    Dtype,
    External,
    Function,
    Kernel,
    Launcher,
    Object,
    Symbol,
    Tensor,
    Value,
    as_number,
    number,
)

_OF_TENSORS = frozenset(("shape", "dtype", "ndim", "T", "mT"))


def attribute(run: Run, base: Value, name: str) -> Value:
    """`base.name`."""
    if isinstance(base, External):
        return library.member(f"{base.name}.{name}")
    if isinstance(base, Tensor):
        method = _method(run, base, name)
        return tensors.attribute(run, base, name) if method is None else method
    if isinstance(base, Symbol):
        return _of_symbol(run, base, name)
    if isinstance(base, Object):
        return _of_object(run, base, name)
    if isinstance(base, Class):
        return _of_class(run, base, name)
    if isinstance(base, (Affine, str, float)) and name == "value":
        return base  # a member of an enum is known by its value
    if isinstance(base, (dict, list, str, tuple, Dims)):
        return Builtin(name, lambda args, keywords: _of_container(run, base, name, args))
    if isinstance(base, Kernel):
        return base if name in ("fn", "jit_fn") else run.unknown(f"`{name}` of a kernel", name=f"kernel.{name}")
    if isinstance(base, Config) and name == "kwargs":
        return base.given
    if isinstance(base, Dtype):
        return _of_dtype(run, base, name)
    return run.unknown(f"`.{name}` of what has none", base, name=name)


def _method(run: Run, tensor: Tensor, name: str) -> Value:
    method = tensors.METHODS.get(name)
    if method is None:
        return None
    return Builtin(name, lambda args, keywords: method(run, tensor, args, keywords))


def _of_symbol(run: Run, base: Symbol, name: str) -> Value:
    """What comes in is a tensor as soon as it is asked for what only tensors have."""
    kept = run.fields.get((*base.key, name))
    if kept is not None:
        return kept
    tensor = run.tensor(base)
    assert tensor is not None
    if name in _OF_TENSORS:
        return tensors.attribute(run, tensor, name)
    part = base.part(name)
    return part if name not in tensors.METHODS else _method(run, tensor, name)


def _of_object(run: Run, base: Object, name: str) -> Value:
    if name in base.fields:
        return base.fields[name]
    found = None if base.of is None else _defined(base.of, name)
    if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) and base.of is not None:
        function = Function(found, base.of.frame)
        decorators = {node.id for node in found.decorator_list if isinstance(node, ast.Name)}
        if "staticmethod" in decorators:
            return function
        bound = Function(found, base.of.frame, base.of if "classmethod" in decorators else base, True)
        return run.apply(bound, [], {}, None) if "property" in decorators else bound
    return base.symbol.part(name)


def _of_class(run: Run, base: Class, name: str) -> Value:
    """`C.apply` of an autograd function runs its `forward`."""
    wanted = "forward" if name == "apply" and _defined(base, "apply") is None else name
    found = _defined(base, wanted)
    if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
        known = _constant(base, name)
        if known is not None:
            return known
        return run.unknown(f"`{name}` of a class", name=f"{base.node.name}.{name}")
    decorators = {node.id for node in found.decorator_list if isinstance(node, ast.Name)}
    if name != "apply" or wanted == "apply":
        return Function(found, base.frame, base, "classmethod" in decorators)
    context = run.unknown("the context of an autograd function", name="ctx")
    return Function(found, base.frame, Object(None, context), True)


def _defined(of: Class, name: str) -> ast.stmt | None:
    return next((node for node in of.node.body if getattr(node, "name", None) == name), None)


def _constant(of: Class, name: str) -> Value:
    """A number or text of a class, such as a member of an enum; a truth value is a switch that others may turn."""
    for node in of.node.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            known = node.value.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) else None
            if isinstance(known, int) and not isinstance(known, bool):
                return number(known)
            return known if isinstance(known, (float, str)) else None
    return None


def _of_dtype(run: Run, base: Dtype, name: str) -> Value:
    if name == "is_floating_point":
        return "float" in base.name
    if name == "itemsize" and base.itemsize is not None:
        return number(base.itemsize)
    return run.unknown(f"`{name}` of a dtype")


def _of_container(run: Run, base: Value, name: str, args: list[Value]) -> Value:
    """The methods of dictionaries, lists, tuples and shapes that wrappers use."""
    if isinstance(base, dict):
        return _of_dict(run, base, name, args)
    if isinstance(base, list) and name in ("append", "extend") and args:
        base.extend(args if name == "append" else args[0] if isinstance(args[0], (tuple, list)) else ())
        return None
    if isinstance(base, (Dims, tuple)) and name == "numel":
        return run.count(base)
    if isinstance(base, str) and all(isinstance(value, str) for value in args):
        function: Any = getattr(base, name, None) if name in ("startswith", "endswith", "lower", "upper") else None
        if function is not None:
            return function(*args)
    return run.unknown(f"`{name}` of a sequence", base, *args)


def _of_dict(run: Run, base: dict[Value, Value], name: str, args: list[Value]) -> Value:
    if name in ("items", "keys", "values"):
        return tuple(getattr(base, name)())
    if name == "copy":
        return dict(base)
    if name in ("get", "pop", "setdefault") and args and not isinstance(args[0], (list, dict)):
        found = base.get(args[0], args[1] if len(args) > 1 else None)
        if name == "setdefault":
            base[args[0]] = found
        return found
    if name == "update" and args and isinstance(args[0], dict):
        base.update(args[0])
        return None
    return run.unknown(f"`{name}` of a dictionary", *args)


def set_attribute(run: Run, base: Value, name: str, given: Value) -> None:
    if isinstance(base, Object):
        base.fields[name] = given
    if isinstance(base, (Object, Symbol)):
        run.fields[(*(base.symbol if isinstance(base, Object) else base).key, name)] = given


def set_item(run: Run, base: Value, key: Value, given: Value) -> None:
    if isinstance(base, dict) and not isinstance(key, (list, dict, slice)):
        base[key] = given
    elif isinstance(base, list):
        place = as_number(key)
        if place is None or not -len(base) <= place < len(base):
            base[:] = [run.unknown("an element of a list that is changed") for _ in base]
        else:
            base[place] = given


def item(run: Run, base: Value, key: Value) -> Value:
    """`base[key]`."""
    if isinstance(base, Kernel):
        return Launcher(base, key)
    if isinstance(base, dict):
        if isinstance(key, Symbol) and base and key not in base:
            return _chosen(run, base, key)
        known = None if isinstance(key, (list, dict, slice)) else base.get(key)
        return run.unknown("what a dictionary lacks", name=f"[{key}]") if known is None and key not in base else known
    if isinstance(base, Dims):
        base = run.dims(base)
    if isinstance(base, (tuple, list)):
        return _of_sequence(run, base, key)
    if isinstance(base, Dims):
        return _of_shape(run, base, key)
    if isinstance(base, Bag):
        return base.element if base.element is not None else base.symbol
    if isinstance(base, Tensor) or (isinstance(base, Symbol) and isinstance(key, (slice, tuple))):
        tensor = run.tensor(base)
        assert tensor is not None
        return indexed(run, tensor, key if isinstance(key, tuple) else (key,))
    if isinstance(base, Symbol):
        shown = key.value if isinstance(key, Affine) else key
        if isinstance(shown, (str, int)):
            return Symbol((*base.key, "[]", shown), f"{base.name}[{shown!r}]", base.reason, base.roots)
    return run.unknown("an element of what is not known", base, key)


def _chosen(run: Run, base: dict[Value, Value], key: Symbol) -> Value:
    """What a dictionary has for an input, on the path on which the input is that key."""
    for known, element in base.items():
        if run.truth(compare(run, ast.Eq(), key, known)):
            return element
    raise Raises(f"a dictionary has no `{key.name}`")


def _of_sequence(run: Run, base: tuple[Value, ...] | list[Value], key: Value) -> Value:
    if isinstance(key, slice):
        given = (key.start, key.stop, key.step)
        ends = [None if end is None else as_number(end) for end in given]
        if all(known is not None or end is None for known, end in zip(ends, given, strict=True)):
            return base[slice(*ends)]
        return run.unknown("a part of a sequence", key.start, key.stop)
    place = as_number(run.integer(key)) if isinstance(key, bool) else as_number(key)
    if place is None:
        return run.unknown("an element that is chosen by what is not known", key)
    if not -len(base) <= place < len(base):
        raise Raises(f"a sequence of {len(base)} has no element {place}")
    return base[place]


def _of_shape(run: Run, base: Dims, key: Value) -> Value:
    if isinstance(key, slice) and key.step is None:
        first = 0 if key.start is None else as_number(key.start)
        last = None if key.stop is None else as_number(key.stop)
        if first is not None and first >= 0 and (key.stop is None or (last is not None and last < 0)):
            end = base.last if last is None else last + (base.last or 0)
            return Dims(base.of, base.first + first, end)
        if first is not None and last is not None and 0 <= first <= last < 9:
            return tuple(run.item(base, place) for place in range(first, last))
        if first is not None and first < 0 and key.stop is None:
            return tuple(run.item(base, place) for place in range(first, 0))
    place = as_number(key)
    return run.unknown("a size that is chosen by what is not known", key) if place is None else run.item(base, place)


def indexed(run: Run, tensor: Tensor, keys: tuple[Value, ...]) -> Value:
    """`x[0, :, :n]`: a view, where the number of dimensions is known and whole numbers and slices index it."""
    dims, steps = run.dims(tensor.shape), tensors.strides(run, tensor)
    if isinstance(dims, Dims) or steps is None:
        return run.unknown("a part of a tensor", tensor, *keys, name=f"{tensor.symbol.name}[…]")
    if Ellipsis in [key for key in keys if key is Ellipsis]:
        at = next(place for place, key in enumerate(keys) if key is Ellipsis)
        given = sum(key is not None for key in keys) - 1
        keys = (*keys[:at], *[slice(None)] * (len(dims) - given), *keys[at + 1 :])
    shape: list[Value] = []
    strides: list[Value] = []
    place = 0
    for key in keys:
        if key is None:
            shape.append(number(1))
            strides.append(number(0))
            continue
        if place >= len(dims):
            raise Raises(f"`{tensor.symbol.name}` has {len(dims)} dimensions")
        if isinstance(key, slice):
            length = _sliced(run, dims[place], key)
            if length is None:
                return run.unknown("a part of a tensor", tensor, name=f"{tensor.symbol.name}[…]")
            shape.append(length)
            strides.append(steps[place])
        elif run.integer(key) is None or isinstance(key, Symbol):
            return run.unknown("elements of a tensor", tensor, key, name=f"{tensor.symbol.name}[…]")
        place += 1
    symbol = Symbol(run.fresh(), f"{tensor.symbol.name}[…]", "a part", tensor.symbol.roots)
    made = (*strides, *steps[place:])
    return Tensor(symbol, (*shape, *dims[place:]), made, tensor.dtype, "a part")


def _sliced(run: Run, size: Value, key: slice) -> Value:
    """How many are left of `size` by `[a:b]`; None where that is not known."""
    if key.step is not None and as_number(key.step) != 1:
        return None
    whole = run.integer(size)
    start = number(0) if key.start is None else run.integer(key.start)
    stop = whole if key.stop is None else run.integer(key.stop)
    if whole is None or start is None or stop is None:
        return None
    if start.value is not None and start.value < 0:
        start = whole + start
    if stop.value is not None and stop.value < 0:
        stop = whole + stop
    return (run.arithmetic.least(stop, whole) if key.stop is not None else whole) - start


def instance(run: Run, of: Class, args: list[Value], keywords: dict[str, Value]) -> Object:
    """A new object of a class of the project, after its `__init__`."""
    made = Object(of, run.unknown("an object", *args, name=of.node.name))
    start = _defined(of, "__init__")
    if isinstance(start, ast.FunctionDef):
        run.apply(Function(start, of.frame, made, True), args, keywords, None)
    else:
        annotated = [node.target for node in of.node.body if isinstance(node, ast.AnnAssign)]
        names = [target.id for target in annotated if isinstance(target, ast.Name)]
        made.fields.update(zip(names, args, strict=False))
        made.fields.update(keywords)
    return made
