//! `synclint lsp`, spoken to as an editor speaks, over its standard input and output.

use crate::program::{Folder, synclint};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const DIVERGENT: &str = "\
__global__ void k(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1;
        __syncthreads();
    }
}
";

/// An editor that has started the server.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Notifications and requests of the server that nobody has waited for yet.
    waiting: VecDeque<Value>,
    next_id: i32,
    _watch: mpsc::Sender<()>,
}

impl Editor {
    fn start() -> Editor {
        let mut command = synclint();
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("synclint starts");
        let (watch, ended) = mpsc::channel::<()>();
        let id = child.id();
        std::thread::spawn(move || {
            // Rather an end of the output than a test that hangs.
            if ended.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").arg("-9").arg(id.to_string()).status();
            }
        });
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Editor { child, input, output, waiting: VecDeque::new(), next_id: 1, _watch: watch }
    }

    /// Started, and introduced to a folder, as an editor that can do everything.
    fn in_folder(folder: &Path) -> Editor {
        let mut editor = Editor::start();
        editor.initialise(json!({
            "processId": null,
            "rootUri": uri(folder),
            "initializationOptions": { "rulePages": true },
            "capabilities": {
                "textDocument": {
                    "publishDiagnostics": {
                        "relatedInformation": true,
                        "codeDescriptionSupport": true,
                        "tagSupport": { "valueSet": [1, 2] },
                    },
                    "hover": { "contentFormat": ["markdown", "plaintext"] },
                    "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } } },
                },
                "workspace": { "workspaceEdit": { "documentChanges": true } },
            },
        }));
        editor
    }

    fn initialise(&mut self, params: Value) -> Value {
        let answer = self.request("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server listens");
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> i32 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("it is text") > 0, "the server has ended");
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("the whole message");
        serde_json::from_slice(&body).expect("it is JSON")
    }

    /// The whole answer to a request.
    fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(&json!(id))
    }

    fn open(&mut self, path: &Path, text: &str) {
        let document = json!({ "uri": uri(path), "languageId": "cuda-cpp", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, path: &Path, version: i32, changes: Value) {
        let document = json!({ "uri": uri(path), "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// What is next published for a file that fits.
    fn published(&mut self, path: &Path, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let wanted = uri(path);
        let is_it = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == wanted.as_str()
                && fits(&message["params"])
        };
        let message = match self.waiting.iter().position(is_it) {
            Some(index) => self.waiting.remove(index).expect("it is there"),
            None => loop {
                let message = self.receive();
                if is_it(&message) {
                    break message;
                }
            },
        };
        message["params"]["diagnostics"].as_array().expect("an array").clone()
    }

    fn published_for(&mut self, path: &Path, version: i32) -> Vec<Value> {
        self.published(path, |params| params["version"] == version)
    }

    fn hover(&mut self, path: &Path, line: u32, character: u32) -> String {
        let place = json!({ "textDocument": { "uri": uri(path) }, "position": at(line, character) });
        let answer = self.request("textDocument/hover", place);
        answer["result"]["contents"]["value"].as_str().unwrap_or_default().to_string()
    }

    fn actions(&mut self, path: &Path, line: u32, only: Option<&str>) -> Vec<Value> {
        let context = match only {
            Some(kind) => json!({ "diagnostics": [], "only": [kind] }),
            None => json!({ "diagnostics": [] }),
        };
        let range = json!({ "start": at(line, 0), "end": at(line, 200) });
        let question = json!({ "textDocument": { "uri": uri(path) }, "range": range, "context": context });
        self.request("textDocument/codeAction", question)["result"].as_array().expect("an array").clone()
    }

    /// The exit code after a goodbye.
    fn end(mut self) -> i32 {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.code()
    }

    fn code(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn at(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

fn rules(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().map(|each| each["code"].as_str().unwrap_or_default()).collect()
}

/// The text that an edit in one document makes.
fn edited(text: &str, action: &Value) -> String {
    let edits = &action["edit"]["documentChanges"][0]["edits"];
    let edits = edits.as_array().expect("edits");
    let offset = |place: &Value| {
        let line = place["line"].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + place["character"].as_u64().expect("a number") as usize
    };
    let mut text = text.to_string();
    for edit in edits.iter().rev() {
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        text.replace_range(start..end, edit["newText"].as_str().expect("a text"));
    }
    text
}

#[test]
fn a_finding_is_shown_with_its_story() {
    let folder = Folder::new("lsp-story");
    let file = folder.write("a.cu", "// not what the editor has\n");
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&file, DIVERGENT);
    let found = editor.published_for(&file, 1);
    assert_eq!(rules(&found), ["divergent-branch"]);
    let found = &found[0];
    assert_eq!(found["range"], json!({ "start": at(4, 8), "end": at(4, 23) }));
    assert_eq!((&found["severity"], &found["source"]), (&json!(1), &json!("synclint")));
    assert_eq!(found["codeDescription"]["href"], "synclint:/rules/divergent-branch.md");
    let message = found["message"].as_str().expect("a text");
    assert!(message.contains("reached by only part of the block") && message.contains("help: "), "{message}");
    let steps: Vec<(u64, &str)> = found["relatedInformation"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| {
            assert_eq!(step["location"]["uri"], uri(&file).as_str());
            let line = step["location"]["range"]["start"]["line"].as_u64().expect("a number");
            (line, step["message"].as_str().expect("a text"))
        })
        .collect();
    assert_eq!(steps[0], (1, "1. `threadIdx.x` differs from thread to thread"));
    assert_eq!(steps[2], (2, "3. threads of the block part here"));
    let page = editor.request("synclint/rulePage", json!({ "rule": "divergent-branch" }));
    assert!(page["result"]["text"].as_str().expect("a page").starts_with("# divergent-branch\n"));
    assert_eq!(editor.end(), 0);
}

#[test]
fn an_editor_that_shows_no_places_gets_the_story_in_words() {
    let folder = Folder::new("lsp-plain");
    let file = folder.write("a.cu", DIVERGENT);
    let mut editor = Editor::start();
    editor.initialise(json!({ "rootUri": uri(folder.path()), "capabilities": {} }));
    editor.open(&file, DIVERGENT);
    let found = editor.published_for(&file, 1);
    let message = found[0]["message"].as_str().expect("a text");
    assert!(message.contains("a.cu:2: 1. `threadIdx.x` differs from thread to thread"), "{message}");
    assert_eq!(found[0].get("relatedInformation"), None);
    assert_eq!(editor.hover(&file, 2, 8).lines().next(), Some("`i` differs from thread to thread"));
    let range = json!({ "start": at(4, 0), "end": at(4, 1) });
    let question = json!({ "textDocument": { "uri": uri(&file) }, "range": range, "context": { "diagnostics": [] } });
    assert_eq!(editor.request("textDocument/codeAction", question)["result"], json!([]), "it takes no edits");
}

/// A question about a file that is not open is answered, from the disk where it lies in an open folder.
#[test]
fn hovering_over_what_is_not_open_is_answered() {
    let folder = Folder::new("lsp-not-open");
    let outside = Folder::new("lsp-outside");
    let (file, other) = (folder.write("a.cu", DIVERGENT), outside.write("b.cu", DIVERGENT));
    let mut editor = Editor::in_folder(folder.path());
    assert!(editor.hover(&file, 2, 8).starts_with("**`i` differs from thread to thread**"));
    for unknown in [&other, &folder.path().join("missing.cu")] {
        let place = json!({ "textDocument": { "uri": uri(unknown) }, "position": at(2, 8) });
        let answer = editor.request("textDocument/hover", place);
        assert_eq!(answer.get("result"), Some(&Value::Null), "{answer}");
    }
    let place = json!({ "textDocument": { "uri": "untitled:Untitled-1" }, "position": at(2, 8) });
    assert_eq!(editor.request("textDocument/hover", place).get("result"), Some(&Value::Null));
    assert_eq!(editor.end(), 0);
}

#[test]
fn changes_count_utf16_units_and_the_newest_text_holds() {
    let folder = Folder::new("lsp-changes");
    let file = folder.write("a.cu", DIVERGENT);
    let mut editor = Editor::in_folder(folder.path());
    let text = DIVERGENT.replace("    if (i < n) {", "    /* 𝄞ä */ if (i < n) { /* € */");
    editor.open(&file, &text);
    let found = editor.published_for(&file, 1);
    let branch = &found[0]["relatedInformation"][2]["location"]["range"];
    assert_eq!(branch["start"], at(2, 18), "the clef is two units, the letter one");
    // Behind the clef and the letter: `i < n` becomes `n < 9`.
    let edit = |from, to, text| json!([{ "range": { "start": at(2, from), "end": at(2, to) }, "text": text }]);
    editor.change(&file, 2, edit(18, 23, "n < 9"));
    editor.change(&file, 3, edit(18, 19, "i"));
    editor.change(&file, 4, edit(18, 19, "n"));
    assert_eq!(rules(&editor.published_for(&file, 4)), [""; 0]);
    // The whole text at once.
    editor.change(&file, 5, json!([{ "text": DIVERGENT }]));
    assert_eq!(rules(&editor.published_for(&file, 5)), ["divergent-branch"]);
    // Closed, the file on the disk counts, and nothing of it is shown any more.
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&file) } }));
    assert_eq!(editor.published(&file, |params| params.get("version").is_none()), [] as [Value; 0]);
}

