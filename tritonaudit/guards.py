"""Which older releases of Triton a file says that it runs on, by what it does where Triton is older."""

from __future__ import annotations

import ast
import re
from pathlib import PurePath

from tritonaudit.source.nodes import statements_in
from tritonaudit.source.outline import Module
from tritonaudit.target import KNOWN, Target, Version

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)*")
_COMPARES = re.compile(r"__version__|operator")
_OLDER_IN_ELSE = (ast.GtE, "ge")
_OLDER_IN_BODY = (ast.Lt, "lt")


def guarded_target(module: Module, default: Target) -> Target | None:
    """The default, widened by the releases that the file has an arm of its own for; None where it has none older."""
    if "triton" not in module.text or not _COMPARES.search(module.text):
        return None
    found = (_older_than(module, node) for node in statements_in(module.tree) if isinstance(node, ast.If))
    before = [version for version in found if version is not None]
    if not before or min(before) > default.versions[0]:
        return None
    last = max((known for known in KNOWN if known < min(before)), default=None)
    if last is None or last >= default.versions[0]:
        return None
    versions = tuple(known for known in KNOWN if last <= known <= default.versions[-1])
    return Target.of(versions, PurePath(module.path).name)


def _older_than(module: Module, node: ast.If) -> Version | None:
    """The release R of `if triton >= R: … else: …`, where the arm for what is older does something."""
    comparison = _comparison(module, node.test)
    if comparison is None:
        return None
    sign, version = comparison
    arm = node.orelse if sign in _OLDER_IN_ELSE else node.body if sign in _OLDER_IN_BODY else []
    return version if any(not isinstance(statement, (ast.Raise, ast.Pass)) for statement in arm) else None


def _comparison(module: Module, test: ast.expr) -> tuple[type[ast.cmpop] | str, Version] | None:
    """The sign and the release that Triton's is compared with: by an operator, or by a call that is given one."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        version = _version(test.comparators[0])
        return (type(test.ops[0]), version) if version is not None and _is_release(module, test.left) else None
    if not isinstance(test, ast.Call):
        return None
    given = [*test.args, *(keyword.value for keyword in test.keywords)]
    about_triton = any(isinstance(value, ast.Constant) and value.value == "triton" for value in given)
    signs = [origin for value in given if (origin := _operator(module, value)) is not None]
    versions = [version for value in given if (version := _version(value)) is not None]
    return (signs[0], versions[0]) if about_triton and len(signs) == len(versions) == 1 else None


def _operator(module: Module, node: ast.expr) -> str | None:
    """`ge` of `operator.ge`."""
    head, _, name = module.origin_of(node).rpartition(".")
    return name if head in ("operator", "_operator") else None


def _is_release(module: Module, node: ast.expr) -> bool:
    """`triton.__version__`, parsed or not."""
    attributes = (inner for inner in ast.walk(node) if isinstance(inner, ast.Attribute))
    return any(module.origin_of(inner) == "triton.__version__" for inner in attributes)


def _version(node: ast.expr) -> Version | None:
    """The release that a literal names, parsed or not."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return None
    found = _RELEASE.fullmatch(node.value)
    return None if found is None else (int(found[1]), int(found[2]))
