"""The attributes and methods of blocks and of dtypes."""

from __future__ import annotations

from functools import cache

from tritonaudit.api.table import TENSOR, table
from tritonaudit.target import Version

DTYPE_MEMBERS = frozenset(
    {
        "name", "primitive_bitwidth", "itemsize", "scalar", "element_ty", "shape", "numel", "address_space", "const",
        "int_bitwidth", "int_signedness", "fp_mantissa_width", "exponent_bias", "SIGNEDNESS", "KIND", "kind", "type",
        "to_ir", "mangle", "codegen_name", "cache_key_part", "get_block_shapes", "get_int_max_value",
        "get_int_min_value", "with_element_ty", "value",
    }
    | {f"is_{what}" for what in (
        "fp8", "fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64", "int1", "int8",
        "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "floating", "standard_floating",
        "int_signed", "int_unsigned", "int", "bool", "void", "block", "ptr", "const", "dtype", "custom_floating",
    )}
)  # fmt: skip
"""What a dtype has in any release; `max` and `finfo` are not among it."""


@cache
def member(name: str) -> Version | None:
    """The release since which blocks have the attribute; None for one that they never had."""
    if name.startswith("__"):
        return (2, 0)
    definitions = table().name(f"{TENSOR}.{name}").definitions
    return min(definitions) if definitions else None
