"""What the field means by the names of parameters, where nothing else tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_VALUES: tuple[tuple[str, Any], ...] = (
    (r"eps(_.*)?|epsilon|.*_eps", 1e-6),
    (r"(sm|softmax|qk|attn)_?scale|scale|scaling(_factor)?|sm_scale", 0.125),
    (r"lr|learning_rate", 1e-3),
    (r"beta_?[12]?|momentum|decay|gamma", 0.9),
    (r"weight_decay|wd", 0.01),
    (r"p|p_?dropout|dropout(_p|_prob|_rate|_ratio)?", 0.1),
    (r"alpha|temperature|tau|theta|logits?_scale", 1.0),
    (r"softcap|.*_cap|.*_softcap", 30.0),
    (r"rope_theta|base", 10000.0),
    (r"(is_)?causal", True),
    (r"keep_?dim|training|inplace|is_.*|has_.*|use_.*|return_.*|trans(pose)?_.*|with_.*|output_.*_state", False),
    (r"dim|axis", -1),
    (r"dims|axes", [-1]),
    (r"reduction", "mean"),
    (r"(num|n)_?warps", 4),
    (r"(num|n)_?(stages|ctas)", 2),
    (r"seed|.*_seed|start|.*_start|offset|.*_offset|.*_id|.*_idx|index|pos|.*_pos|ignore_index", 0),
    (r"b[tckvsmn]|.*(block|chunk|tile)_?(size)?(_?[mnkqdctv])?|block_.*", 64),
    (r"group_?size|q_?group_?size", 128),
    (r"(num_|n_)?groups?", 8),
    (r"top_?k|k_?top|num_splits|splits?|split_k|world_size|tp_size|ratio|factor", 2),
    (r"(w_|num_)?n?bits|.*_bits?|pack_factor", 4),
    (r"window(_size)?|.*window.*", 128),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), value) for pattern, value in _VALUES)

_OFFSETS = re.compile(
    r"(b_|q_|k_|kv_)?(cu_?seq_?len.*|.*(x|seq)_offsets|seq_start(_loc)?s?|q?_?indptr|.*_indptr|cu_.*)$"
)
_LENGTHS = re.compile(r".*seq_?len(gth)?s?(_.*)?|(context|input|kv|cache|q|k)_?len(gth)?s?|lengths?|lens")
_INDICES = re.compile(r"(.*_)?(ind(ex|ices)|idxs?|ids?|labels?|positions?|(block|page)_tables?|mapping|slots?)(_.*)?")
_TENSORS = re.compile(
    r"(.*_)?(indices|idxs|ids|labels|(block|page)_tables?|slot_mapping)(_.*)?|.*(seq|seq_)?len(gth)?s(_.*)?"
)
_INT32 = re.compile(r".*(len|table|loc|slot|offset|qweight|qzeros|packed|map).*")
_MASK = re.compile(r"(.*_)?mask")
_WEIGHT = re.compile(r"(.*_)?(weights?|w|bias|b|gamma|beta|scales?|rstd|inv_rms|g)(_.*)?", re.IGNORECASE)
_SIZE = re.compile(
    r"[A-Z]{1,2}|(n|num|nr|max|total|d)_.*"
    r"|.*(size|len|length|dim|rows|cols|heads|count|elements|numel|hidden|vocab|channels|tokens)s?(_[a-z])?"
)
_ATTENTION = re.compile(r"d?[qkvo]|query|key|value|d?[qkv]_?(proj|states?)?", re.IGNORECASE)
_NO_TENSOR = re.compile(
    r".*dtype|device|stream|(.*_)?(group|config|cfg)|mode|type|name|normalized_shape|shape|sizes?|fn|func|op|act(ivation)?"
)


def is_no_tensor(name: str) -> bool:
    """Whether it is something else, whatever the code does with it."""
    return _NO_TENSOR.fullmatch(name) is not None


def usual_value(name: str) -> Any:
    """What a parameter of this name is usually given; None where the name says nothing."""
    return next((value for pattern, value in _PATTERNS if pattern.fullmatch(name)), None)


def is_tensor(name: str) -> bool:
    """Whether what is called so is a tensor and no number, though it speaks of sizes or places."""
    return is_offsets(name) or is_mask(name) or _TENSORS.fullmatch(name.lower()) is not None


def is_offsets(name: str) -> bool:
    """Whether it says where sequences begin and end, as `cu_seqlens` does."""
    return _OFFSETS.match(name.lower()) is not None


def is_lengths(name: str) -> bool:
    return _LENGTHS.fullmatch(name.lower()) is not None


def is_index(name: str) -> bool:
    """Whether it holds indices into something."""
    return _INDICES.fullmatch(name.lower()) is not None


def is_mask(name: str) -> bool:
    return _MASK.fullmatch(name.lower()) is not None


def is_weight(name: str, others: Iterable[str] = ()) -> bool:
    """Whether it belongs to each element of a row: a weight of a normalisation, a bias. `b` beside `a` is none."""
    return _WEIGHT.fullmatch(name) is not None and (name.lower() != "b" or not {"a", "A"} & {*others})


def is_attention(name: str) -> bool:
    """Whether it holds the queries, keys, values or results of attention."""
    return _ATTENTION.fullmatch(name) is not None


def is_size(name: str) -> bool:
    """Whether a number of this name is the size of a dimension."""
    return _SIZE.fullmatch(name) is not None


def usual_rank(name: str) -> int | None:
    """How many dimensions what is called so has, where the field agrees."""
    if "table" in name.lower():
        return 2
    return 1 if is_offsets(name) or is_lengths(name) or is_index(name) else None


def index_dtype(name: str) -> str:
    """The dtype of indices of this name: torch's own are 64 bits wide, those of serving code 32."""
    return "int32" if _INT32.fullmatch(name.lower()) or is_offsets(name) or is_lengths(name) else "int64"
