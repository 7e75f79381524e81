//! Any bytes -> tokens: in order, inside the text, none empty; the item finder's directives, too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use synclint::source::index::File;

fuzz_target!(|bytes: &[u8]| {
    let file = File::new("a.cu".to_string(), bytes.to_vec());
    let mut last = 0;
    for token in &file.tokens {
        assert!(last <= token.start && token.start <= token.end && token.end as usize <= bytes.len());
        last = token.end;
        let _ = token.spelling(bytes);
    }
    for (start, end) in &file.comments {
        assert!(start <= end && *end as usize <= bytes.len());
    }
    for directive in &file.directives {
        assert!(directive.start <= directive.end && directive.end as usize <= file.tokens.len());
    }
});
