//! The road of `src/lib.rs` holds: a module reads only what stands above it there, and each dependency has its door.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules in the order of the road. Each may read those before it.
const ROAD: [&str; 23] = [
    "text",
    "words",
    "finding",
    "chart",
    "program",
    "graph",
    "source",
    "lower",
    "inline",
    "flow",
    "uniformity",
    "rules",
    "checks",
    "analysis",
    "fixes",
    "suppress",
    "baseline",
    "settings",
    "session",
    "report",
    "lsp",
    "cli",
    "main",
];

/// Where each of these dependencies may be named.
const DOORS: [(&str, &[&str]); 8] = [
    ("tree_sitter", &["lower"]),
    ("petgraph", &["flow"]),
    ("miette", &["report/human"]),
    ("ignore", &["source/walk"]),
    ("indicatif", &["cli/progress"]),
    ("clap_complete", &["cli"]),
    ("globset", &["settings/paths"]),
    ("schemars", &["settings", "words"]),
];

fn modules() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the source can be read").flatten() {
            let path: PathBuf = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).expect("below it").with_extension("").display().to_string();
                found.insert(name, std::fs::read_to_string(&path).expect("it is text"));
            }
        }
    }
    assert!(found.len() > 30);
    found
}

/// The part of a file that ships, without comments.
fn code(text: &str) -> String {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    shipped.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_road_is_the_one_in_the_library() {
    let library =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("it is text");
    let declared: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let road: Vec<&str> = ROAD.iter().copied().filter(|name| *name != "main").collect();
    assert_eq!(declared, road, "modules are declared in the order in which they are read");
}

#[test]
fn modules_read_only_what_stands_above_them() {
    let place = |module: &str| ROAD.iter().position(|name| *name == module);
    let mut wrong = Vec::new();
    for (name, text) in modules() {
        let top = name.split('/').next().unwrap_or_default();
        let Some(own) = place(top) else { continue };
        for used in code(&text).split("crate::").skip(1) {
            let names: Vec<&str> = match used.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
                None => vec![used],
            };
            for used in names {
                let used = used.trim().split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
                if place(used).is_some_and(|other| other > own) {
                    wrong.push(format!("{name} reads {used}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_dependency_has_its_door() {
    let mut wrong = Vec::new();
    for (name, text) in modules() {
        let code = code(&text);
        for (dependency, doors) in DOORS {
            let used = code.match_indices(dependency).any(|(at, _)| {
                let before = code[..at].chars().next_back();
                let path = code[at + dependency.len()..].starts_with("::");
                !before.is_some_and(|it| it.is_alphanumeric() || "_.\"`:-".contains(it)) && path
            });
            let allowed = doors.iter().any(|door| name == *door || name.starts_with(&format!("{door}/")));
            if used && !allowed {
                wrong.push(format!("{name} uses {dependency}; its door is {}", doors.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_say_what_a_module_is_about() {
    for name in modules().keys() {
        for part in name.split('/') {
            let vague = ["utils", "util", "helpers", "common", "manager", "context", "misc"];
            assert!(!vague.contains(&part), "{name}");
        }
    }
}

#[test]
fn every_module_says_what_it_does() {
    for (name, text) in modules() {
        assert!(text.starts_with("//!"), "{name} has no header");
    }
}
