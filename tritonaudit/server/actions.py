"""Code actions: the fixes of findings, and comments that suppress them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types as lsp

from tritonaudit.finding import Edit, Finding, Fix
from tritonaudit.fixes.applying import edited
from tritonaudit.server.texts import Text
from tritonaudit.source.ignoring import with_suppressions
from tritonaudit.source.magics import parses

FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.tritonaudit"
"""The kind of the action that does all that can be done safely."""
REASON = "TODO: say why"
"""What stands in a comment until its author gives the reason."""

Shown = tuple[Finding, lsp.Diagnostic]
"""A finding, and the diagnostic that it is in the editor."""


def actions(
    uri: str, text: Text, shown: Sequence[Shown], wanted: lsp.Range, only: Sequence[str] | None
) -> Iterator[lsp.CodeAction]:
    """What can be done about the findings of a text that touch a part of it."""
    if only and not any(_is_within(lsp.CodeActionKind.QuickFix.value, kind) for kind in only):
        return
    here = [one for one in shown if _touches(one[1].range, wanted)]
    for finding, diagnostic in here:
        if (fix := finding.fix) is not None and parses(edited(text.source, fix.edits)):
            yield _action(uri, text, _titled(finding, fix), fix.edits, diagnostic, is_preferred=fix.safe)
    for finding, diagnostic in here:
        (reported,) = with_suppressions([finding], text.source, REASON)
        if reported.fix is not None:
            title = f"Suppress {finding.code} {finding.name} on this line, with a reason"
            yield _action(uri, text, title, reported.fix.edits, diagnostic)


def fix_all(uri: str, text: Text, fixed: str) -> lsp.CodeAction:
    """All that safe fixes make of the text, which leaves it as `fixed`."""
    end = text.position(len(text.lines), len(text.lines[-1]) + 1)
    whole = lsp.TextEdit(lsp.Range(lsp.Position(0, 0), end), fixed)
    edit = _edit(uri, text, [whole])
    return lsp.CodeAction("Apply all safe fixes of tritonaudit", FIX_ALL, edit=edit)


def asks_for_all(only: Sequence[str] | None) -> bool:
    """Whether a client asks for what is done on saving, which it gets only then."""
    return any(_is_within(FIX_ALL, kind) for kind in only or ())


def _titled(finding: Finding, fix: Fix) -> str:
    kind = "" if fix.safe else " (unsafe: it may change what the kernel means)"
    return f"{finding.code}: {fix.message}{kind}"


def _action(
    uri: str,
    text: Text,
    title: str,
    edits: Iterable[Edit],
    diagnostic: lsp.Diagnostic,
    is_preferred: bool | None = None,
) -> lsp.CodeAction:
    changes = [lsp.TextEdit(text.range(edit.span), edit.replacement) for edit in dict.fromkeys(edits)]
    return lsp.CodeAction(
        title,
        lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=is_preferred or None,
        edit=_edit(uri, text, changes),
    )


def _edit(uri: str, text: Text, changes: list[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri, text.version)
    return lsp.WorkspaceEdit(changes={uri: changes}, document_changes=[lsp.TextDocumentEdit(document, list(changes))])


def _is_within(kind: str, asked: str) -> bool:
    return kind == asked or kind.startswith(f"{asked}.")


def _touches(left: lsp.Range, right: lsp.Range) -> bool:
    return _place(left.start) <= _place(right.end) and _place(right.start) <= _place(left.end)


def _place(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character
