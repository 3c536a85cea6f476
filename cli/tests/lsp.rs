//! `nesl lsp` over its protocol: what it answers, and what it does with messages that are wrong, late or cancelled.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, finish};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const URI: &str = "file:///somewhere/test.nesl";

/// A server, and what it has said that nobody asked for.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    said: Vec<Value>,
    requests: i32,
}

fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

impl Server {
    fn start(bench: &Bench) -> Server {
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.arg("lsp").env("XDG_CACHE_HOME", bench.path("cache"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Server { child, input, output, said: Vec::new(), requests: 0 }
    }

    /// A server that serves, with one document.
    fn with(bench: &Bench, text: &str) -> Server {
        let mut server = Server::start(bench);
        let answer = server.request("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}}));
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16", "{answer}");
        server.notify("initialized", json!({}));
        server.open(text);
        server
    }

    fn send(&mut self, message: &str) {
        self.input.as_mut().unwrap().write_all(framed(message).as_bytes()).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request, and gives its number.
    fn ask(&mut self, method: &str, params: Value) -> i32 {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end() {
                "" => break,
                line => length = line.strip_prefix("Content-Length: ").expect(line).parse().unwrap(),
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn answer_to(&mut self, id: i32) -> Value {
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.said.push(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(id)
    }

    /// The answer to a request about the document, with what else it says.
    fn about(&mut self, method: &str, more: Value) -> Value {
        let mut params = json!({"textDocument": {"uri": URI}});
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn at(&mut self, method: &str, line: u32, character: u32) -> Value {
        self.about(method, json!({"position": {"line": line, "character": character}}))
    }

    fn open(&mut self, text: &str) {
        let document = json!({"uri": URI, "languageId": "nesl", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn change(&mut self, version: i32, changes: Value) {
        let document = json!({"uri": URI, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// The messages about the document that come next.
    fn diagnostics(&mut self) -> (Value, Vec<Value>) {
        loop {
            let message = self.read();
            if message["method"] == "textDocument/publishDiagnostics" {
                let params = &message["params"];
                assert_eq!(params["uri"], URI);
                return (params["version"].clone(), params["diagnostics"].as_array().unwrap().clone());
            }
            self.said.push(message);
        }
    }

    /// Ends it as an editor does.
    fn end(mut self) {
        let answer = self.request("shutdown", Value::Null);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        self.notify("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn place(line: u32, start: u32, end: u32) -> Value {
    json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
}

#[test]
fn a_document_is_checked_while_it_changes() {
    let bench = Bench::new();
    let mut server = Server::with(&bench, "x = 1;\n");
    assert_eq!(server.diagnostics(), (json!(1), vec![]));
    server.change(2, json!([{"range": place(0, 4, 5), "text": "plus_scn([1])"}]));
    let (version, found) = server.diagnostics();
    assert_eq!((version, found.len()), (json!(2), 1));
    assert_eq!(
        (&found[0]["code"], &found[0]["severity"], &found[0]["source"]),
        (&json!("E0201"), &json!(1), &json!("nesl"))
    );
    assert_eq!(found[0]["range"], place(0, 4, 12));
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean `plus_scan`"), "{found:?}");
    let range = json!({"range": place(0, 4, 4), "context": {"diagnostics": found}});
    let actions = server.about("textDocument/codeAction", range);
    assert_eq!(actions[0]["edit"]["changes"][URI][0], json!({"range": place(0, 4, 12), "newText": "plus_scan"}));
    assert_eq!(actions[0]["diagnostics"][0]["code"], "E0201");
    // Two changes, the second in what the first has made; a whole text.
    server.change(3, json!([{"range": place(0, 0, 1), "text": "yy"}, {"range": place(0, 5, 13), "text": "sum"}]));
    assert_eq!(server.diagnostics(), (json!(3), vec![]));
    server.change(4, json!([{"text": "y = 2.0 + 1;"}]));
    assert_eq!(server.diagnostics().1[0]["code"], "E0202");
    server.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert_eq!(server.diagnostics().1, Vec::<Value>::new());
    let answer = server.request("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    server.end();
}

#[test]
fn programs_of_v_are_served_in_its_words() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    server.request("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}}));
    server.notify("initialized", json!({}));
    let uri = "file:///somewhere/test.v";
    let text = "struct p{int a;};\npure int twice(int v[*]) [*] {\n  int w[*] = [2*x : x in v];\n  while ($w > 3) w = w >< v;\n  \
                return w;\n}\nint y = 1.5;\nsum(twice([1, 2]));\n";
    let document = json!({"uri": uri, "languageId": "nesl-v", "version": 1, "text": text});
    server.notify("textDocument/didOpen", json!({"textDocument": document}));
    let said = server.read();
    let found = said["params"]["diagnostics"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["code"]), (1, &json!("E0202")), "{said}");
    assert!(found[0]["message"].as_str().unwrap().contains("`double`"), "{said}");
    assert_eq!(found[0]["range"], place(6, 8, 11));
    let change = json!([{"range": place(6, 8, 11), "text": "15"}]);
    let document = json!({"uri": uri, "version": 2});
    server.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": change}));
    let said = server.read();
    assert_eq!(said["params"]["diagnostics"], json!([]), "{said}");
    let document = json!({"uri": uri});
    let about = |line: u32, at: u32| json!({"textDocument": document, "position": {"line": line, "character": at}});
    let hover = server.request("textDocument/hover", about(7, 5))["result"]["contents"]["value"].clone();
    assert!(hover.as_str().unwrap().contains("pure int twice(int v[*]) [*]"), "{hover}");
    let hover = server.request("textDocument/hover", about(2, 6))["result"]["contents"]["value"].clone();
    assert!(hover.as_str().unwrap().contains("w : int[*]"), "{hover}");
    let definition = server.request("textDocument/definition", about(7, 5));
    assert_eq!(definition["result"][0]["range"], place(1, 9, 14), "{definition}");
    let whole = json!({"textDocument": document});
    let symbols = server.request("textDocument/documentSymbol", whole.clone());
    let names: Vec<&str> =
        symbols["result"].as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["p", "twice", "y"], "what loops become is no symbol");
    let layout = json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let layout = server.request("textDocument/formatting", layout)["result"].to_string();
    assert!(layout.contains("2 * x"), "{layout}");
    let folds = server.request("textDocument/foldingRange", whole)["result"].clone();
    assert_eq!(folds[0]["startLine"], 1, "{folds}");
    let ran = server.request("workspace/executeCommand", json!({"command": "nesl.run", "arguments": [uri]}));
    assert_eq!(ran["result"], "6\n", "{ran}");
    server.end();
}

#[test]
fn places_are_counted_in_units_of_utf_16() {
    let bench = Bench::new();
    // The clef takes two units, and four bytes.
    let mut server = Server::with(&bench, "s = \"𝄞é\"; u = #s;\nw = \"𝄞\" + 1;\n");
    let (_, found) = server.diagnostics();
    assert_eq!(found[0]["range"]["start"]["line"], 1);
    assert_eq!(server.at("textDocument/definition", 0, 16)[0]["range"], place(0, 0, 1));
    let hover = server.at("textDocument/hover", 0, 11);
    assert_eq!(hover["range"], place(0, 11, 12), "{hover}");
    assert!(hover["contents"]["value"].as_str().unwrap().contains("u : int"), "{hover}");
    server.change(2, json!([{"range": place(0, 7, 8), "text": "e"}, {"range": place(0, 5, 7), "text": ""}]));
    let tokens = server.about("textDocument/semanticTokens/full", json!({}));
    assert_eq!(
        &tokens["data"].as_array().unwrap()[..15],
        [0, 0, 1, 6, 1, 0, 2, 1, 1, 0, 0, 2, 3, 3, 0].map(Value::from)
    );
    server.end();
}

#[test]
fn every_request_has_its_answer() {
    let bench = Bench::new();
    let text = "function twice(v)={2*e:e in v};\n% a\nb %\nx=twice([1]);\nsum(x);\n";
    let mut server = Server::with(&bench, text);
    let hover = server.at("textDocument/hover", 4, 1);
    let shown = hover["contents"]["value"].as_str().unwrap();
    assert!(
        shown.contains("sum : [a] -> a") && shown.contains("here : [int] -> int") && shown.contains("Work"),
        "{shown}"
    );
    assert_eq!(server.at("textDocument/hover", 2, 0), Value::Null);
    let items = server.at("textDocument/completion", 3, 4);
    let first = &items["items"][0];
    assert_eq!((&first["label"], &first["detail"]), (&json!("twice"), &json!("[int] -> [int]")), "{items}");
    assert_eq!(first["textEdit"]["range"], place(3, 2, 4));
    let help = server.at("textDocument/signatureHelp", 3, 8);
    assert_eq!(help["signatures"][0]["label"], "twice(v) : [int] -> [int]");
    assert_eq!(help["signatures"][0]["parameters"][0]["label"], json!([6, 7]));
    let reference = json!({"position": {"line": 0, "character": 9}, "context": {"includeDeclaration": true}});
    let references = server.about("textDocument/references", reference);
    assert_eq!(references, json!([{"uri": URI, "range": place(0, 9, 14)}, {"uri": URI, "range": place(3, 2, 7)}]));
    assert_eq!(server.at("textDocument/documentHighlight", 3, 3).as_array().unwrap().len(), 2);
    assert_eq!(server.at("textDocument/prepareRename", 3, 3), place(3, 2, 7));
    let position = json!({"line": 3, "character": 3});
    let edits = server.about("textDocument/rename", json!({"position": position, "newName": "double"}));
    assert_eq!(edits["changes"][URI].as_array().unwrap().len(), 2, "{edits}");
    let params = json!({"textDocument": {"uri": URI}, "position": position, "newName": "in"});
    let refused = server.request("textDocument/rename", params);
    assert_eq!(refused["error"]["code"], -32803, "{refused}");
    let symbols = server.about("textDocument/documentSymbol", json!({}));
    assert_eq!(
        (&symbols[0]["name"], &symbols[1]["name"], &symbols[0]["kind"]),
        (&json!("twice"), &json!("x"), &json!(12))
    );
    let folds = server.about("textDocument/foldingRange", json!({}));
    assert_eq!(folds, json!([{"startLine": 1, "endLine": 2, "kind": "comment"}]));
    let formatted = server.about("textDocument/formatting", json!({"options": {"tabSize": 2, "insertSpaces": true}}));
    let text = "function twice(v) = {2 * e : e in v};\n% a\nb %\nx = twice([1]);\n";
    assert_eq!(formatted[0]["newText"], text, "{formatted}");
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 5, "character": 0}});
    let inlays = server.about("textDocument/inlayHint", json!({"range": whole}));
    assert_eq!((&inlays[0]["label"], &inlays[1]["label"]), (&json!(": [int] -> [int]"), &json!(": [int]")), "{inlays}");
    let lenses = server.about("textDocument/codeLens", json!({}));
    assert_eq!((&lenses[0]["command"]["title"], &lenses[0]["range"]["start"]["line"]), (&json!("run"), &json!(4)));
    let library = server.at("textDocument/definition", 4, 1);
    let path = library[0]["uri"].as_str().unwrap().strip_prefix("file://").unwrap().to_owned();
    assert!(path.ends_with("stdlib/sequence.nesl"), "{path}");
    let line = library[0]["range"]["start"]["line"].as_u64().unwrap() as usize;
    assert!(std::fs::read_to_string(path).unwrap().lines().nth(line).unwrap().contains("function sum"));
    server.end();
}

#[test]
fn imported_files_count_as_they_are_in_the_editor() {
    let bench = Bench::with("main.nesl", "");
    bench.write("units.nesl", "function half(n) = n / 2;\n");
    let uri = |name: &str| format!("file://{}", bench.path(name).display());
    let (main, units) = (uri("main.nesl"), uri("units.nesl"));
    let mut server = Server::start(&bench);
    server.request("initialize", json!({"capabilities": {}}));
    let open = |server: &mut Server, uri: &str, text: &str| {
        let document = json!({"uri": uri, "languageId": "nesl", "version": 1, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": document}));
    };
    // What is said next of one of the two.
    let said = |server: &mut Server, uri: &str| loop {
        let message = server.read();
        if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
            return message["params"]["diagnostics"].clone();
        }
    };
    open(&mut server, &main, "import \"units.nesl\" as u;\nx = u.half(8);\n");
    assert_eq!(said(&mut server, &main), json!([]));
    let at = json!({"textDocument": {"uri": main}, "position": {"line": 1, "character": 7}});
    let found = server.request("textDocument/definition", at.clone());
    assert_eq!(found["result"], json!([{"uri": units, "range": place(0, 9, 13)}]));
    let hover = server.request("textDocument/hover", at.clone());
    assert_eq!(hover["result"]["contents"]["value"], "```nesl\nu.half : int -> int\n```");
    let renamed = server.request("textDocument/prepareRename", at);
    assert!(renamed["error"]["message"].as_str().unwrap().contains("is defined in"), "{renamed}");
    let before = json!({"textDocument": {"uri": main}, "position": {"line": 1, "character": 6}});
    let names = server.request("textDocument/completion", before);
    assert_eq!(names["result"]["items"][0]["label"], "u.half", "{names}");
    // Another name, not saved; then one that is wrong there; then what is on disk again.
    open(&mut server, &units, "function third(n) = n / 3;\n");
    let found = said(&mut server, &main);
    assert_eq!((&found[0]["code"], &found[0]["range"]), (&json!("E0201"), &place(1, 4, 10)), "{found}");
    let document = json!({"uri": units, "version": 2});
    let wrong = json!([{"text": "y = 1;\nfunction half(n) = n / \"2\";\n"}]);
    server.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": wrong}));
    let found = said(&mut server, &main);
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    assert_eq!((&found[0]["code"], &found[0]["range"]), (&json!("E0203"), &place(0, 7, 19)), "{found}");
    let there = &found[0]["relatedInformation"][0]["location"];
    assert_eq!((&there["uri"], &there["range"]["start"]["line"]), (&json!(units), &json!(1)), "{found}");
    server.notify("textDocument/didClose", json!({"textDocument": {"uri": units}}));
    assert_eq!(said(&mut server, &main), json!([]));
    // Without the file the import is wrong, and nothing else is said.
    std::fs::remove_file(bench.path("units.nesl")).unwrap();
    server.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    let found = said(&mut server, &main);
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!((&found[0]["code"], &found[0]["range"]), (&json!("E0228"), &place(0, 7, 19)), "{found}");
    server.end();
}

#[test]
fn lenses_run_what_is_in_the_editor() {
    let bench = Bench::new();
    let mut server = Server::with(&bench, "sum([1:11]);\n");
    let run = |command: &str| json!({"command": command, "arguments": [URI]});
    let answer = server.request("workspace/executeCommand", run("nesl.run"));
    assert_eq!(answer["result"], "55\n", "{answer}");
    let answer = server.request("workspace/executeCommand", run("nesl.vcode"));
    assert!(answer["result"].as_str().unwrap().contains("reduce.add.int"), "{answer}");
    for wrong in [run("nesl.other"), json!({"command": "nesl.run", "arguments": ["file:///other"]}), json!({})] {
        let answer = server.request("workspace/executeCommand", wrong);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    // What runs can be cancelled.
    server.change(2, json!([{"text": "function loop(n) = if n == 0 then 0 else loop(n + 1);\nloop(1);\n"}]));
    let id = server.ask("workspace/executeCommand", run("nesl.run"));
    assert_eq!(server.about("textDocument/foldingRange", json!({})), json!([]), "others do not wait");
    server.notify("$/cancelRequest", json!({"id": id}));
    assert_eq!(server.answer_to(id)["error"]["code"], -32800);
    server.end();
}

#[test]
fn messages_that_are_none_are_refused() {
    let bench = Bench::new();
    let mut server = Server::with(&bench, "x = 1;\n");
    let refused = |server: &mut Server, body: &str, code: i32| {
        server.send(body);
        loop {
            let message = server.read();
            if message["id"].is_null() && message.get("error").is_some() {
                assert_eq!(message["error"]["code"], code, "{body}: {message}");
                return;
            }
        }
    };
    refused(&mut server, "{\"jsonrpc\": \"2.0\", \"id\":", -32700);
    refused(&mut server, "\u{0}", -32700);
    refused(&mut server, "{\"what\": 1}", -32600);
    refused(&mut server, "[]", -32600);
    refused(&mut server, "{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"shutdown\"}", -32600);
    let unknown = server.request("textDocument/moniker", json!({"textDocument": {"uri": URI}}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for params in [json!(null), json!({"textDocument": 7}), json!({"textDocument": {"uri": URI}})] {
        let answer = server.request("textDocument/hover", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    // Notifications that say nothing are nothing; places beyond the text are its end.
    server.notify("textDocument/didChange", json!({"textDocument": 1}));
    server.notify("$/unknown", json!({}));
    server.change(2, json!([{"range": {"start": {"line": 90, "character": 9}, "end": {"line": 99, "character": 0}}, "text": "y = x;"}]));
    assert_eq!(server.at("textDocument/hover", 99, 99), Value::Null);
    assert_eq!(server.about("textDocument/documentSymbol", json!({})).as_array().unwrap().len(), 2);
    server.end();
}

#[test]
fn the_order_of_beginning_and_end_is_kept() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    let early = server.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    server.open("x = ;");
    assert!(server.request("initialize", json!({"capabilities": {}}))["result"]["capabilities"].is_object());
    let again = server.request("initialize", json!({"capabilities": {}}));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    // What was opened before the beginning is not open.
    let unopened = server.request("textDocument/foldingRange", json!({"textDocument": {"uri": URI}}));
    assert_eq!(unopened["error"]["code"], -32602, "{unopened}");
    assert_eq!(server.request("shutdown", Value::Null)["result"], Value::Null);
    let late = server.request("textDocument/hover", json!({}));
    assert_eq!(late["error"]["code"], -32600, "{late}");
    server.notify("exit", Value::Null);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // Without a shutdown it is an error, and so is an input that ends.
    let mut server = Server::with(&bench, "x = 1;");
    server.notify("exit", Value::Null);
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    let mut server = Server::with(&bench, "x = 1;");
    server.input = None;
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}

#[test]
fn requests_that_wait_can_be_cancelled() {
    let bench = Bench::new();
    let mut server = Server::with(&bench, "x = 1;\n");
    // One message after another, in one piece: the cancellation is there before the request is begun.
    let function = |index: usize| format!("function g{index}(v) = {{e + {index} : e in v}};\n");
    let text: String = (0..400).map(function).collect();
    let change = json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
        "textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]}});
    let hover = |id: i32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/documentSymbol",
        "params": {"textDocument": {"uri": URI}}})
    };
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 102}});
    let unknown = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 999}});
    let all: String =
        [change, hover(101), hover(102), cancel, unknown].iter().map(|message| framed(&message.to_string())).collect();
    server.input.as_mut().unwrap().write_all(all.as_bytes()).unwrap();
    let (mut first, mut second) = (Value::Null, Value::Null);
    while first.is_null() || second.is_null() {
        let message = server.read();
        match message["id"].as_i64() {
            Some(101) => first = message,
            Some(102) => second = message,
            _ => {}
        }
    }
    assert_eq!(first["result"].as_array().unwrap().len(), 400);
    assert_eq!(second["error"]["code"], -32800, "{}", second["error"]);
    server.end();
}

#[test]
fn what_is_not_the_protocol_ends_it() {
    let bench = Bench::new();
    let ran = bench.piped(&["lsp"], "hello\n");
    ran.fails(1, &["not the language server protocol"]);
    bench.piped(&["lsp"], "Content-Length: 99\r\n\r\n{}").fails(1, &["ends inside of a message"]);
    bench.piped(&["lsp"], "Content-Length: many\r\n\r\n{}").fails(1, &["no length"]);
    bench.piped(&["lsp"], "X: 1\r\n\r\n{}").fails(1, &["without Content-Length"]);
    assert_eq!(bench.piped(&["lsp"], "").code, Some(1));
    assert_eq!(bench.piped(&["lsp", "--stdio"], "").code, Some(1));
    bench.nesl(&["lsp", "file.nesl"]).fails(2, &["file.nesl"]);
    // An editor that no longer listens has gone away.
    let mut command = bench.command(Path::new("sh"));
    let request = framed(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).to_string());
    let script = "{ printf '%s' \"$1\"; sleep 0.2; printf '%s' \"$1\"; } | \"$0\" lsp | true";
    let ran = finish(command.args(["-c", script, env!("CARGO_BIN_EXE_nesl"), &request]), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

/// Neovim, if this machine has it, as somebody's editor.
#[test]
fn neovim_is_served() {
    let found = Command::new("nvim").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no nvim. On Debian or Ubuntu: sudo apt-get install neovim");
        return;
    }
    let bench = Bench::with("test.nesl", "x = plus_scn([1]);\n");
    bench.write(
        "check.lua",
        r#"
        local id = vim.lsp.start_client({ name = "nesl", cmd = { vim.env.NESL, "lsp" }, root_dir = vim.fn.getcwd() })
        vim.cmd("edit test.nesl")
        vim.lsp.buf_attach_client(0, id)
        vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 50)
        local found = vim.diagnostic.get(0)[1]
        local report = found and (found.code .. " " .. found.lnum .. ":" .. found.col) or "nothing"
        local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 0, character = 0 } }
        local answer = vim.lsp.buf_request_sync(0, "textDocument/documentSymbol", params, 20000)
        for _, one in pairs(answer or {}) do report = report .. " " .. one.result[1].name end
        vim.fn.writefile({ report }, "report")
        vim.cmd("qall!")
        "#,
    );
    let mut command = bench.command(Path::new("nvim"));
    command.args(["--headless", "-u", "NONE", "-i", "NONE", "-S", "check.lua"]);
    let ran = finish(command.env("NESL", env!("CARGO_BIN_EXE_nesl")).env("HOME", bench.path(".")), "");
    let report = std::fs::read_to_string(bench.path("report")).unwrap_or_default();
    // x means nothing, since its value does not; it is a symbol all the same.
    assert_eq!(report.trim(), "E0201 0:4 x", "{ran:?}");
}
