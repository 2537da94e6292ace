"""What `from module import *` has to give to the file that says so."""

from __future__ import annotations

from types import FrameType

from tritonaudit.absent.guards import parsed
from tritonaudit.capture.names import names_read, scope_tree


def names_wanted(frame: FrameType) -> list[str]:
    """The names that the frame's file reads, which neither it nor what it has imported so far gives a meaning."""
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return []
    read = {dotted.partition(".")[0] for dotted in names_read(list(tree.body))}
    return sorted(read - set(scope_tree(tree).bindings) - set(frame.f_globals))
