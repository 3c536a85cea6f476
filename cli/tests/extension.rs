//! The extension for VS Code: packed by `vsce`, and started without a window, with `nesl lsp` at its other end.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, finish};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode")
}

/// Whether this machine has a program.
fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("skipped: there is no {program}. On Debian or Ubuntu: sudo apt-get install nodejs npm");
    }
    is_there
}

/// What VS Code would give the extension, and a client that speaks to the server over its pipes; then a session.
const SESSION: &str = r#"
const Module = require("module");
const { spawn } = require("child_process");
const shown = [];
const vscode = {
  workspace: {
    getConfiguration: (section) => ({
      get: (name) => (`${section}.${name}` === "nesl.path" ? process.env.NESL : null),
    }),
    createFileSystemWatcher: (pattern) => ({ pattern }),
  },
  window: { createOutputChannel: () => ({ clear() {}, append: (text) => shown.push(text), show() {} }) },
};
const clients = [];
class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { id, server, options });
    clients.push(this);
  }
  async start() {
    this.process = spawn(this.server.command, this.server.args, { stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = new Map();
    let rest = Buffer.alloc(0);
    this.process.stdout.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, end).toString())[1]);
        if (rest.length < end + 4 + length) return;
        const message = JSON.parse(rest.subarray(end + 4, end + 4 + length).toString());
        rest = rest.subarray(end + 4 + length);
        if (this.waiting.has(message.id)) this.waiting.get(message.id)(message.result);
      }
    });
    await this.ask(1, "initialize", { capabilities: {} });
    this.say({ method: "initialized", params: {} });
  }
  say(message) {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }
  ask(id, method, params) {
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.say({ id, method, params });
    });
  }
  async stop() {
    await this.ask(99, "shutdown");
    const ended = new Promise((done) => this.process.on("exit", done));
    this.say({ method: "exit" });
    return ended;
  }
}
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
(async () => {
  const { activate, deactivate } = require(process.env.EXTENSION);
  const context = { subscriptions: [] };
  await activate(context);
  const [client] = clients;
  console.log(client.options.documentSelector.map((one) => one.language).join(" "), context.subscriptions.length);
  const uri = `file://${process.cwd()}/a.nesl`;
  const textDocument = { uri, languageId: "nesl", version: 1, text: "x = plus_scan([1]);\n" };
  client.say({ method: "textDocument/didOpen", params: { textDocument } });
  const hover = await client.ask(2, "textDocument/hover", { textDocument, position: { line: 0, character: 6 } });
  console.log(JSON.stringify(hover).includes("plus_scan"));
  // What a lens prints is shown.
  await client.options.middleware.executeCommand("nesl.run", [], async () => "printed\n");
  console.log(shown.join(""));
  console.log(await deactivate());
})();
"#;

#[test]
fn the_extension_starts_the_server_and_shows_what_lenses_print() {
    if !has("node") {
        return;
    }
    let bench = Bench::with("session.js", SESSION);
    let mut command = bench.command(Path::new("node"));
    command
        .arg("session.js")
        .env("NESL", env!("CARGO_BIN_EXE_nesl"))
        .env("EXTENSION", extension().join("extension.js"));
    let ran = finish(&mut command, "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.out, "nesl nesl-v 1\ntrue\nprinted\n\n0\n");
}

/// Copies a folder without what is made in it.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "node_modules" => {}
            true => copied(&entry.path(), &to.join(entry.file_name())),
            false => _ = std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_extension_is_packed_with_what_it_needs() {
    if !has("npm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copied(&extension(), folder.path());
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let installed = run("npm", &["install", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000"]);
    if !installed.status.success() {
        eprintln!("skipped: what packs it cannot be fetched:\n{}", said(&installed));
        return;
    }
    let packed = run("npm", &["run", "package", "--", "--out", "nesl.vsix"]);
    assert!(packed.status.success(), "{}", said(&packed));
    // An archive says at its end, as plain text, which files are in it.
    let archive = std::fs::read(folder.path().join("nesl.vsix")).unwrap();
    let holds = |name: &str| archive.windows(name.len()).any(|part| part == name.as_bytes());
    for name in [
        "extension/package.json",
        "extension/extension.js",
        "extension/syntaxes/nesl.tmLanguage.json",
        "extension/syntaxes/v.tmLanguage.json",
        "extension/language-configuration.json",
        "extension/node_modules/vscode-languageclient/package.json",
    ] {
        assert!(holds(name), "{name} is missing:\n{}", said(&packed));
    }
    assert!(!holds("extension/node_modules/@vscode/vsce/"), "what packs it is packed, too");
}