#[test]
fn unsaved_text_of_a_header_counts_in_the_kernels_that_include_it() {
    let folder = Folder::new("lsp-headers");
    let calm = "__device__ inline void store(float *s, float v) {\n    s[threadIdx.x] = v;\n}\n";
    let header = folder.write("tile.cuh", calm);
    let text = DIVERGENT.replace("__syncthreads();", "store(out, 1);");
    let kernel = folder.write("k.cu", format!("#include \"tile.cuh\"\n{text}"));
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&kernel, &folder.read("k.cu"));
    assert_eq!(rules(&editor.published_for(&kernel, 1)), [""; 0]);
    editor.open(&header, calm);
    editor.published_for(&header, 1);
    let loud = calm.replace("= v;", "= v;\n    __syncthreads();");
    editor.change(&header, 2, json!([{ "text": loud }]));
    assert_eq!(rules(&editor.published_for(&kernel, 1)), ["divergent-branch"]);
    // With only the header open, the kernel is shown to suffer all the same.
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&kernel) } }));
    assert_eq!(rules(&editor.published(&kernel, |params| params.get("version").is_none())), ["divergent-branch"]);
    editor.change(&header, 3, json!([{ "text": calm }]));
    assert_eq!(rules(&editor.published(&kernel, |params| params.get("version").is_none())), [""; 0]);
    // And a header that changes on the disk.
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&header) } }));
    editor.open(&kernel, &folder.read("k.cu"));
    editor.published_for(&kernel, 1);
    folder.write("tile.cuh", loud);
    let change = json!({ "uri": uri(&header), "type": 2 });
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    assert_eq!(rules(&editor.published_for(&kernel, 1)), ["divergent-branch"]);
}

