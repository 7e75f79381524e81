//! A build folder's `compile_commands.json` -> the macros and include folders each file is compiled with.
//!
//! Only `-D`, `-U`, `-I` and their kin are read. Nothing is run, and files of the database are not added to the walk.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

/// What a command line says about macros and includes, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Name with parameters if it has any, and replacement: `-DN` gives `("N", "1")`.
    pub defines: Vec<(String, String)>,
    pub undefines: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
}

/// The flags of every file of the database.
#[derive(Clone, Debug, Default)]
pub struct CompileCommands {
    by_file: FxHashMap<PathBuf, Flags>,
    shared: Flags,
    /// Where it stands.
    path: PathBuf,
    entries: usize,
    /// The files of entries that say neither `command` nor `arguments`.
    without_command: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl CompileCommands {
    /// Reads `place`, the database itself or the folder that holds it.
    pub fn read(place: &Path) -> Result<CompileCommands, String> {
        let path = if place.is_dir() { place.join("compile_commands.json") } else { place.to_path_buf() };
        let hint = "; CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other builds with `bear -- make`";
        let bytes = super::reading::own_file(&path).map_err(|error| {
            let hint = if error.kind() == std::io::ErrorKind::NotFound { hint } else { "" };
            format!("{}: {}{hint}", path.display(), super::reading::reason(&error))
        })?;
        let parsed = parse(&bytes, path.parent().unwrap_or(Path::new("")));
        let commands = parsed.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(CompileCommands { path, ..commands })
    }

    /// What of it can be of no use, in lines for the user; `read` are the files of the run.
    pub fn faults(&self, read: &[&Path]) -> Vec<String> {
        let place = self.path.display();
        let entries = self.entries;
        let mut faults = Vec::new();
        if let Some(first) = self.without_command.first() {
            let count = self.without_command.len();
            faults.push(format!(
                "{place}: {count} of {entries} entries have no command; the first is for {}",
                first.display()
            ));
        }
        let mut gone: Vec<&PathBuf> = self.by_file.keys().filter(|file| !file.is_file()).collect();
        gone.sort();
        if let Some(first) = gone.first() {
            let (count, files) = (gone.len(), self.by_file.len());
            faults
                .push(format!("{place}: {count} of its {files} files are not there; the first is {}", first.display()));
        }
        let is_known = |path: &&Path| {
            let absolute = std::path::absolute(path).map(|path| lexically_normal(&path));
            absolute.is_ok_and(|path| self.by_file.contains_key(&path))
                || std::fs::canonicalize(path).is_ok_and(|path| self.by_file.contains_key(&path))
        };
        if faults.is_empty() && !read.is_empty() && !read.iter().any(is_known) {
            faults.push(format!("{place}: it has a command for none of the files read"));
        }
        faults
    }

    /// The flags `file` is compiled with; for a file the database does not name, a header most likely,
    /// what all its commands agree on.
    pub fn flags(&self, file: &Path) -> &Flags {
        let absolute = std::path::absolute(file).map(|path| lexically_normal(&path));
        let exact = absolute.ok().and_then(|path| self.by_file.get(&path));
        exact.or_else(|| self.by_file.get(&std::fs::canonicalize(file).ok()?)).unwrap_or(&self.shared)
    }
}

fn parse(bytes: &[u8], database_dir: &Path) -> Result<CompileCommands, String> {
    let entries: Vec<Entry> =
        serde_json::from_slice(bytes).map_err(|error| format!("not a compilation database: {error}"))?;
    let mut commands = CompileCommands { entries: entries.len(), ..CompileCommands::default() };
    for entry in &entries {
        let directory = database_dir.join(&entry.directory);
        let arguments = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => split_command(command),
            (None, None) => {
                commands.without_command.push(entry.file.clone());
                continue;
            }
        };
        let flags = flags_of(&with_options_of_files(arguments, &directory, database_dir), &directory);
        if commands.by_file.is_empty() {
            commands.shared = flags.clone();
        } else {
            commands.shared.defines.retain(|define| flags.defines.contains(define));
            commands.shared.undefines.retain(|name| flags.undefines.contains(name));
            commands.shared.include_dirs.retain(|dir| flags.include_dirs.contains(dir));
        }
        let file = std::path::absolute(directory.join(&entry.file)).unwrap_or_else(|_| directory.join(&entry.file));
        // A file compiled several times keeps its first command.
        commands.by_file.entry(lexically_normal(&file)).or_insert(flags);
    }
    Ok(commands)
}

/// Bytes of one file of options, and such files that one command leads to.
const MAX_OPTIONS: u64 = 1 << 20;
const MAX_FILES: usize = 16;

/// With what stands in files of options, as CMake writes them for nvcc: `--options-file includes_CUDA.rsp`, `@includes.rsp`.
/// One that is not there says nothing, nor does one outside the build folder: a database is to make nobody read other files.
fn with_options_of_files(arguments: Vec<String>, directory: &Path, build: &Path) -> Vec<String> {
    let build = if build.as_os_str().is_empty() { Path::new(".") } else { build };
    let build = std::fs::canonicalize(build);
    let is_inside = |path: &Path| {
        build.as_ref().is_ok_and(|build| std::fs::canonicalize(path).is_ok_and(|path| path.starts_with(build)))
    };
    let mut found = Vec::new();
    let mut rest: std::collections::VecDeque<String> = arguments.into();
    let mut files = 0;
    while let Some(argument) = rest.pop_front() {
        let named = match argument.as_str() {
            "--options-file" | "-optf" => rest.pop_front(),
            other => {
                let glued = ["--options-file=", "-optf=", "@"].iter().find_map(|head| other.strip_prefix(head));
                // The compiler itself comes first.
                glued.filter(|_| !found.is_empty()).map(str::to_string)
            }
        };
        let Some(named) = named else {
            found.push(argument);
            continue;
        };
        files += 1;
        let path = directory.join(named);
        let is_small = std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MAX_OPTIONS);
        if files <= MAX_FILES
            && is_inside(&path)
            && is_small
            && let Ok(bytes) = std::fs::read(&path)
        {
            for option in split_command(&String::from_utf8_lossy(&bytes)).into_iter().rev() {
                rest.push_front(option);
            }
        }
    }
    found
}

