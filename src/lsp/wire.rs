//! Bytes from and to an editor <-> JSON-RPC messages, framed as the protocol wants it.
//!
//! What is malformed costs the message it is in, not the connection; nothing is allocated on the word of a header alone.

use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// A message, or why it is none.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    Message(Value),
    /// For the log and the answer.
    Malformed(String),
}

/// Larger messages are skipped: no editor sends a file that synclint would read in more.
const MAX_BODY: u64 = 128 << 20;
const MAX_HEADER_LINE: u64 = 8 << 10;
const MAX_HEADER_LINES: usize = 64;

/// The next message; `None` at the end of the input.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length: Option<Result<u64, String>> = None;
    for lines in 0.. {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                // Blank lines between messages do no harm.
                None if lines == 0 => return read_after_blank(input),
                None => return Ok(Some(Incoming::Malformed("a header without Content-Length".to_string()))),
                Some(_) => break,
            }
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse().map_err(|_| format!("a Content-Length of `{}`", value.trim())));
        }
        if lines > MAX_HEADER_LINES {
            return Ok(Some(Incoming::Malformed("a header without end".to_string())));
        }
    }
    let length = match length {
        Some(Ok(length)) => length,
        Some(Err(what)) => return Ok(Some(Incoming::Malformed(what))),
        None => return Ok(None),
    };
    if length > MAX_BODY {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        return Ok(Some(Incoming::Malformed(format!("a message of {length} bytes"))));
    }
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(format!("no JSON: {error}")),
    }))
}

/// Skips blank lines without recursion.
fn read_after_blank(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    loop {
        let blanks = input.fill_buf()?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blanks == 0 {
            return if input.fill_buf()?.is_empty() { Ok(None) } else { read(input) };
        }
        input.consume(blanks);
    }
}

pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(&body)?;
    output.flush()
}

pub fn answer(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn refusal(id: &Value, code: Code, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[derive(Copy, Clone, Debug)]
pub enum Code {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    NotInitialized = -32002,
    Cancelled = -32800,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Incoming> {
        let mut input = bytes;
        std::iter::from_fn(|| read(&mut input).expect("memory can be read")).collect()
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        let message = answer(&json!(7), json!({ "text": "Grüße 𝄞" }));
        write(&mut bytes, &message).expect("memory can be written");
        assert_eq!(all(&bytes), [Incoming::Message(message)]);
    }

    #[test]
    fn a_malformed_message_costs_itself_only() {
        let good = framed("{\"id\":1}");
        let bads = [
            framed("{"),
            framed("\u{0}\u{1}"),
            "Content-Type: x\r\n\r\n".to_string(),
            "Content-Length: many\r\n\r\n".to_string(),
            "Content-Length: -5\r\n\r\n".to_string(),
            framed(&"[".repeat(100_000)),
        ];
        for bad in bads {
            let read = all(format!("{bad}{good}").as_bytes());
            assert!(matches!(read[0], Incoming::Malformed(_)), "{bad:.40}: {read:?}");
            assert_eq!(read[1..], [Incoming::Message(json!({ "id": 1 }))], "{bad:.40}");
        }
    }

    #[test]
    fn blank_lines_and_other_headers_do_no_harm() {
        let text = format!("\r\n\r\n\r\nX: y\r\ncontent-length:2\r\n\r\n{{}}\r\n{}", framed("[]"));
        assert_eq!(all(text.as_bytes()), [Incoming::Message(json!({})), Incoming::Message(json!([]))]);
    }

    #[test]
    fn the_input_may_end_anywhere() {
        let text = framed("{\"id\":1}");
        for end in 0..text.len() {
            assert_eq!(all(&text.as_bytes()[..end]), [], "{end}");
        }
    }

    /// Believing this header would take all memory there is.
    #[test]
    fn a_huge_length_is_not_believed() {
        assert!(matches!(all(b"Content-Length: 99999999999999\r\n\r\n{}")[..], [Incoming::Malformed(_)]));
        assert!(matches!(all(b"Content-Length: 99999999999999999999999\r\n\r\n")[..], [Incoming::Malformed(_)]));
    }
}
