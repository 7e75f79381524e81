//! `synclint.toml` and what the command line says on top of it -> the settings of a run.
//!
//! One file decides for the whole run: the analysis is of the whole program, and two vocabularies in it would
//! contradict each other. Unknown keys are errors, shown at their place.

mod file;
mod paths;

pub use crate::source::reading::{own_file, own_text, reason};
pub use file::{ExitedThreads, FailOn, File, Kernel, Level, RuleName, schema, starter};
pub use paths::{Patterns, Repository, absolute};

use crate::finding::{Rule, Severity};
use crate::words;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The names under which the file is looked for, in each folder from the start upwards.
pub const FILE_NAMES: [&str; 2] = ["synclint.toml", ".synclint.toml"];

/// Everything that changes what a run finds.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The file these were read from.
    pub file: Option<PathBuf>,
    pub exited_threads: ExitedThreads,
    pub fail_on: FailOn,
    /// Not read.
    pub exclude: Patterns,
    /// Read, but nothing in them is reported.
    pub third_party: Patterns,
    /// Known block shapes by kernel name.
    pub kernels: BTreeMap<String, Kernel>,
    /// The user's vocabulary.
    pub words: words::Table,
    /// `NAME` or `NAME=VALUE`
    pub define: Vec<String>,
    pub undefine: Vec<String>,
    pub include: Vec<PathBuf>,
    /// A folder that holds `compile_commands.json`, or the file itself.
    pub build: Option<PathBuf>,
    /// Threads to work with; `None`: as many as there are cores.
    pub jobs: Option<usize>,
    levels: BTreeMap<RuleName, Level>,
    per_file: Vec<(Patterns, BTreeMap<RuleName, Level>)>,
    /// Only these, if given.
    selected: Option<Vec<&'static Rule>>,
    ignored: Vec<&'static Rule>,
}

/// What is wrong with a file of settings.
#[derive(Clone, Debug)]
pub struct Error {
    pub file: PathBuf,
    pub message: String,
    /// The file's text and the bytes that are wrong.
    pub place: Option<(String, Range<usize>)>,
    pub help: Option<String>,
}

impl Settings {
    /// Reads one file.
    pub fn read(path: &Path) -> Result<Settings, Error> {
        let fault = |message: String| Error { file: path.to_path_buf(), message, place: None, help: None };
        let bytes = own_file(path).map_err(|error| fault(format!("cannot be read: {}", reason(&error))))?;
        let text = String::from_utf8(bytes).map_err(|_| fault("is not UTF-8".to_string()))?;
        Settings::parse(&text, path)
    }

