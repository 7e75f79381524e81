//! Candidates for changes -> those that are proven: the changed text is analysed, and the finding has to be gone.
//!
//! A change touches one file. Analysed again is what can see that file or be seen from what can, and of that the kernels that
//! run the changed function. The change is offered if each finding that is left there stood there before.

use super::Loaded;
use crate::analysis::{self, Answer, Session};
use crate::finding::{Finding, Fix};
use crate::fixes::{self, Candidate};
use crate::graph::ItemId;
use crate::rules;
use crate::settings::Settings;
use crate::source::index::{File, Files, Options};
use crate::text::{FileId, Range};
use crate::words::Words;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Findings for which changes are sought in one run, and those of which one is then proven; the more there are, the less
/// anybody waits for them all.
const MAX_SOUGHT: usize = 2_000;
const MAX_PROVEN: usize = 200;
/// Bytes of source that one proof may read again, and all of them.
const MAX_BYTES: usize = 8 << 20;
const MAX_BYTES_OF_ALL: usize = 32 << 20;
/// A finding costs a proof as much as so many bytes.
const BYTES_PER_FINDING: usize = 4 << 10;

/// What a byte of a kernel that is analysed again costs, in bytes that are only read.
const TIMES_OWN: usize = 16;
/// And what each kernel in the files that are read costs.
const BYTES_PER_ROOT: usize = 512;

/// Adds to the findings the changes that are proven to mend them. Returns for how many none was sought, beyond the bounds.
pub fn offer(
    settings: &Settings,
    session: &Session,
    options: &Options,
    roots: &[ItemId],
    answers: &mut [Answer],
) -> usize {
    let mut met: FxHashSet<Place> = FxHashSet::default();
    let all = answers.iter().flat_map(|answer| &answer.findings).filter(|finding| fixes::may_mend(finding));
    let mut sought: Vec<&Finding> = all.filter(|finding| met.insert(place(finding))).collect();
    let mut unsought = sought.len().saturating_sub(MAX_SOUGHT);
    sought.truncate(MAX_SOUGHT);
    let found = sought.par_iter().filter_map(|finding| Some((*finding, fixes::candidates(session, finding)?)));
    let mut found: Vec<(&Finding, (ItemId, Vec<Candidate>))> = found.collect();
    unsought += found.len().saturating_sub(MAX_PROVEN);
    found.truncate(MAX_PROVEN);
    let begun: Vec<Option<(Proof, Vec<Candidate>)>> = found
        .into_par_iter()
        .map(|(finding, (item, candidates))| {
            Some((Proof::new(settings, session, options, item, finding, roots, answers)?, candidates))
        })
        .collect();
    let begun: Vec<(Proof, Vec<Candidate>)> = begun.into_iter().flatten().collect();
    let in_all = begun.len();
    let mut left = MAX_BYTES_OF_ALL;
    let affordable: Vec<(Proof, Vec<Candidate>)> = begun
        .into_iter()
        .take_while(|(proof, _)| {
            let is_enough = left > 0;
            left = left.saturating_sub(proof.cost);
            is_enough
        })
        .collect();
    unsought += in_all - affordable.len();
    let known = Unchanged::default();
    // A panic costs the change that was to be proven.
    let holds = |proof: &Proof, fix: &Fix| catch_unwind(AssertUnwindSafe(|| proof.holds(fix, &known))).unwrap_or(false);
    let prove = |(proof, candidates): (Proof, Vec<Candidate>)| {
        let Candidate { fix, only_for } = candidates.into_iter().find(|candidate| holds(&proof, &candidate.fix))?;
        let must_go = if only_for.is_empty() { Vec::new() } else { proof.elsewhere(&only_for) };
        Some(Proven { of: place(proof.finding), fix, must_go })
    };
    let proven: Vec<Proven> = affordable.into_par_iter().filter_map(prove).collect();
    for Proven { of: place_of, fix, .. } in paired(proven) {
        for finding in answers.iter_mut().flat_map(|answer| &mut answer.findings) {
            if place(finding) == place_of {
                finding.fixes.push(fix.clone());
            }
        }
    }
    unsought
}

/// A change that mends a finding and brings no new one.
struct Proven {
    of: Place,
    fix: Fix,
    /// Barriers that may have been the partner of the one moved, and are to be mended with it.
    must_go: Vec<Place>,
}

