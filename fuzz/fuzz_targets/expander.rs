//! Up to four files that may include each other -> the expansion of each, whose every place leads back into its file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use synclint::source::expand::{self, Unit};
use synclint::source::index::{File, Files, Options};
use synclint::source::items;
use synclint::source::select;

#[path = "files.rs"]
mod files;

fuzz_target!(|bytes: &[u8]| {
    let files: Vec<File> = files::split(bytes).map(|(name, bytes)| File::new(name.to_string(), bytes.to_vec())).collect();
    let files = Files::new(files, &Options::default());
    for id in files.ids() {
        let unit = Unit::new(&files, id);
        let selection = select::select(&unit);
        let expansion = expand::expand(&unit, &selection, 0..files.get(id).tokens.len() as u32);
        let text = &expansion.expanded.text;
        for at in (0..text.len() as u32).step_by(text.len() / 64 + 1) {
            let range = expansion.expanded.home(synclint::text::Span { start: at, end: at + 1 }).range;
            assert!(range.start <= range.end);
            if files.ids().any(|id| id == range.file) {
                assert!(range.end as usize <= files.get(range.file).bytes.len());
            }
        }
        items::extract(&unit, &selection);
    }
});
