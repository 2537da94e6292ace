"""The files that a new rule begins with."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import cast

from tritonaudit import __version__, rules
from tritonaudit.finding import Confidence, Severity, Stage
from tritonaudit.rule import Rule
from tritonaudit.rules import find_rule


class ScaffoldError(Exception):
    """Why the files of a rule cannot be written."""


def scaffold(code: str, name: str) -> tuple[Path, ...]:
    """Write the files of a rule and say which; none where one of them exists."""
    files = {_checkout() / path: text for path, text in _files(_draft(code, name)).items()}
    if existing := [path for path in files if path.exists()]:
        raise ScaffoldError(f"{existing[0]} exists already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tuple(files)


def _checkout() -> Path:
    """The checkout that this tritonaudit runs from; a wheel has the rules inside the package, not beside it."""
    root = Path(rules.__path__[0]).parent
    if not (root / "tritonaudit" / "rule.py").is_file():
        raise ScaffoldError("rules are written in a checkout of tritonaudit; this one is an installed package")
    return root


def _draft(code: str, name: str) -> type[Rule]:
    """The rule as it will be; building it checks code and name."""
    metadata = {
        "code": code,
        "name": name,
        "summary": "Say here what is wrong, in one sentence.",
        "severity": Severity.WARNING,
        "confidence": Confidence.MEDIUM,
        "since": ".".join(__version__.split(".")[:2]),
    }
    class_name = name.title().replace("-", "")
    try:
        draft = cast("type[Rule]", type(class_name, (Rule,), metadata))
    except TypeError as error:
        raise ScaffoldError(str(error)) from error
    if not class_name.isidentifier() or keyword.iskeyword(class_name):
        raise ScaffoldError(f"{name!r} cannot name a module and a class")
    if draft.stage() not in _CHECKS:
        raise ScaffoldError(f"{code} belongs to the stage {draft.stage().name.lower()}, which does not exist yet")
    for label in (code, name):
        if taken := find_rule(label):
            raise ScaffoldError(f"{label} is taken: {taken.code} {taken.name}")
    return draft


def _files(rule: type[Rule]) -> dict[str, str]:
    """The texts by their paths within the checkout."""
    module = rule.name.replace("-", "_")
    source = f"rules/{rule.category().name.lower()}/{module}"
    fixture = f"fixtures/rules/{rule.code}_{module}"
    imports, check = _CHECKS[rule.stage()]
    kernel = _KERNEL if rule.stage() is Stage.SOURCE else _SUBJECT
    return {
        f"{source}.py": _RULE.format(rule=rule, imports=imports, check=check),
        f"{source}.md": _PAGE.format(rule=rule),
        f"{fixture}/bad.py": _BAD.format(rule=rule) + kernel,
        f"{fixture}/good.py": _GOOD.format(rule=rule) + kernel,
        f"{fixture}/bad.txt": "",
    }


_CHECKS = {
    Stage.SOURCE: (
        """\
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule""",
        '''\
    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        """The places in one kernel where it is wrong; a rule that cannot tell stays silent."""
        yield from ()  # yield Hit(node, "what is wrong, naming the operand", remedy="what to write instead")''',
    ),
    Stage.COMPILE: (
        """\
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule""",
        '''\
    def check(self, kernel: CompiledKernel) -> Iterator[Hit]:
        """What is wrong with one kernel, in words of the variants that it compiles to, `kernel.compiled`."""
        yield from ()  # yield Hit(kernel.span, "what is wrong, in which variants", remedy="what to write instead")''',
    ),
    Stage.RUN: (
        """\
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule
from tritonaudit.suites.facts import RunKernel""",
        '''\
    def check(self, run: RunKernel) -> Iterator[Hit]:
        """What is wrong with one kernel, in words of what running a subject showed of it, `run.of(Symptom.…)`."""
        yield from ()  # yield sentences.hit(seen, "what is wrong, in which cases", "what to write instead")''',
    ),
}
"""By stage, what a rule's module imports and how its `check` begins."""

_RULE = '''\
"""{rule.code} {rule.name}."""

from __future__ import annotations

from collections.abc import Iterator

{imports}


class {rule.__name__}(Rule):
    """{rule.summary}"""

    code, name = "{rule.code}", "{rule.name}"
    summary = "{rule.summary}"
    severity, confidence, since = {rule.severity}, {rule.confidence}, "{rule.since}"

{check}
'''

_PAGE = """\
# {rule.code} {rule.name}

{rule.summary}

## What it does

## Why

## Example

## Use instead

## When it stays silent

## Fix safety

There is no fix.

## References
"""

_COPY = """\
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x, mask=mask)
"""

_KERNEL = f"""
import triton
import triton.language as tl


{_COPY}"""

_SUBJECT = f"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


{_COPY}

def copy(x):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


copy_subject = Subject(copy, inputs=Tensor("size"))
"""

_BAD = '"""Kernels that {rule.code} must find: mark each line with `# expect: {rule.code}`."""\n'

_GOOD = '"""Look-alikes that {rule.code} must not find: mark each with `# ok: {rule.code}` and why."""\n'