/// Those that leave no barrier without its partner: hardware pairs barriers by their number, wherever they stand, and
/// code that so far went well must not hang.
fn paired(mut proven: Vec<Proven>) -> Vec<Proven> {
    loop {
        let mended: FxHashSet<Place> = proven.iter().map(|each| each.of).collect();
        let before = proven.len();
        proven.retain(|each| each.must_go.iter().all(|other| mended.contains(other)));
        if proven.len() == before {
            return proven;
        }
    }
}

type Place = (&'static str, Range);

fn place(finding: &Finding) -> Place {
    (finding.rule.name, finding.at)
}

fn same(a: &Finding, b: &Finding) -> bool {
    place(a) == place(b)
}

/// What it takes to analyse a changed text.
struct Proof<'a> {
    settings: &'a Settings,
    session: &'a Session<'a>,
    options: &'a Options,
    finding: &'a Finding,
    /// The files read again, and the kernels analysed: the file, the name, which of that name there.
    files: Vec<FileId>,
    kernels: Vec<(String, String, usize)>,
    /// What stood there before: the rule, the file, the first byte.
    before: FxHashSet<Found>,
    /// Barriers of the same group that only a part reaches, in the kernels concerned.
    others: Vec<Place>,
    /// In bytes to be read.
    cost: usize,
}

type Found = (&'static str, String, u32);

/// Of the files read and the kernels analysed, whether without a change the same is found as before: findings of one
/// kernel share the answer.
#[derive(Default)]
struct Unchanged(Mutex<FxHashMap<Part, bool>>);

type Part = (Vec<FileId>, Vec<(String, String, usize)>);

impl Unchanged {
    fn is_as_before(&self, proof: &Proof) -> bool {
        let part = (proof.files.clone(), proof.kernels.clone());
        let known = self.0.lock().ok().and_then(|known| known.get(&part).copied());
        // Not under the lock: the work is shared out to threads that may want it, too.
        known.unwrap_or_else(|| {
            let is_same = proof.findings(None).is_some_and(|now| FxHashSet::from_iter(now) == proof.before);
            if let Ok(mut known) = self.0.lock() {
                known.insert(part, is_same);
            }
            is_same
        })
    }
}

impl<'a> Proof<'a> {
    fn new(
        settings: &'a Settings,
        session: &'a Session,
        options: &'a Options,
        item: ItemId,
        finding: &'a Finding,
        roots: &[ItemId],
        answers: &[Answer],
    ) -> Option<Proof<'a>> {
        let tree = session.tree;
        let concerned: Vec<usize> = (0..roots.len())
            .filter(|index| {
                roots[*index] == item
                    || answers[*index].followed.contains(&item)
                    || answers[*index].findings.iter().any(|other| same(other, finding))
            })
            .collect();
        let path = |file: FileId| tree.files.get(file).path.clone();
        let before = concerned
            .iter()
            .flat_map(|index| &answers[*index].findings)
            .map(|finding| (finding.rule.name, path(finding.at.file), finding.at.start))
            .collect();
        let counts = |other: &&Finding| {
            !other.barrier.is_empty()
                && other.rule.name != rules::RACY_BROADCAST.name
                && other.scope == finding.scope
                && other.at != finding.at
        };
        let findings = concerned.iter().flat_map(|index| &answers[*index].findings);
        let others = findings.filter(counts).map(place).collect();
        let kernels = concerned
            .iter()
            .map(|index| {
                let root = roots[*index];
                let name = tree.item(root).qualified_name();
                let file = tree.item(root).file;
                let nth = tree
                    .items_of(file)
                    .filter(|other| *other < root && tree.item(*other).is_definition())
                    .filter(|other| tree.item(*other).qualified_name() == name)
                    .count();
                (path(file), name, nth)
            })
            .collect();
        let files = connected(session, finding.at.file, concerned.iter().map(|index| roots[*index]));
        let bytes: usize = files.iter().map(|file| tree.files.get(*file).bytes.len()).sum();
        let cost =
            bytes + concerned.iter().map(|index| answers[*index].findings.len() * BYTES_PER_FINDING).sum::<usize>();
        let length = |root: ItemId| (tree.item(root).range.end - tree.item(root).range.start) as usize;
        let own: usize = concerned.iter().map(|index| length(roots[*index])).sum();
        let in_view = roots.iter().filter(|root| files.binary_search(&tree.item(**root).file).is_ok()).count();
        let proof = Proof { settings, session, options, finding, files, kernels, before, others, cost };
        (bytes + own * TIMES_OWN + in_view * BYTES_PER_ROOT <= MAX_BYTES).then_some(proof)
    }

    /// The barriers of the group that do not stand in these places.
    fn elsewhere(&self, places: &[Range]) -> Vec<Place> {
        let is_in = |at: Range| places.iter().any(|it| it.file == at.file && it.start <= at.start && at.end <= it.end);
        self.others.iter().copied().filter(|(_, at)| !is_in(*at)).collect()
    }

    /// The finding is gone, and nothing has come.
    fn holds(&self, fix: &Fix, unchanged: &Unchanged) -> bool {
        let edited = &self.session.tree.files.get(self.finding.at.file).path;
        let gone = (self.finding.rule.name, edited.clone(), self.finding.at.start);
        let is_known = |(rule, path, start): Found| {
            let was = if path == *edited { unmoved(start, fix) } else { Some(start) };
            was.is_some_and(|was| {
                let known = (rule, path, was);
                known != gone && self.before.contains(&known)
            })
        };
        let Some(after) = self.findings(Some(fix)) else { return false };
        // Without the change the same has to be found as in the whole program, or the part looked at tells too little.
        after.into_iter().all(is_known) && unchanged.is_as_before(self)
    }

    /// What is found in the kernels concerned, with a change or without.
    fn findings(&self, fix: Option<&Fix>) -> Option<Vec<Found>> {
        let tree = self.session.tree;
        let read = |id: &FileId| {
            let file = tree.files.get(*id);
            let fix = fix.filter(|_| *id == self.finding.at.file);
            File::new(file.path.clone(), fix.map_or_else(|| file.bytes.to_vec(), |fix| applied(&file.bytes, fix)))
        };
        let files = Files::new(self.files.iter().map(read).collect(), self.options);
        let words = Words::with(&self.settings.words);
        let loaded = Loaded::new(files, words, self.options.clone());
        loaded.with_session(self.settings, &loaded.program(), |session| {
            let tree = session.tree;
            let mut found = Vec::new();
            for (path, name, nth) in &self.kernels {
                let file = tree.files.ids().find(|id| tree.files.get(*id).path == *path)?;
                let is_it =
                    |item: &ItemId| tree.item(*item).is_definition() && tree.item(*item).qualified_name() == *name;
                let answer = analysis::root(session, tree.items_of(file).filter(is_it).nth(*nth)?);
                found.extend(answer.findings.iter().map(|finding| {
                    let path = tree.files.get(finding.at.file).path.clone();
                    (finding.rule.name, path, finding.at.start)
                }));
            }
            Some(found)
        })
    }
}