#[test]
fn hovering_tells_how_far_threads_agree_and_why() {
    let folder = Folder::new("lsp-hover");
    let text = "\
__device__ int twice(int v) { return 2 * v; }
__global__ void k(int *out, int n) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    int w = i / 32;
    int m = twice(n);
    for (int q = 0; q < m; ++q) {
        tile[i] = w;
        __syncthreads();
    }
    out[i] = m + q_of(i) + twice(w);
}
";
    let file = folder.write("a.cu", text);
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&file, text);
    editor.published_for(&file, 1);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_string();
    let mut hovered = |line: u32, word: &str| {
        let column = text.lines().nth(line as usize).and_then(|text| text.find(word)).expect("the word") as u32;
        editor.hover(&file, line, column)
    };
    assert_eq!(first(&hovered(3, "i =")), "**`i` differs from thread to thread**");
    let warp = hovered(7, "w;");
    assert_eq!(first(&warp), "**`w` is the same within a warp, differs within the block**");
    assert!(warp.contains("`threadIdx.x` differs from thread to thread: [a.cu:4]("), "{warp}");
    assert!(warp.contains("`w` is set here: [a.cu:5]("), "{warp}");
    assert_eq!(first(&hovered(5, "twice")), "**`twice` is the same for all threads of the launch**");
    assert_eq!(first(&hovered(10, "twice")), "**`twice` is the same within a warp, differs within the block**");
    assert_eq!(first(&hovered(10, "q_of")), "**`q_of` differs from thread to thread**");
    assert_eq!(first(&hovered(7, "tile")), "**`tile` is one for each block**");
    assert_eq!(first(&hovered(10, "m +")), "**`m` is the same for all threads of the launch**");
    let barrier = hovered(8, "__syncthreads");
    assert!(barrier.starts_with("**`__syncthreads` is safe: every thread of the block comes to it, or none**"));
    assert!(barrier.contains("1. `for (int q = 0; q < m; ++q)` ([a.cu:7]("), "{barrier}");
    // What is no value says nothing.
    for (line, word) in [(1, "void"), (1, "int *"), (6, "for"), (2, "__shared__")] {
        assert_eq!(hovered(line, word), "", "{word}");
    }
}

/// A value that only some kernels see differ is told for each.
#[test]
fn hovering_in_a_helper_tells_for_each_kernel() {
    let folder = Folder::new("lsp-hover-kernels");
    let text = "\
__device__ void step(int v) {
    if (v > 3) __syncthreads();
}
__global__ void even(int n) { step(n); }
__global__ void odd() { step(threadIdx.x); }
";
    let file = folder.write("a.cu", text);
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&file, text);
    assert_eq!(rules(&editor.published_for(&file, 1)), ["divergent-branch"]);
    let told = editor.hover(&file, 1, 8);
    assert!(told.contains("**`v` is the same for all threads of the launch in `even`**"), "{told}");
    assert!(told.contains("**`v` differs from thread to thread in `odd`**"), "{told}");
}

