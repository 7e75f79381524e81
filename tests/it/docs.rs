//! Documentation that would be wrong if the program changed: rule pages, README, the files that tools look for.

use crate::marks;
use crate::program::Folder;
use std::path::Path;
use synclint::rules;

const HEADINGS: [&str; 5] = ["What it finds", "Why it matters", "Example", "Instead", "When it is silent"];

fn stored(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The fenced blocks of a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_string())).collect()
}

#[test]
fn every_rule_page_has_its_headings() {
    for rule in rules::ALL {
        let headings: Vec<&str> = rule.page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{}", rule.name);
        assert!(rule.page.starts_with(&format!("# {}\n", rule.name)), "{}", rule.name);
        assert!(!blocks(rule.page, "cuda").is_empty(), "{} has no example", rule.name);
        let links = rule.page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links {
            assert!(rules::ALL.iter().any(|rule| link == format!("{}.md", rule.name)), "{}: {link}", rule.name);
        }
    }
}

#[test]
fn every_example_of_a_rule_page_is_as_it_says() {
    let folder = Folder::new("pages");
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        for (index, example) in blocks(rule.page, "cuda").iter().enumerate() {
            let name = format!("{}-{index}.cu", rule.name);
            let file = folder.write(&name, example);
            let ran = folder.run(&["check", "--isolated", "--format", "json", &name]);
            wrong.extend(marks::differences(&[file], &ran, folder.path()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `incomplete` is a note, which the marks do not ask for.
#[test]
fn the_example_of_incomplete_is_not_understood() {
    let folder = Folder::new("incomplete");
    let example = &blocks(rules::INCOMPLETE.page, "cuda")[0];
    folder.write("a.cu", example);
    let report = folder.run(&["check", "--isolated", "--format", "json", "a.cu"]).json();
    assert_eq!(report["summary"]["incomplete"], 1, "{report}");
}

#[test]
fn the_readme_lists_the_rules_and_options_that_exist() {
    let readme = stored("README.md");
    let mut table = String::from("| rule | level | finds |\n|---|---|---|\n");
    for rule in rules::ALL {
        let (name, level) = (rule.name, rule.severity.name());
        table.push_str(&format!("| [`{name}`](src/rules/pages/{name}.md) | {level} | {} |\n", rule.summary));
    }
    assert!(readme.contains(&table), "the README's table of rules is to be\n{table}");

    let folder = Folder::new("readme");
    let mut known = String::new();
    for verb in ["check", "why", "graph", "explain", "rules", "baseline", "config", "lsp", "completions", "man"] {
        known.push_str(&folder.run(&[verb, "--help"]).stdout);
    }
    for line in blocks(&readme, "sh").iter().flat_map(|block| block.lines()) {
        let Some(command) = line.trim().strip_prefix("synclint ") else { continue };
        let command = command.split(" #").next().unwrap_or_default();
        for option in command.split_whitespace().filter(|word| word.starts_with("--")) {
            let option = option.split('=').next().unwrap_or_default();
            assert!(known.contains(option), "{option} of the README does not exist");
        }
    }
}

#[test]
fn the_files_that_tools_look_for_agree_with_each_other() {
    let version = env!("CARGO_PKG_VERSION");
    let manifest: toml::Table = toml::from_str(&stored("pyproject.toml")).expect("it is TOML");
    assert_eq!(manifest["tool"]["maturin"]["bindings"].as_str(), Some("bin"));
    assert!(stored("CHANGELOG.md").contains(&format!("## {version}")), "the changelog knows {version}");
    let hooks = stored(".pre-commit-hooks.yaml");
    for part in ["id: synclint\n", "id: synclint-system\n", "require_serial: true"] {
        assert!(hooks.contains(part), "{part}");
    }
    let matcher: serde_json::Value =
        serde_json::from_str(&stored(".github/synclint-matcher.json")).expect("it is JSON");
    assert_eq!(matcher["problemMatcher"][0]["owner"], "synclint");
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(stored(licence).len() > 500);
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let folder = Folder::new("readme-sample");
    let readme = stored("README.md");
    folder.write("blur.cu", &blocks(&readme, "cuda")[0]);
    let ran = folder.run(&["blur.cu", "--color", "never"]);
    let shown = blocks(&readme, "text").swap_remove(0);
    if std::env::var_os("UPDATE").is_some() {
        crate::assert_generated("README.md", &readme.replacen(shown.trim_end(), ran.stdout.trim_end(), 1));
        return;
    }
    assert_eq!(shown.trim_end(), ran.stdout.trim_end());
}

/// The matcher of GitHub and the lines of `concise` are made for each other: each line that is an error or a warning is
/// read, with all its parts.
#[test]
fn the_problem_matcher_reads_concise_lines() {
    let matcher: serde_json::Value =
        serde_json::from_str(&stored(".github/synclint-matcher.json")).expect("it is JSON");
    let pattern = &matcher["problemMatcher"][0]["pattern"][0];
    let expression = regex::Regex::new(pattern["regexp"].as_str().expect("a pattern")).expect("a regular expression");
    let group = |key: &str| pattern[key].as_u64().expect("a group") as usize;
    let folder = Folder::new("matcher");
    folder.write(
        "a b/k:1.cu",
        "__global__ void k(int *v) {\n    if (threadIdx.x < 3) __syncthreads();\n    __syncthreads(); // synclint: ignore[divergent-loop] no\n}\n",
    );
    let printed = folder.run(&["a b", "--format", "concise"]).stdout;
    let seen: Vec<Vec<String>> = printed
        .lines()
        .map(|line| {
            let parts = expression.captures(line).unwrap_or_else(|| panic!("not read: {line}"));
            let keys = ["file", "line", "column", "severity", "code"];
            keys.iter().map(|key| parts[group(key)].to_string()).collect()
        })
        .collect();
    assert_eq!(
        seen,
        [
            ["a b/k:1.cu", "2", "26", "error", "divergent-branch"],
            ["a b/k:1.cu", "3", "42", "warning", "unused-suppression"]
        ],
        "{printed}"
    );
}

/// Markdown links of a page that are no addresses, without their anchors.
fn links(page: &str) -> Vec<String> {
    let links = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let paths = links.map(|(link, _)| link.split('#').next().unwrap_or_default().to_string());
    paths.filter(|link| !link.is_empty() && !link.contains("://")).collect()
}

/// The book needs no mdbook to be known whole: what it lists and links to exists, and what it takes from elsewhere, too.
#[test]
fn the_book_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = root.join("docs");
    // Copies, since a page of the book lies in its folder and is read on GitHub, too.
    for rule in rules::ALL {
        crate::assert_generated(&format!("docs/rules/{}.md", rule.name), rule.page);
    }
    for (page, original) in [("contributing", "CONTRIBUTING.md"), ("changelog", "CHANGELOG.md")] {
        crate::assert_generated(&format!("docs/{page}.md"), &stored(original));
    }
    let listed = links(&stored("docs/SUMMARY.md"));
    assert!(listed.len() > 15);
    for page in &listed {
        let text = stored(&format!("docs/{page}"));
        let folder = docs.join(page).parent().expect("in docs").to_path_buf();
        for link in links(&text) {
            assert!(folder.join(&link).is_file(), "{page} links to {link}");
        }
        // Whoever reads it on GitHub sees it as it is stored.
        assert!(!text.contains("{{#"), "{page} has to be readable without mdbook");
    }
    for rule in rules::ALL {
        let page = format!("rules/{}.md", rule.name);
        assert!(listed.contains(&page), "{page} is not in the book");
    }
    assert!(blocks(&stored("docs/settings.md"), "toml").contains(&synclint::settings::starter().to_string()));
    let book: toml::Table = toml::from_str(&stored("docs/book.toml")).expect("it is TOML");
    assert_eq!(book["book"]["src"].as_str(), Some("."));
    for page in ["README.md", "CONTRIBUTING.md"] {
        for link in links(&stored(page)) {
            assert!(root.join(&link).exists(), "{page} links to {link}");
        }
    }
}

#[test]
fn the_architecture_page_shows_the_road_of_the_library() {
    let library = stored("src/lib.rs");
    let header: Vec<&str> = library.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let header: Vec<&str> = header.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let road = blocks(&(header.join("\n") + "\n"), "text").swap_remove(0);
    assert!(stored("docs/architecture.md").contains(&road), "docs/architecture.md is to show\n{road}");
}

/// What the README tells of `editors/` and the extension's own description go by one version.
#[test]
fn the_extension_is_of_this_version() {
    let package: serde_json::Value = serde_json::from_str(&stored("editors/vscode/package.json")).expect("it is JSON");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    // A workspace must not say which program is started.
    assert_eq!(package["contributes"]["configuration"]["properties"]["synclint.path"]["scope"], "machine");
}

/// A file that the hook passes over is a fault that is committed.
#[test]
fn the_hooks_take_every_file_that_is_read() {
    let endings = synclint::source::walk::SOURCE_EXTENSIONS.map(|ending| ending.replace('+', "\\+")).join("|");
    let hooks = stored(".pre-commit-hooks.yaml");
    let files: Vec<&str> = hooks.lines().filter_map(|line| line.trim_start().strip_prefix("files: ")).collect();
    assert_eq!(files, [format!("'(?i)\\.({endings})$'").as_str(); 2]);
    assert!(!hooks.contains("types"), "a type would leave out what pre-commit does not know");
}
