//! The whole program from outside, and what holds its parts together. One binary, so that it links once.

mod baseline;
mod cli;
mod determinism;
mod docs;
mod fix;
mod fixtures;
mod formats;
mod graph;
mod hostile;
mod known;
mod layers;
mod lsp;
mod marks;
mod missteps;
mod newcomer;
mod program;
mod proofs;
mod reading;
mod reference;
mod refusals;
mod sample;
mod settings;
mod shard;
mod stumbles;
mod suppress;
mod surroundings;
#[cfg(target_os = "linux")]
mod tour;
mod trial;
mod witness;

/// Compares a generated text with the file that holds it; `UPDATE=1 cargo test` writes the file anew.
fn assert_generated(path: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder for it");
        std::fs::write(&path, text).expect("the file can be written");
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == text,
        "{} is not what is generated now; look at the difference, then UPDATE=1 cargo test\n--- generated:\n{text}",
        path.display()
    );
}
