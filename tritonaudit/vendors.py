"""Makers of accelerators who publish a Triton of their own, which is none of the releases that the rules know."""

from __future__ import annotations

import re

_VENDOR = re.compile(
    r"(?:^|[/\\_.-])(?:ascend|npu|cann|kunlunxin|klx|cambricon|mlu|mthreads|musa|enflame|gcu\d*|metax|maca|iluvatar"
    r"|corex|hygon|tsingmicro|txda|aipu|sunrise|spacemit|xpu)(?:[/\\_.-]|$)",
    re.IGNORECASE,
)


def names_vendor(text: str) -> bool:
    """Whether a path, or the name of an extra, names such a maker."""
    return _VENDOR.search(text) is not None
