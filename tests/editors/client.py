#!/usr/bin/env python3
"""`synclint lsp` under a client that somebody else wrote (pygls), whose types reject what the protocol does not allow.

usage: client.py BINARY
"""

import asyncio
import pathlib
import sys
import tempfile

from lsprotocol import types
from pygls.lsp.client import LanguageClient

KERNEL = """\
__global__ void k(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    /* 𝄞 */ if (i < n) {
        out[i] = 1;
        __syncthreads();
    }
}
"""


def capabilities():
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True,
                code_description_support=True,
                tag_support=types.ClientDiagnosticsTagOptions(value_set=list(types.DiagnosticTag)),
            ),
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
            code_action=types.CodeActionClientCapabilities(
                code_action_literal_support=types.ClientCodeActionLiteralOptions(
                    code_action_kind=types.ClientCodeActionKindOptions(value_set=[types.CodeActionKind.QuickFix])
                )
            ),
        ),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        ),
    )


async def talk(binary: str, folder: pathlib.Path) -> None:
    client = LanguageClient("synclint-test", "1")
    published: asyncio.Queue = asyncio.Queue()
    registered: asyncio.Queue = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def _(params: types.RegistrationParams) -> None:
        registered.put_nowait(params)

    file = folder / "kernel ä.cu"
    file.write_text(KERNEL, encoding="utf-8")
    uri = file.as_uri()

    async def diagnostics(version: int) -> list:
        while True:
            params = await published.get()
            if params.uri == uri and params.version == version:
                return params.diagnostics

    await client.start_io(binary, "lsp")
    answer = await client.initialize_async(
        types.InitializeParams(
            capabilities=capabilities(),
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="test")],
            initialization_options={"rulePages": True},
        )
    )
    assert answer.server_info.name == "synclint", answer
    client.initialized(types.InitializedParams())
    watched = await registered.get()
    assert watched.registrations[0].method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES

    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "cuda-cpp", 1, KERNEL))
    )
    (found,) = await diagnostics(1)
    assert found.code == "divergent-branch", found
    assert found.code_description.href == "synclint:/rules/divergent-branch.md", found
    assert found.range.start == types.Position(4, 8), found
    branch = found.related_information[2]
    assert branch.location.uri == uri, branch
    assert branch.location.range.start == types.Position(2, 17), branch

    document = types.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(2, 17)))
    assert hover.contents.value.startswith("**`i` differs from thread to thread**"), hover
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(4, 10)))
    assert "`i < n`" in hover.contents.value, hover

    mend, hide = await client.text_document_code_action_async(
        types.CodeActionParams(document, found.range, types.CodeActionContext(diagnostics=[found]))
    )
    assert mend.title == "Move the barrier behind the branch" and mend.is_preferred, mend
    (change,) = hide.edit.document_changes
    assert change.text_document.version == 1
    (edit,) = change.edits
    assert edit.new_text.strip().startswith("// synclint: ignore[divergent-branch]"), edit

    changed = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
    event = types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
    client.text_document_did_change(types.DidChangeTextDocumentParams(changed, [event]))
    left = await diagnostics(2)
    assert not left, left

    await client.shutdown_async(None)
    client.exit(None)
    await client._server.wait()
    assert client._server.returncode == 0, client._server.returncode


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(talk(sys.argv[1], pathlib.Path(folder).resolve()), 60))
    print("pygls: diagnostics, hover, actions and changes are as they should be")


if __name__ == "__main__":
    main()