    /// `path` is where the text comes from: patterns and folders in it are relative to its folder.
    pub fn parse(text: &str, path: &Path) -> Result<Settings, Error> {
        let folder = path.parent().map_or(PathBuf::new(), Path::to_path_buf);
        let file: File = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| (text.to_string(), span));
            let at_fault = error.span().and_then(|span| text.get(span)).unwrap_or_default();
            Error {
                file: path.to_path_buf(),
                help: near_key(error.message())
                    .or_else(|| other_form(error.message(), at_fault))
                    .or_else(|| unnamed_kernel(text, error.span()?.start)),
                message: match at_fault.starts_with('[') {
                    true => error.message().replace("a sequence", "a list of tables").replace("a map", "a table"),
                    false => in_words_of_toml(error.message()),
                },
                place,
            }
        })?;
        let no_macro = |define: &&String| !is_macro(define);
        let no_name = |name: &&String| !is_name(name);
        let mut words = file.attribute.iter().flat_map(|row| &row.words);
        let macros = [
            (file.define.iter().find(no_macro), MACRO_FORM),
            (file.undefine.iter().find(no_name), UNDEFINED_FORM),
            (words.find(no_name), "each of the `words` is the NAME of a macro"),
        ];
        let place_of = |written: &str| {
            let quoted = toml::Value::String(written.to_string()).to_string();
            let spelled = [quoted, format!("'{written}'"), format!("\"{written}\""), written.to_string()];
            let found = spelled.into_iter().find_map(|spelled| Some((text.find(&spelled)?, spelled.len())));
            found.map(|(at, length)| (text.to_string(), at..at + length))
        };
        let patterns = |patterns: &[String]| {
            Patterns::new(&folder, patterns).map_err(|(pattern, message)| Error {
                file: path.to_path_buf(),
                place: place_of(&pattern),
                message,
                help: None,
            })
        };
        if let Some((Some(written), form)) = macros.into_iter().find(|(fault, _)| fault.is_some()) {
            return Err(Error {
                file: path.to_path_buf(),
                place: place_of(written),
                message: format!("`{written}` names no macro"),
                help: Some(form.to_string()),
            });
        }
        if let Some(nth) = file.barrier.iter().position(|row| row.names.is_empty() && row.methods.is_empty()) {
            let head = "[[barrier]]";
            return Err(Error {
                file: path.to_path_buf(),
                place: text.match_indices(head).nth(nth).map(|(at, _)| (text.to_string(), at..at + head.len())),
                message: "this barrier has no name: `names` or `methods` say what is called".to_string(),
                help: None,
            });
        }
        let is_receiver = |row: &words::BarrierRow| row.group == words::GroupKind::Receiver && row.methods.is_empty();
        if let Some(nth) = file.barrier.iter().position(is_receiver) {
            let head = "[[barrier]]";
            return Err(Error {
                file: path.to_path_buf(),
                place: text.match_indices(head).nth(nth).map(|(at, _)| (text.to_string(), at..at + head.len())),
                message: "no function of `names` is called on a group: `receiver` is for `methods`".to_string(),
                help: Some("`group = \"argument\"` is for functions that are given the group first".to_string()),
            });
        }
        let mut per_file: Vec<(Patterns, BTreeMap<RuleName, Level>)> = Vec::new();
        for (pattern, levels) in file.per_file {
            per_file.push((patterns(&[pattern])?, levels));
        }
        per_file.sort_by_key(|(patterns, _)| patterns.as_written().concat().len());
        Ok(Settings {
            file: Some(path.to_path_buf()),
            exited_threads: file.exited_threads,
            fail_on: file.fail_on,
            exclude: patterns(&file.exclude)?,
            third_party: patterns(&file.third_party)?,
            kernels: file.kernel,
            define: file.define,
            undefine: file.undefine,
            include: file.include.iter().map(|path| folder.join(path)).collect(),
            build: file.build.map(|path| folder.join(path)),
            jobs: None,
            levels: file.rules,
            per_file,
            selected: None,
            ignored: Vec::new(),
            words: words::Table {
                barrier: file.barrier,
                group: file.group,
                library: file.library,
                source: file.source,
                varies: file.varies,
                atomic: file.atomic,
                load: file.load,
                stop: file.stop,
                attribute: file.attribute,
                function: file.function,
                constant: file.constant,
            },
        })
    }

    /// The command line's `--select` and `--ignore`.
    pub fn choose(&mut self, selected: Option<Vec<&'static Rule>>, ignored: Vec<&'static Rule>) {
        self.selected = selected;
        self.ignored = ignored;
    }

    /// The level of a finding of this rule in this file, `None` where it is off. A finding that the analysis
    /// put below its rule's own level for want of evidence stays as far below the level set. A rule that the command line
    /// selects by its name runs though the settings have it off, but for the paths where they do.
    pub fn severity(&self, rule: &Rule, found: Severity, path: &Path) -> Option<Severity> {
        let chosen = |rules: &[&Rule]| rules.iter().any(|it| it.name == rule.name);
        if self.selected.as_ref().is_some_and(|rules| !chosen(rules)) || chosen(&self.ignored) {
            return None;
        }
        let level = |levels: &BTreeMap<RuleName, Level>| levels.get(rule.name).copied();
        let of_file = self.per_file.iter().rev().filter(|(patterns, _)| patterns.matches(path));
        let of_all = || level(&self.levels).filter(|level| self.selected.is_none() || *level != Level::Off);
        let level = of_file.filter_map(|(_, levels)| level(levels)).next().or_else(of_all);
        let Some(level) = level else { return Some(found) };
        let set = level.severity()?;
        Some(match rule.severity as usize - (found as usize).min(rule.severity as usize) {
            0 => set,
            1 if set == Severity::Error => Severity::Warning,
            _ => Severity::Note,
        })
    }

    /// The paths that have levels of their own.
    pub fn per_file_patterns(&self) -> impl Iterator<Item = &Patterns> {
        self.per_file.iter().map(|(patterns, _)| patterns)
    }

    /// What is said of a kernel: under its qualified name, or under its name alone, wherever it stands.
    pub fn kernel(&self, qualified: &str) -> Option<&Kernel> {
        let alone = qualified.rsplit("::").next().unwrap_or(qualified);
        self.kernels.get(qualified).or_else(|| self.kernels.get(alone))
    }

    /// Whether the command line lets a rule of this name run.
    pub fn runs(&self, rule: &str) -> bool {
        let named = |rules: &[&Rule]| rules.iter().any(|it| it.name == rule);
        self.selected.as_ref().is_none_or(|rules| named(rules)) && !named(&self.ignored)
    }

    /// Whether a comment that hides no finding of this rule is one too many: every rule ran everywhere, and this one whole.
    pub fn judges_suppressions_of(&self, rule: &Rule) -> bool {
        let off = |levels: &BTreeMap<RuleName, Level>| levels.values().any(|level| *level == Level::Off);
        let in_part = self.exited_threads == ExitedThreads::MayExit && rule.name == crate::rules::DIVERGENT_EXIT.name;
        self.selected.is_none()
            && self.ignored.is_empty()
            && !off(&self.levels)
            && !self.per_file.iter().any(|(_, levels)| off(levels))
            && !in_part
    }

    /// The settings as a file would say them.
    pub fn to_toml(&self) -> String {
        File::from(self).to_toml()
    }
}