fn flags_of(arguments: &[String], directory: &Path) -> Flags {
    const DEFINE: [&str; 3] = ["--define-macro", "-D", "/D"];
    const UNDEFINE: [&str; 3] = ["--undefine-macro", "-U", "/U"];
    const INCLUDE: [&str; 7] = ["--include-path", "--system-include", "-isystem", "-idirafter", "-iquote", "-I", "/I"];
    let msvc = arguments.first().is_some_and(|compiler| {
        let name = compiler.rsplit(['/', '\\']).next().unwrap_or(compiler).to_ascii_lowercase();
        matches!(name.trim_end_matches(".exe"), "cl" | "clang-cl")
    });
    let mut flags = Flags::default();
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let mut value_of = |names: &[&str]| -> Option<String> {
            let name = names.iter().find(|name| (msvc || !name.starts_with('/')) && argument.starts_with(**name))?;
            let glued = &argument[name.len()..];
            match glued.strip_prefix('=') {
                Some(value) if name.starts_with("--") || *name == "-isystem" => Some(value.to_string()),
                _ if glued.is_empty() => rest.next().cloned(),
                _ if name.starts_with("--") => None,
                _ => Some(glued.to_string()),
            }
        };
        if let Some(define) = value_of(&DEFINE) {
            let (name, value) = define.split_once('=').unwrap_or((&define, "1"));
            flags.undefines.retain(|undefined| undefined != name);
            flags.defines.retain(|(defined, _)| defined != name);
            flags.defines.push((name.to_string(), value.to_string()));
        } else if let Some(name) = value_of(&UNDEFINE) {
            flags.defines.retain(|(defined, _)| *defined != name);
            flags.undefines.push(name);
        } else if let Some(dir) = value_of(&INCLUDE) {
            flags.include_dirs.push(lexically_normal(&directory.join(dir)));
        }
    }
    flags
}

/// A POSIX shell's word splitting: quotes and backslashes, no expansion.
fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some('"'), '\\') if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Without `.` and `..`, not looking at the disk.
fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_defines_keep_their_value() {
        let database = br#"[{"directory": "/b", "file": "../s/a.cu",
            "command": "nvcc -DNAME=\"\\\"x y\\\"\" -D'F(a)=(a + 1)' -D N -UM -Iinc -I /abs/../i -isystem=sys -c ../s/a.cu"}]"#;
        let commands = parse(database, Path::new("/elsewhere")).unwrap();
        let flags = commands.flags(Path::new("/s/a.cu"));
        let defines: Vec<_> = flags.defines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(defines, [("NAME", "\"x y\""), ("F(a)", "(a + 1)"), ("N", "1")]);
        assert_eq!(flags.undefines, ["M"]);
        let dirs: Vec<_> = flags.include_dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
        assert_eq!(dirs, ["/b/inc", "/i", "/b/sys"]);
    }

    #[test]
    fn a_header_gets_what_all_commands_share() {
        let database = br#"[{"directory": "/b", "file": "a.cu", "arguments": ["nvcc", "-DA=1", "-DB=1"]},
                            {"directory": "/b", "file": "b.cu", "arguments": ["nvcc", "-DA=1", "-DB=2"]}]"#;
        let commands = parse(database, Path::new("/b")).unwrap();
        assert_eq!(commands.flags(Path::new("/b/x.h")).defines, [("A".to_string(), "1".to_string())]);
        assert_eq!(commands.flags(Path::new("/b/b.cu")).defines.len(), 2);
    }

    #[test]
    fn options_stand_in_files_too() {
        let folder = std::env::temp_dir().join(format!("synclint-options-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("inc.rsp"), "-I/one \"-I/two words\" @more.rsp").unwrap();
        std::fs::write(folder.join("more.rsp"), "-DMORE=2 @inc.rsp").unwrap();
        for how in ["--options-file inc.rsp", "--options-file=inc.rsp", "-optf inc.rsp", "@inc.rsp"] {
            let command = format!("nvcc -DA {how} --options-file lost.rsp -DZ -c a.cu");
            let arguments = with_options_of_files(split_command(&command), &folder, &folder);
            let flags = flags_of(&arguments, &folder);
            let dirs: Vec<_> = flags.include_dirs.iter().map(|dir| dir.to_str().unwrap()).collect();
            assert_eq!(dirs[..2], ["/one", "/two words"], "{how}");
            let names: Vec<_> = flags.defines.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["A", "MORE", "Z"], "{how}");
            let elsewhere = folder.join("build");
            std::fs::create_dir_all(&elsewhere).unwrap();
            let arguments = with_options_of_files(split_command(&command), &folder, &elsewhere);
            assert!(flags_of(&arguments, &folder).include_dirs.is_empty(), "{how}: outside the build folder");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_broken_database_is_one_error() {
        let error = parse(b"[{", Path::new("/b")).unwrap_err();
        assert!(error.starts_with("not a compilation database"), "{error}");
    }
}
