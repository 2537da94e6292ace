"""Tensors that host code makes without contents, and that a kernel reads before anything has set them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Tensor
from tritonaudit.queries.launched import argument_node, is_only_launched, set_before
from tritonaudit.queries.memory import WITHOUT_CONTENTS
from tritonaudit.queries.updates import Update, updates


@dataclass(frozen=True, eq=False)
class Unset:
    """The kernel changes a tensor by what it holds, and the host code makes it without contents, at `made`."""

    update: Update
    site: LaunchSite
    made: ast.expr


def unset_buffers(flow: KernelFlow) -> Iterator[Unset]:
    """The first launch for each parameter that the kernel adds to, or reads before it stores there."""
    is_set_by_tuner = any(map(_may_set, flow.function.decorators))
    for update in updates(flow) if not is_set_by_tuner else ():
        if not all(guard.constexpr for guard in update.read.path):
            continue
        for site in flow.launches.sites:
            tensor, node = site.arguments.get(update.parameter), argument_node(site, update.parameter)
            is_new = isinstance(tensor, Tensor) and tensor.made in WITHOUT_CONTENTS
            made = set_before(site, node) if is_new and node is not None else None
            if made is not None and site.is_whole and not site.doubt and is_only_launched(site, update.parameter):
                yield Unset(update, site, made)
                break


def _may_set(decorator: ast.expr) -> bool:
    """Whether it may set tensors before each launch: by a hook of its own, or of configs that are made elsewhere."""
    if not isinstance(decorator, ast.Call):
        return False
    words = {word.arg: word.value for word in decorator.keywords}
    configs = words.get("configs", decorator.args[0] if decorator.args and "key" in words else None)
    hooked = any(isinstance(node, ast.keyword) and node.arg in _HOOKS for node in ast.walk(decorator))
    return hooked or (configs is not None and not isinstance(configs, ast.List))


_HOOKS = ("reset_to_zero", "pre_hook")