/// The nearest file of settings in `start` or a folder above it, within the repository and below the home folder.
pub fn find(start: &Path) -> Option<PathBuf> {
    find_above(start, &FILE_NAMES)
}

/// The nearest file of one of these names, likewise.
pub fn find_above(start: &Path, names: &[&str]) -> Option<PathBuf> {
    let start = paths::absolute(start);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for folder in start.ancestors() {
        if let Some(path) = names.iter().map(|name| folder.join(name)).find(|path| is_there(path)) {
            return Some(path);
        }
        if folder.join(".git").exists() || home.as_deref() == Some(folder) {
            break;
        }
    }
    None
}

/// Whatever it is: a link to nowhere, or a folder, is told when it is to be read.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The folder in which the rest of a file's program is looked for, where no settings tell: the working folder if the file
/// lies in it, but no more of it than the file's repository; else the file's own folder. The top of the file system and the
/// home folder hold all there is, not a program.
pub fn program_of(path: &Path) -> Option<PathBuf> {
    let (path, here) = (absolute(path), absolute(Path::new("")));
    let own = path.parent()?;
    let is_program = here.parent().is_some() && std::env::var_os("HOME").map(PathBuf::from).as_ref() != Some(&here);
    let inside = || own.ancestors().take_while(|folder| folder.starts_with(&here));
    let repository = inside().find(|folder| folder.join(".git").exists());
    let working = inside().last().filter(|_| is_program);
    Some(repository.or(working).unwrap_or(own).to_path_buf())
}

pub const MACRO_FORM: &str = "a macro is NAME, NAME=VALUE or NAME(PARAMETER)=VALUE; a name begins with a letter or `_`";

pub const UNDEFINED_FORM: &str = "what is undefined is the NAME of a macro";

/// What `-D` and `define` take.
pub fn is_macro(text: &str) -> bool {
    let head = text.split('=').next().unwrap_or_default();
    match head.split_once('(') {
        None => is_name(head),
        Some((name, parameters)) => is_name(name) && parameters.trim_end().ends_with(')'),
    }
}

/// Whether this can be the name of something.
pub fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80;
    text.bytes().all(is_letter) && !text.is_empty() && !text.starts_with(|first: char| first.is_ascii_digit())
}

/// Where a list of tables was meant, or a table: `[barrier]`, `[[kernel]]`.
fn other_form(message: &str, at_fault: &str) -> Option<String> {
    let name = at_fault.trim_matches(['[', ']']).trim();
    let written = |form: &str| Some(form.replace("NAME", name));
    match () {
        () if !at_fault.starts_with('[') => None,
        () if message.starts_with("invalid type: map") => written("there may be several of them: write `[[NAME]]`"),
        () if message.starts_with("invalid type: sequence") && at_fault.starts_with("[[") => match name {
            "kernel" => Some("write `[kernel.NAME]` with the kernel's name".to_string()),
            _ => written("there is one of them: write `[NAME]`"),
        },
        () if message.starts_with("invalid type: sequence") => {
            Some("write a table with a line for each: `[rules]`, and below it `warp-mask = \"off\"`".to_string())
        }
        () => None,
    }
}

/// What is said of kernels, and of none by name.
fn unnamed_kernel(text: &str, at: usize) -> Option<String> {
    let head = text.get(..at)?.lines().rev().find(|line| line.trim_start().starts_with('['))?;
    (head.trim() == "[kernel]").then(|| "name the kernel: `[kernel.NAME]`".to_string())
}

/// "expected a sequence" and its kin, which are the words of another language.
fn in_words_of_toml(message: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("a sequence", "a list, as in `[\"a\", \"b\"]`"),
        ("a map", "a table"),
        ("a string", "a text, as in `\"a\"`"),
        ("usize", "a whole number that is not negative"),
        ("u32", "a whole number that is not negative"),
    ];
    let expected = WORDS.iter().find_map(|(other, word)| {
        let head = message.strip_suffix(other)?;
        head.ends_with("expected ").then(|| format!("{head}{word}"))
    });
    expected.unwrap_or_else(|| message.to_string())
}

/// What other programs call a level.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("warn", "warning"),
    ("warnings", "warning"),
    ("err", "error"),
    ("errors", "error"),
    ("fatal", "error"),
    ("deny", "error"),
    ("info", "note"),
    ("hint", "note"),
    ("ignore", "off"),
    ("allow", "off"),
    ("none", "off"),
    ("disable", "off"),
];

/// For "unknown field `x`, expected one of `a`, `b`": the one that was meant.
fn near_key(message: &str) -> Option<String> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let unknown = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let same = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(unknown)).map(|(_, name)| *name);
    let index = same.and_then(|name| known.iter().position(|known| *known == name));
    let index = index.or_else(|| crate::rules::nearest(unknown, known.iter().copied()))?;
    Some(format!("did you mean `{}`?", known[index]))
}
