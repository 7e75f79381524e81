//! The shape of `synclint.toml`: these comments are the descriptions in its schema.

use super::Settings;
use crate::finding::Severity;
use crate::rules;
use crate::words;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Settings of synclint, which finds CUDA barriers that only part of their threads can reach.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[schemars(title = "synclint.toml")]
pub struct File {
    /// Paths that are not read, as in `.gitignore` without `!`: a name alone matches anywhere, one with a slash from this file's folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Paths that are read, since other code calls into them, but in which nothing is reported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub third_party: Vec<String>,
    /// Whether a thread that has ended counts as arrived at block and cluster barriers.
    pub exited_threads: ExitedThreads,
    /// The lowest level of a finding that makes a run fail.
    pub fail_on: FailOn,
    /// The level of each rule, where it is not to be its own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<RuleName, Level>,
    /// Levels for findings in the files that match a pattern; where several match, the longest holds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_file: BTreeMap<String, BTreeMap<RuleName, Level>>,
    /// What is known of a kernel that the source does not show, by the kernel's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<String, Kernel>,
    /// Macros defined from outside: `NAME` or `NAME=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<String>,
    /// Macros that are not defined, whatever the source says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undefine: Vec<String>,
    /// Folders in which included files are looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<PathBuf>,
    /// The build folder, for the macros and folders of its `compile_commands.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<PathBuf>,
    /// Barriers and collectives of your own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub barrier: Vec<words::BarrierRow>,
    /// Functions that make a cooperative group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<words::GroupRow>,
    /// Class templates whose methods are collectives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub library: Vec<words::LibraryRow>,
    /// Other names of built-in variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<words::SourceRow>,
    /// Functions whose result differs between threads, or agrees more widely than their arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub varies: Vec<words::VariesRow>,
    /// Atomic operations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub atomic: Vec<words::AtomicRow>,
    /// Functions that load from memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<words::LoadRow>,
    /// Functions that end a thread or the whole run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<words::StopRow>,
    /// Macros that stand for `__global__`, `__device__` and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attribute: Vec<words::AttributeRow>,
    /// Functions with a known meaning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub function: Vec<words::FunctionRow>,
    /// Constants of libraries that are out of view.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<words::ConstantRow>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ExitedThreads {
    /// Every thread of the group has to come: HIP, SYCL, OpenCL, and CUDA that is to be robust
    #[default]
    MustArrive,
    /// A thread that has ended counts as arrived, as the CUDA guide has it
    MayExit,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FailOn {
    /// Errors make a run fail
    Error,
    /// Errors and warnings do
    #[default]
    Warning,
    /// Notes do, too
    Note,
    /// Nothing does
    Never,
}

impl FailOn {
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            FailOn::Error => severity >= Severity::Error,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Note => true,
            FailOn::Never => false,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It is not reported
    Off,
    /// Told, and makes no run fail unless asked to
    Note,
    /// A fault if what is out of view is as feared
    Warning,
    /// A fault
    Error,
}

impl Level {
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Off => None,
            Level::Note => Some(Severity::Note),
            Level::Warning => Some(Severity::Warning),
            Level::Error => Some(Severity::Error),
        }
    }
}

/// How a kernel is launched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Kernel {
    /// The block's shape in threads: x, y, z.
    #[serde(default, deserialize_with = "block_shape", skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 3]>,
    /// The cluster's shape in blocks: x, y, z.
    #[serde(default, deserialize_with = "shape", skip_serializing_if = "Option::is_none")]
    pub cluster: Option<[u32; 3]>,
}

fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[u32; 3]>, D::Error> {
    const FORM: &str = "a shape is three numbers from 1 up: x, y and z, as in `[256, 1, 1]`";
    match <[u32; 3]>::deserialize(deserializer) {
        Ok(shape) if !shape.contains(&0) => Ok(Some(shape)),
        _ => Err(D::Error::custom(FORM)),
    }
}

fn block_shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[u32; 3]>, D::Error> {
    let block = shape(deserializer)?;
    let threads = block.map_or(1, |block| block.into_iter().map(u64::from).fold(1, u64::saturating_mul));
    match threads {
        0..=1024 => Ok(block),
        _ => Err(D::Error::custom(format!("a block has at most 1024 threads, and this one {threads}"))),
    }
}

/// The name of a rule that exists.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RuleName(&'static str);

impl Borrow<str> for RuleName {
    fn borrow(&self) -> &str {
        self.0
    }
}

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
        let name = String::deserialize(deserializer)?;
        match rules::find(&name) {
            Some(rule) => Ok(RuleName(rule.name)),
            None => {
                let fitting: Vec<String> =
                    rules::fitting(&name).into_iter().map(|rule| format!("`{}`", rule.name)).collect();
                if name.contains('*') && !fitting.is_empty() {
                    let fitting = fitting.join(", ");
                    return Err(D::Error::custom(format!(
                        "each rule has a line of its own; `{name}` would be {fitting}"
                    )));
                }
                let hint = match rules::near(&name) {
                    Some(rule) => format!("did you mean `{}`?", rule.name),
                    None => {
                        let names: Vec<&str> = rules::ALL.iter().map(|rule| rule.name).collect();
                        format!("there are {}", names.join(", "))
                    }
                };
                Err(D::Error::custom(format!("no rule is called `{name}`; {hint}")))
            }
        }
    }
}

impl JsonSchema for RuleName {
    fn schema_name() -> Cow<'static, str> {
        "RuleName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = rules::ALL.iter().map(|rule| rule.name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

impl File {
    pub fn from(settings: &Settings) -> File {
        let Settings { exclude, third_party, kernels, words, define, undefine, include, build, .. } = settings;
        let words = words.clone();
        let per_file = settings.per_file.iter();
        File {
            exclude: exclude.as_written().to_vec(),
            third_party: third_party.as_written().to_vec(),
            exited_threads: settings.exited_threads,
            fail_on: settings.fail_on,
            rules: settings.levels.clone(),
            per_file: per_file.map(|(patterns, levels)| (patterns.as_written().concat(), levels.clone())).collect(),
            kernel: kernels.clone(),
            define: define.clone(),
            undefine: undefine.clone(),
            include: include.clone(),
            build: build.clone(),
            barrier: words.barrier,
            group: words.group,
            library: words.library,
            source: words.source,
            varies: words.varies,
            atomic: words.atomic,
            load: words.load,
            stop: words.stop,
            attribute: words.attribute,
            function: words.function,
            constant: words.constant,
        }
    }

    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }
}

/// The JSON schema of `synclint.toml`, for editors.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// A file to begin with: every key, commented out.
pub fn starter() -> &'static str {
    include_str!("starter.toml")
}
