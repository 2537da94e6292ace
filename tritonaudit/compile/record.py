"""Compiled kernels as JSON can hold them, and back; `report/compiled.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tritonaudit.compile.audit import CompileAudit
from tritonaudit.compile.facts import (
    AccessKind,
    Cause,
    CompiledKernel,
    CompileError,
    LineAccess,
    Narrow,
    Resources,
    Sweep,
    Variant,
)
from tritonaudit.finding import Span
from tritonaudit.shown import shown_path


class NotARecord(ValueError):
    """Data that are not what `record` makes; says which part is not."""


@dataclass(frozen=True)
class Record:
    """What a report holds of an earlier run."""

    kernels: tuple[CompiledKernel, ...]
    targets: tuple[str, ...]
    triton: str


def record(audit: CompileAudit) -> dict[str, Any]:
    """The kernels as data; their paths are those that findings show."""
    return {
        "triton": audit.triton,
        "targets": list(audit.targets),
        "kernels": [_kernel(kernel) for kernel in audit.kernels],
    }


def read_record(data: Any) -> Record:
    """The kernels of data that `record` made, whichever version of tritonaudit did. Raises NotARecord."""
    try:
        return Record(
            kernels=tuple(map(_read_kernel, data["kernels"])),
            targets=tuple(map(str, data["targets"])),
            triton=str(data["triton"]),
        )
    except KeyError as error:
        raise NotARecord(f"it lacks {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise NotARecord(str(error)) from error


def _kernel(kernel: CompiledKernel) -> dict[str, Any]:
    return {
        "path": _shown(kernel.path),
        "name": kernel.name,
        **_place(kernel.span),
        "variants": [_variant(variant) for variant in kernel.variants],
        "sweeps": [
            {
                "dimension": sweep.dimension,
                "sizes": list(sweep.sizes),
                "variants": sweep.variants,
                "argument": sweep.argument,
            }
            for sweep in kernel.sweeps
        ],
    }


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "target": variant.target,
        "config": variant.config,
        "cases": list(variant.cases),
        "assumed": list(variant.assumed),
        "signature": [{"name": name, "type": kind} for name, kind in variant.signature],
        "constants": [{"name": name, "value": value} for name, value in variant.constants],
        "resources": None if variant.resources is None else _resources(variant.resources),
        "shared_limit": variant.shared_limit,
        "error": None if variant.error is None else _error(variant.error),
        "warnings": [_error(warning) for warning in variant.warnings],
        "accesses": [_access(access) for access in variant.accesses],
        "narrow": [_narrow(narrow) for narrow in variant.narrow],
        "dots": [{"type": kind, "count": count} for kind, count in variant.dots],
        "matrix": list(variant.matrix),
    }


def _resources(resources: Resources) -> dict[str, Any]:
    return {field.name: getattr(resources, field.name) for field in fields(Resources)}


def _error(error: CompileError) -> dict[str, Any]:
    place = None if error.span is None else {"path": _shown(error.path), **_place(error.span)}
    return {"message": error.message, "place": place}


def _access(access: LineAccess) -> dict[str, Any]:
    return {
        "path": _shown(access.path),
        **_place(access.span),
        "kind": access.kind.value,
        "widths": [{"bytes": width, "count": count} for width, count in access.widths],
    }


def _narrow(narrow: Narrow) -> dict[str, Any]:
    return {
        "access": _access(narrow.access),
        "bytes": narrow.bytes,
        "could_be": narrow.could_be,
        "cause": narrow.cause.value,
        "arguments": list(narrow.arguments),
    }


def _shown(path: str) -> str:
    return shown_path(Path(path))


def _place(span: Span) -> dict[str, int]:
    return {"line": span.line, "column": span.column, "end_line": span.end_line, "end_column": span.end_column}


# -- back --------------------------------------------------------------------------------------------------------


def _read_kernel(data: Mapping[str, Any]) -> CompiledKernel:
    sweeps = (
        Sweep(sweep["dimension"], tuple(sweep["sizes"]), sweep["variants"], sweep["argument"])
        for sweep in data["sweeps"]
    )
    return CompiledKernel(
        data["path"], data["name"], _read_span(data), tuple(map(_read_variant, data["variants"])), tuple(sweeps)
    )


def _read_variant(data: Mapping[str, Any]) -> Variant:
    return Variant(
        target=data["target"],
        config=data["config"],
        cases=tuple(data["cases"]),
        signature=_pairs(data["signature"], "name", "type"),
        resources=None if data["resources"] is None else Resources(**_known(data["resources"])),
        error=None if data["error"] is None else _read_error(data["error"]),
        warnings=tuple(map(_read_error, data.get("warnings", ()))),
        accesses=tuple(map(_read_access, data["accesses"])),
        narrow=tuple(map(_read_narrow, data["narrow"])),
        dots=_pairs(data["dots"], "type", "count"),
        matrix=tuple(data["matrix"]),
        assumed=tuple(data["assumed"]),
        shared_limit=data["shared_limit"],
        constants=_pairs(data.get("constants", ()), "name", "value"),
    )


def _known(resources: Mapping[str, Any]) -> dict[str, Any]:
    """What this version knows of the resources; another one may have written more."""
    names = {field.name for field in fields(Resources)}
    return {name: value for name, value in resources.items() if name in names}


def _read_error(data: Mapping[str, Any]) -> CompileError:
    place = data["place"]
    if place is None:
        return CompileError(data["message"])
    return CompileError(data["message"], place["path"], _read_span(place))


def _read_access(data: Mapping[str, Any]) -> LineAccess:
    widths = _pairs(data["widths"], "bytes", "count")
    return LineAccess(data["path"], _read_span(data), AccessKind(data["kind"]), widths)


def _read_narrow(data: Mapping[str, Any]) -> Narrow:
    access = _read_access(data["access"])
    return Narrow(access, data["bytes"], data["could_be"], Cause(data["cause"]), tuple(data["arguments"]))


def _read_span(data: Mapping[str, Any]) -> Span:
    return Span(data["line"], data["column"], data["end_line"], data["end_column"])


def _pairs(data: Iterable[Mapping[str, Any]], first: str, second: str) -> tuple[tuple[Any, Any], ...]:
    return tuple((entry[first], entry[second]) for entry in data)