#[test]
fn a_suppression_is_offered_and_a_useless_one_removed() {
    let folder = Folder::new("lsp-actions");
    let text = DIVERGENT.replace("out[i] = 1;", "out[i] = 1; // synclint: ignore[divergent-loop] once");
    let file = folder.write("a.cu", &text);
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&file, &text);
    let found = editor.published_for(&file, 1);
    assert_eq!(rules(&found), ["unused-suppression", "divergent-branch"]);
    assert_eq!(found[0]["tags"], json!([1]));
    let offered = editor.actions(&file, 4, Some("quickfix"));
    let titles: Vec<&str> = offered.iter().filter_map(|action| action["title"].as_str()).collect();
    assert_eq!(titles, ["Move the barrier behind the branch", "Hide this `divergent-branch`, with a reason"]);
    let (mend, hide) = (&offered[0], &offered[1]);
    assert_eq!(mend["isPreferred"], true);
    assert!(edited(&text, mend).contains("    }\n    __syncthreads();\n}"), "{}", edited(&text, mend));
    assert_eq!(hide["diagnostics"], json!([found[1]]));
    assert_eq!(hide["edit"]["documentChanges"][0]["textDocument"], json!({ "uri": uri(&file), "version": 1 }));
    let hidden = edited(&text, hide);
    assert!(hidden.contains("\n        // synclint: ignore[divergent-branch] "), "{hidden}");
    let remove = editor.actions(&file, 3, None);
    assert_eq!(remove[0]["title"], "Remove the comment that hides nothing");
    assert_eq!(edited(&text, &remove[0]), DIVERGENT);
    let all = editor.actions(&file, 0, Some("source.fixAll"));
    assert_eq!(edited(&text, &all[0]), edited(&text, mend).replace(" // synclint: ignore[divergent-loop] once", ""));
    assert_eq!(editor.actions(&file, 4, Some("refactor")), [] as [Value; 0]);
    // What is offered is right: afterwards there is nothing left to say.
    editor.change(&file, 2, json!([{ "text": edited(&hidden, &remove[0]) }]));
    assert_eq!(rules(&editor.published_for(&file, 2)), [""; 0]);
    editor.change(&file, 3, json!([{ "text": edited(&text, &all[0]) }]));
    assert_eq!(rules(&editor.published_for(&file, 3)), [""; 0]);
}

#[test]
fn settings_come_from_the_nearest_synclint_toml() {
    let folder = Folder::new("lsp-settings");
    let quiet = folder.write("quiet/a.cu", DIVERGENT);
    let loud = folder.write("loud/b.cu", DIVERGENT);
    folder.write("quiet/synclint.toml", "[rules]\ndivergent-branch = \"off\"\n");
    let broken = folder.write("loud/synclint.toml", "# 𝄞\n[rules]\ndivergent-brunch = \"off\"\n");
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&quiet, DIVERGENT);
    editor.open(&loud, DIVERGENT);
    assert_eq!(rules(&editor.published_for(&loud, 1)), ["divergent-branch"]);
    let fault = editor.published(&broken, |_| true);
    assert_eq!(fault[0]["range"]["start"]["line"], 2);
    assert!(fault[0]["message"].as_str().expect("a text").contains("did you mean `divergent-branch`?"));
    assert_eq!(rules(&editor.published_for(&quiet, 1)), [""; 0]);
    folder.write("loud/synclint.toml", "[rules]\ndivergent-branch = \"warning\"\n");
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(editor.published(&broken, |_| true), [] as [Value; 0]);
    assert_eq!(editor.published_for(&loud, 1)[0]["severity"], 2);
}

