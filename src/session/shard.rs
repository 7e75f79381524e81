//! A run in parts: each machine analyses its share of the kernels, and one joins the answers to the report of the whole.
//!
//! A part holds what the analysis of each root gave, nothing more; hiding, mending, counting and printing is done where
//! the parts are joined, with all answers in the order of the whole run. So a finding in a header that kernels of several
//! parts run into is one finding, and a comment that hides something in one part is not unused in another.
//! All parts have to be of the same files, settings and version; that is checked.

use super::Error;
use crate::analysis::Answer;
use crate::finding::fnv1a;
use crate::graph::ItemId;
use crate::settings::Settings;
use crate::source::index::Options;
use crate::source::tree::Tree;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

/// Which of how many parts, from 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shard {
    index: u32,
    count: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let (index, count) = text.split_once('/').ok_or("write I/N, as in 2/8")?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
        let (index, count) = (number(index)?, number(count)?);
        match (1..=count).contains(&index) {
            true => Ok(Shard { index, count }),
            false => Err(format!("there is no part {index} of {count}; they are counted from 1")),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Whether a root is this part's: all those of one file are, so a file stays where it is when others come and go.
    pub fn holds(self, tree: &Tree, root: ItemId) -> bool {
        let path = &tree.files.get(tree.item(root).file).path;
        fnv1a(&[path]) % u64::from(self.count) == u64::from(self.index - 1)
    }
}

/// The answers of one shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    synclint: String,
    shard: Shard,
    /// What has to be the same for all parts: files and settings.
    of: String,
    /// By the place of their roots among all.
    answers: Vec<(usize, Answer)>,
}

impl Part {
    pub(super) fn new(shard: Shard, of: String, answers: Vec<(usize, Answer)>) -> Part {
        Part { synclint: crate::VERSION.to_string(), shard, of, answers }
    }

    /// As written by `write`; `name` is for the message.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Part, Error> {
        let fault = |why: String| Error(format!("{name}: {why}"));
        #[derive(Deserialize)]
        struct Head {
            synclint: String,
        }
        let head: Head = serde_json::from_slice(bytes).map_err(|error| fault(format!("no part of a run: {error}")))?;
        if head.synclint != crate::VERSION {
            let (theirs, ours) = (head.synclint, crate::VERSION);
            return Err(fault(format!("made by synclint {theirs}, and this is {ours}")));
        }
        serde_json::from_slice(bytes).map_err(|error| fault(format!("no part of a run: {error}")))
    }

    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| Error(format!("the part cannot be written: {error}")))
    }
}

/// Stands for all that answers depend on.
pub(super) fn identity(settings: &Settings, tree: &Tree, options: &Options) -> String {
    let mut hasher = FxHasher::default();
    let told = (settings.exited_threads, &settings.kernels, &settings.words, options);
    hasher.write(format!("{told:?}").as_bytes());
    for id in tree.files.ids() {
        let file = tree.files.get(id);
        hasher.write(file.path.as_bytes());
        hasher.write_u64(file.size);
        hasher.write(&file.bytes);
    }
    format!("{:016x}", hasher.finish())
}

/// The answers of all roots, in order, from all parts.
pub(super) fn join(parts: Vec<Part>, of: &str, roots: usize) -> Result<Vec<Answer>, Error> {
    let Some(Part { shard: Shard { count, .. }, .. }) = parts.first() else {
        return Err(Error("there are no parts to join".to_string()));
    };
    let count = *count;
    let mut answers: Vec<Option<Answer>> = Vec::new();
    answers.resize_with(roots, || None);
    let mut seen = vec![false; parts.len().max(count.min(1 << 20) as usize) + 1];
    for part in parts {
        let shard = part.shard;
        if shard.count != count {
            return Err(Error(format!("part {shard} is of a run in {} parts, another one of {count}", shard.count)));
        }
        if part.of != of {
            return Err(Error(format!("part {shard} is of other files or settings than are read now")));
        }
        let index = (shard.index as usize).min(seen.len() - 1);
        if std::mem::replace(&mut seen[index], true) {
            return Err(Error(format!("part {shard} is there twice")));
        }
        for (root, answer) in part.answers {
            match answers.get_mut(root) {
                Some(slot) => *slot = Some(answer),
                None => return Err(Error(format!("part {shard} is damaged"))),
            }
        }
    }
    if let Some(missing) = (1..=count as usize).find(|index| !seen.get(*index).is_some_and(|seen| *seen)) {
        return Err(Error(format!("part {missing}/{count} is missing")));
    }
    answers.into_iter().collect::<Option<Vec<Answer>>>().ok_or_else(|| Error("a part is damaged".to_string()))
}
