// Starts `tritonaudit server` and lets VS Code speak with it; everything else is the server's.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** The program to start, as the settings say. */
function program() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const path = vscode.workspace.getConfiguration("tritonaudit").get("path") || "tritonaudit";
  return path.replace("${workspaceFolder}", folder);
}

async function start() {
  const command = program();
  client = new LanguageClient(
    "tritonaudit",
    "tritonaudit",
    { command, args: ["server"] },
    { documentSelector: [{ scheme: "file", language: "python" }] },
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `tritonaudit: ${command} does not start (${error.message}). ` +
        "Install it with pip install 'tritonaudit[server]', or set tritonaudit.path.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("tritonaudit.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tritonaudit.path")) {
        return restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