/// Neither a link nor a setting leads out of the open folder, and a file outside of it sees nothing but itself.
#[cfg(unix)]
#[test]
fn nothing_outside_the_open_folder_is_read() {
    let folder = Folder::new("lsp-confined");
    let helper = "__device__ void helper() { __syncthreads(); }\n";
    let outside = folder.write("outside/helper.cuh", helper);
    let build = folder.write("outside/build/compile_commands.json", "[]");
    let text = format!("#include \"helper.cuh\"\n{}", DIVERGENT.replace("__syncthreads()", "helper()"));
    let file = folder.write("open/a.cu", &text);
    std::os::unix::fs::symlink(&outside, folder.path().join("open/helper.cuh")).expect("a link");
    std::os::unix::fs::symlink(outside.parent().expect("a folder"), folder.path().join("open/all")).expect("a link");
    let settings = format!("build = {:?}\n", build.parent().expect("a folder"));
    let toml = folder.write("open/synclint.toml", &settings);
    let mut editor = Editor::in_folder(&folder.path().join("open"));
    editor.open(&file, &text);
    assert_eq!(rules(&editor.published_for(&file, 1)), [""; 0], "the helper is not in view");
    let fault = editor.published(&toml, |_| true);
    assert!(fault[0]["message"].as_str().expect("a text").contains("not in the open folder"), "{fault:?}");
    // On the command line, the link is followed: the twin that shows that the case is one.
    let ran = folder.run(&["check", "--isolated", "open"]);
    assert!(ran.stdout.contains("divergent-branch"), "{}", ran.stdout);
    // A file outside.
    let alone = folder.write("outside/alone.cu", &text);
    editor.open(&alone, &text);
    assert_eq!(rules(&editor.published_for(&alone, 1)), [""; 0]);
    editor.open(&outside, helper);
    assert_eq!(rules(&editor.published_for(&alone, 1)), ["divergent-branch"], "what the editor has open is seen");
}

#[test]
fn the_order_of_the_protocol_is_kept() {
    let mut editor = Editor::start();
    let early = editor.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002);
    editor.notify("textDocument/didOpen", json!({}));
    let told = editor.initialise(json!({ "capabilities": {}, "workspaceFolders": null }));
    assert_eq!(told["result"]["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(told["result"]["serverInfo"]["name"], "synclint");
    assert_eq!(editor.request("initialize", json!({}))["error"]["code"], -32600);
    assert_eq!(editor.request("textDocument/formatting", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!({ "position": 7 }))["error"]["code"], -32602);
    assert_eq!(editor.request("synclint/rulePage", json!({ "rule": "none" }))["result"], Value::Null);
    editor.notify("$/unheard-of", json!([1, 2]));
    editor.notify("textDocument/didChange", json!("nonsense"));
    assert_eq!(editor.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(editor.request("textDocument/hover", json!({}))["error"]["code"], -32600);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.code(), 0);

    let mut rude = Editor::start();
    rude.initialise(json!({ "capabilities": {} }));
    rude.notify("exit", Value::Null);
    assert_eq!(rude.code(), 1, "an exit without a shutdown");

    let gone = Editor::start();
    assert_eq!(gone.code(), 1, "an editor that goes away");
}

#[test]
fn malformed_messages_cost_themselves_only() {
    let folder = Folder::new("lsp-malformed");
    let file = folder.write("a.cu", DIVERGENT);
    let mut editor = Editor::in_folder(folder.path());
    for bad in ["{", "\u{1}", "[1,", "nul"] {
        editor.raw(format!("Content-Length: {}\r\n\r\n{bad}", bad.len()).as_bytes());
        assert_eq!(editor.answer(&Value::Null)["error"]["code"], -32700, "{bad}");
    }
    for bad in [json!([]), json!(7), json!({}), json!({ "id": 4 }), json!({ "method": 4, "id": "x" })] {
        editor.send(&bad);
        let id = bad.get("id").cloned().unwrap_or_default();
        assert_eq!(editor.answer(&id)["error"]["code"], -32600, "{bad}");
    }
    editor.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(editor.answer(&Value::Null)["error"]["code"], -32700);
    // Answers to requests that nobody made, and a document that is not a file.
    editor.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": null }));
    editor.open(Path::new("untitled:x"), DIVERGENT);
    editor.open(&file, DIVERGENT);
    assert_eq!(rules(&editor.published_for(&file, 1)), ["divergent-branch"]);
    assert_eq!(editor.end(), 0);
}

/// Whether the question or its withdrawal is first is up to the machine; there is one answer in either case.
#[test]
fn a_question_can_be_withdrawn() {
    let folder = Folder::new("lsp-cancel");
    let file = folder.write("a.cu", DIVERGENT);
    let mut editor = Editor::in_folder(folder.path());
    editor.open(&file, DIVERGENT);
    let place = json!({ "textDocument": { "uri": uri(&file) }, "position": at(2, 8) });
    let id = editor.ask("textDocument/hover", place.clone());
    editor.notify("$/cancelRequest", json!({ "id": id }));
    let answer = editor.answer(&json!(id));
    assert!(answer["error"]["code"] == -32800 || answer["result"]["contents"].is_object(), "{answer}");
    assert!(editor.request("textDocument/hover", place)["result"]["contents"].is_object());
    assert!(!editor.waiting.iter().any(|message| message["id"] == id), "one answer is enough");
}
