//! Lines as an editor's messages, behind an `initialize` without folders: every answer is framed and is JSON.
//!
//! A line that begins with `!` goes to the server as it is, without a frame. Analyses begin after a pause, so hardly any
//! runs here: what they are is `check`'s matter.
#![no_main]

use libfuzzer_sys::fuzz_target;

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}"#;

fuzz_target!(|bytes: &[u8]| {
    let mut input = framed(HELLO);
    for line in bytes.split(|byte| *byte == b'\n') {
        match line.strip_prefix(b"!") {
            Some(raw) => input.extend_from_slice(raw),
            None => input.extend(framed(line)),
        }
    }
    let mut output = Vec::new();
    synclint::lsp::serve(std::io::Cursor::new(input), &mut output).expect("memory can be written");
    let mut rest = output.as_slice();
    while !rest.is_empty() {
        let head = rest.windows(4).position(|window| window == b"\r\n\r\n").expect("a header has an end");
        let length = std::str::from_utf8(&rest[..head]).ok().and_then(|head| head.strip_prefix("Content-Length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
        let (message, next) = rest[head + 4..].split_at(length);
        assert!(message.first() == Some(&b'{') && message.last() == Some(&b'}'));
        rest = next;
    }
});

fn framed(body: &[u8]) -> Vec<u8> {
    let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    message.extend_from_slice(body);
    message
}
