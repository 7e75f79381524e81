//! `docs/tour.md`: what a newcomer does first, command by command. The test does it again and holds the page to what is printed.

use crate::program::{Folder, synclint};
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/tour.md";

/// Writes the files that the page shows, runs its commands, and puts in what they print.
#[test]
fn the_tour_goes_as_it_is_told() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).expect("the page is there");
    let folder = Folder::new("tour");
    std::fs::create_dir(folder.path().join(".git")).expect("a repository of its own");
    let mut text = String::new();
    let mut lines = page.lines();
    let mut last = "";
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        let is_block = line.len() > 3 && line.starts_with("```");
        if is_block {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match named(last) {
                Some(name) => {
                    folder.write(name, block.join("\n") + "\n");
                    block.iter().for_each(|line| text.push_str(&format!("{line}\n")));
                }
                None => {
                    for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                        text.push_str(&format!("$ {command}\n{}", printed(&folder, command)));
                    }
                }
            }
            text.push_str("```\n");
        }
        if !line.is_empty() {
            last = line;
        }
    }
    crate::assert_generated(PAGE, &text);
    assert!(text.matches("\n$ ").count() > 20, "a tour is more than a step");
}

/// The file that the line before a block announces: "In `name`:".
fn named(line: &str) -> Option<&str> {
    let (_, name) = line.strip_suffix("`:")?.rsplit_once('`')?;
    Some(name)
}

/// Both outputs as a terminal shows them, and the exit code where it is not 0.
fn printed(folder: &Folder, command: &str) -> String {
    let program = synclint();
    let bin = Path::new(program.get_program()).parent().expect("it lies in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin.to_path_buf()].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = Command::new("bash");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-o", "pipefail", "-c", &format!("{{ {command}\n}} 2>&1")]).current_dir(folder.path());
    let ran = shell.env("PATH", path.expect("it was one before")).output().expect("the shell runs");
    let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
    if !ran.status.success() {
        text.push_str(&format!("[exit code {}]\n", ran.status.code().unwrap_or(-1)));
    }
    text
}
