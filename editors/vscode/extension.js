// Starts `nesl lsp` and lets it answer; shows in a channel of its own what lenses run.
const { LanguageClient } = require("vscode-languageclient/node");
const vscode = require("vscode");

let client;

async function activate(context) {
  const command = vscode.workspace.getConfiguration("nesl").get("path") || "nesl";
  const server = { command, args: ["lsp"] };
  const output = vscode.window.createOutputChannel("NESL");
  const options = {
    documentSelector: [{ language: "nesl" }, { language: "nesl-v" }],
    // Files that programs import may change outside of the editor.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{nesl,v}") },
    middleware: {
      // What a lens has run is the result of its command.
      executeCommand: async (name, arguments_, next) => {
        const printed = await next(name, arguments_);
        if (typeof printed === "string") {
          output.clear();
          output.append(printed);
          output.show(true);
        }
        return printed;
      },
    },
  };
  client = new LanguageClient("nesl", "NESL", server, options);
  context.subscriptions.push(output);
  await client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