/// The files that see the edited one, or that launch or declare the kernels concerned, and all that these see; in order.
fn connected(session: &Session, edited: FileId, kernels: impl Iterator<Item = ItemId>) -> Vec<FileId> {
    let tree = session.tree;
    let mut seeing: Vec<FileId> = vec![edited];
    seeing.extend(tree.includers(edited).iter().copied());
    for kernel in kernels {
        let named = tree.named(&tree.item(kernel).name).iter().filter(|item| tree.sees(tree.item(**item).file, kernel));
        let files = named.map(|item| tree.item(*item).file).chain([tree.item(kernel).file]);
        let files: Vec<FileId> =
            files.chain(session.launches.of(session.tree, kernel).iter().map(|launch| launch.at.file)).collect();
        for file in files {
            seeing.push(file);
            seeing.extend(tree.includers(file).iter().copied());
        }
    }
    seeing.sort_unstable();
    seeing.dedup();
    let is_seen = |id: &FileId| seeing.iter().any(|from| from == id || tree.files.sees(*from, *id));
    tree.files.ids().filter(is_seen).collect()
}

fn applied(bytes: &[u8], fix: &Fix) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() + 64);
    let mut at = 0;
    for (range, new) in &fix.edits {
        let (start, end) = (range.start as usize, range.end as usize);
        text.extend_from_slice(bytes.get(at..start).unwrap_or_default());
        text.extend_from_slice(new.as_bytes());
        at = end.max(at);
    }
    text.extend_from_slice(bytes.get(at..).unwrap_or_default());
    text
}

/// Where a byte of the changed text stood before; `None` for what was put in.
fn unmoved(at: u32, fix: &Fix) -> Option<u32> {
    let mut moved = 0i64;
    for (range, new) in &fix.edits {
        let start = i64::from(range.start) + moved;
        if i64::from(at) < start {
            break;
        }
        if i64::from(at) < start + new.len() as i64 {
            return None;
        }
        moved += new.len() as i64 - i64::from(range.end - range.start);
    }
    u32::try_from(i64::from(at) - moved).ok()
}
