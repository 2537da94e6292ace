"""What is shown where the mouse rests: a rule's page, a name of Triton by release, what is known of an address."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tritonaudit.api.listing import lines_of
from tritonaudit.api.lookup import find
from tritonaudit.api.table import table
from tritonaudit.domains.affine import Affine
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.finding import Finding, Span
from tritonaudit.queries.answer import Proven, Refuted, Unknown
from tritonaudit.queries.bounds import bounds
from tritonaudit.queries.unbounded import unbounded_lane
from tritonaudit.rules import find_rule
from tritonaudit.source.outline import Module, dotted_name, span_of


def pages(findings: Sequence[Finding], line: int, column: int) -> Iterator[str]:
    """The pages of the rules that found something at a place."""
    codes = dict.fromkeys(found.code for found in findings if _holds(found.span, line, column))
    for code in codes:
        rule = find_rule(code)
        if rule is not None and rule.page_file().is_file():
            yield rule.page()


def triton_name(module: Module, line: int, column: int) -> Iterator[str]:
    """The name of Triton at a place, with what it is in each release; nothing where no release has it."""
    chains = (node for node in ast.walk(module.tree) if isinstance(node, (ast.Attribute, ast.Name)))
    here = [node for node in chains if _holds(span_of(node, module.lines), line, column)]
    dotted = [name for node in here if (name := dotted_name(node)) is not None]
    origin = module.origin(max(dotted, key=len)) if dotted else ""
    if origin.startswith("triton."):
        known = table()
        for found in find(known, origin):
            yield f"```text\n{''.join(lines_of(known, found, known.releases))}```"


def addresses(kernels: Sequence[KernelFlow], line: int, column: int) -> Iterator[str]:
    """What is known of the access at a place, whose pointer, mask or call stands there; the innermost one."""
    found = [
        (kernel.tree.span(access.node), kernel, access)
        for kernel in kernels
        for access in kernel.accesses
        if _holds(kernel.tree.span(access.node), line, column)
    ]
    if found:
        _, kernel, access = max(found, key=lambda one: one[0])
        lines = list(_address(kernel, access))
        if lines:
            yield "\n".join(lines)


def _address(kernel: KernelFlow, access: Access) -> Iterator[str]:
    pointer, block = access.pointer, access.pointer.block
    if block is not None:
        tiles = zip(block.shape, block.offsets, block.block, strict=False)
        for axis, (size, offset, tile) in enumerate(tiles):
            yield f"- axis {axis}: {_code(offset)} and {_code(tile)} from there on, of {_code(size)}"
        yield f"- bounds: {'checked' if access.checked or block.descriptor else 'not checked'}"
        return
    if pointer.affine is None or pointer.origin is None:
        return
    yield f"- index into {_code(pointer.origin.name)}: {_code(pointer.affine - Affine.of(pointer.origin))}"
    if access.mask is None:
        yield "- mask: none"
    elif access.mask.mask is not None:
        known = sorted(_spelled(one) for one in access.mask.mask if isinstance(one, Less))
        others = ["a condition that is not understood"] if len(known) < len(access.mask.mask) else []
        yield f"- mask: {' and '.join([*map(_code, known), *others]) or 'always true'}"
    yield from _bound(kernel, access)


def _bound(kernel: KernelFlow, access: Access) -> Iterator[str]:
    """Whether it stays inside its tensor, launch by launch, where that is known."""
    lane = unbounded_lane(kernel, access)
    if lane is not None:
        yield f"- bound: nothing bounds {_code(lane.index)}"
    sites = kernel.launches.sites
    for site in sites:
        answer = bounds(kernel.launches.host, site, kernel, access)
        is_here = site.module.path == kernel.module.path
        where = f"in the launch in line {site.call.lineno}" if is_here else "in a launch"
        if isinstance(answer, Proven):
            yield f"- {where} it stays inside the tensor"
        elif isinstance(answer, Unknown) and answer.held:
            yield f"- {where} it stays inside the tensor at all sizes that were tried"
        elif isinstance(answer, Refuted):
            shown = answer.shown
            sizes = ", ".join(f"{name} = {size:,}" for name, size in answer.sizes.items() if ".stride(" not in name)
            yield f"- {where} it reaches element {shown.element:,} of {shown.elements:,}, at {_code(sizes)}"


def _spelled(condition: Less) -> str:
    """A comparison with what it bounds on the left: `tl.arange(0, BLOCK) < n`."""
    terms = condition.gap.terms
    left = Affine({product: -factor for product, factor in terms.items() if product and factor < 0})
    right = Affine({product: factor for product, factor in terms.items() if not product or factor > 0})
    return f"{left} {'<' if condition.strict else '<='} {right}"


def _code(what: object) -> str:
    """As code in Markdown, whatever it holds."""
    text = " ".join(str(what if what is not None else "?").split()).replace("`", "'")
    return f"`{text or '?'}`"


def _holds(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)
