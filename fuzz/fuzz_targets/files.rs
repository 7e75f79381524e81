//! One input into up to four files that know each other by name.

const NAMES: [&str; 4] = ["a.cu", "b.cuh", "c.h", "d.cpp"];
/// What stands between two files.
const MARK: &[u8] = b"@@@@";

pub fn split(bytes: &[u8]) -> impl Iterator<Item = (&'static str, &[u8])> {
    let mut rest = Some(bytes);
    NAMES.into_iter().map_while(move |name| {
        let text = rest.take()?;
        match text.windows(MARK.len()).position(|window| window == MARK) {
            Some(at) if name != NAMES[NAMES.len() - 1] => {
                rest = Some(&text[at + MARK.len()..]);
                Some((name, &text[..at]))
            }
            _ => Some((name, text)),
        }
    })
}
