"""The server: which of the protocol's messages it answers, and how."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tritonaudit import __version__
from tritonaudit.rules import all_rules
from tritonaudit.server import actions
from tritonaudit.server.auditing import Auditor
from tritonaudit.server.hints import hints
from tritonaudit.server.session import Editor, Session, lenses_of
from tritonaudit.server.texts import UNITS, Text, Units

_WATCHED = (
    "**/*.py", "**/pyproject.toml", "**/tritonaudit.toml", "**/.gitignore", "**/setup.cfg", "**/requirements*.txt",
    "**/PKG-INFO",
)  # fmt: skip
"""Files that findings may rest on: the last ones say for which Triton a project is."""


def make() -> LanguageServer:
    """A server that has not begun yet: `start_io()` runs it until its client leaves.

    The process is its own: memory is tidied when nobody types, and what is loaded by now is never looked through.
    """
    all_rules()
    gc.disable()
    gc.freeze()
    server = LanguageServer("tritonaudit", __version__)
    session = Session(_editor(server))
    _keep_texts(server, session)
    _answer(server, session)
    return server


def _editor(server: LanguageServer) -> Editor:
    """How the session speaks to the client, from whatever thread."""
    return Editor(
        lambda uri, version, found: server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, found, version)
        ),
        lambda said: server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, said)),
        lambda said: server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, said)),
    )


def _keep_texts(server: LanguageServer, session: Session) -> None:
    """The messages that keep the session's texts as the editor's."""

    @server.feature(lsp.INITIALIZE)
    def initialize(_: lsp.InitializeParams) -> None:
        session.auditor = Auditor(_folders(server))

    @server.feature(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        await _watch(server)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = to_fs_path(document.uri)
        if path is not None and document.uri.startswith("file:") and path.endswith(".py"):
            session.open(document.uri, Path(path), Text(document.text, document.version, _units(server)))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        session.change(params.text_document.uri, params.content_changes, params.text_document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        session.close(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: lsp.DidSaveTextDocumentParams) -> None:
        session.refresh()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(_: lsp.DidChangeWatchedFilesParams) -> None:
        session.refresh()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def other_folders(_: lsp.DidChangeWorkspaceFoldersParams) -> None:
        session.auditor = Auditor(_folders(server))
        session.refresh()

    @server.feature(lsp.SHUTDOWN)
    def shut_down(_: None) -> None:
        session.end()


def _answer(server: LanguageServer, session: Session) -> None:
    """The requests about a text: each waits until the newest one has been audited."""

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, actions.FIX_ALL]),
    )
    async def actions_in(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        one = await session.settled(params.text_document.uri)
        if one is None:
            return []
        only, text = params.context.only, one.text
        if not actions.asks_for_all(only):
            return list(actions.actions(one.uri, text, session.shown(one), params.range, only))
        fixed = await session.ask(lambda: session.fixed(one.path, text))
        is_old = one.text is not text
        return [] if is_old or fixed == text.source else [actions.fix_all(one.uri, text, fixed)]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        one = await session.settled(params.text_document.uri)
        if one is None:
            return None
        said = await session.hover(one, params.position)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said)) if said else None

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def hints_in(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        one = await session.settled(params.text_document.uri)
        return [] if one is None or one.known is None else hints(one.known.kernels, one.text, params.range)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def lenses_in(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        one = session.opened.get(params.text_document.uri)
        return [] if one is None else await session.ask(partial(lenses_of, one.path, one.text))


def _folders(server: LanguageServer) -> list[Path]:
    """The folders of the workspace."""
    workspace = server.workspace
    paths = [to_fs_path(uri) for uri in workspace.folders] or [workspace.root_path]
    return [Path(path) for path in paths if path]


def _units(server: LanguageServer) -> Units:
    encoding = server.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
    return UNITS[encoding.value if isinstance(encoding, lsp.PositionEncodingKind) else encoding]


async def _watch(server: LanguageServer) -> None:
    """Ask a client that can do so to say when files change on the disk."""
    workspace = server.client_capabilities.workspace
    watching = None if workspace is None else workspace.did_change_watched_files
    if watching is None or not watching.dynamic_registration:
        return
    options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(glob) for glob in _WATCHED])
    registration = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await server.client_register_capability_async(lsp.RegistrationParams([registration]))
