//! Which threads come and which do not, as rows of 32: one per warp, equal neighbours as one.

use crate::finding::{Unit, Witness};

/// Consecutive warps in which the same lanes come.
pub struct Row {
    pub first_warp: u32,
    pub last_warp: u32,
    pub lanes: Vec<Lane>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    Arrives,
    Missing,
    /// A lane of a warp that neither comes nor is named.
    Aside,
    /// Neither: no such thread, or one that the barrier does not ask for.
    Absent,
}

/// At most this many warps are drawn; a block holds 32.
const WARPS: u32 = 32;

pub fn rows(witness: &Witness) -> Vec<Row> {
    let last = witness.arrive.iter().chain(&witness.missing).map(|(_, last)| *last).max().unwrap_or(0);
    let warps = (last / 32 + 1).min(WARPS);
    let mut rows: Vec<Row> = Vec::new();
    for warp in 0..warps {
        let lanes: Vec<Lane> = (warp * 32..warp * 32 + 32).map(|thread| lane(witness, thread)).collect();
        match rows.last_mut() {
            Some(row) if row.lanes == lanes => row.last_warp = warp,
            _ => rows.push(Row { first_warp: warp, last_warp: warp, lanes }),
        }
    }
    // Of warps that the barrier does not ask for there is nothing to see.
    rows.retain(|row| row.lanes.iter().any(|lane| *lane != Lane::Absent));
    rows
}

fn lane(witness: &Witness, thread: u32) -> Lane {
    let within = |ranges: &[(u32, u32)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&thread));
    match (within(&witness.missing), within(&witness.arrive)) {
        (true, _) => Lane::Missing,
        (_, true) => Lane::Arrives,
        _ if witness.unit == Unit::Lane => Lane::Aside,
        _ => Lane::Absent,
    }
}

/// Lanes that neither come nor are named.
pub fn aside(rows: &[Row]) -> Vec<(u32, u32)> {
    let Some(Row { lanes, .. }) = rows.first() else { return Vec::new() };
    ranges((0..32).filter(|lane| lanes[*lane as usize] == Lane::Aside).fold(0, |mask, lane| mask | 1 << lane))
}

/// `warp 0`, `warps 2..7`; nothing for a single warp's lanes.
pub fn label(witness: &Witness, row: &Row) -> String {
    match (witness.unit, row.first_warp == row.last_warp) {
        (Unit::Lane, _) => "lanes".to_string(),
        (Unit::Block, _) => "blocks".to_string(),
        (_, true) => format!("warp {}", row.first_warp),
        _ => format!("warps {}..{}", row.first_warp, row.last_warp),
    }
}

/// The lanes of a mask as inclusive ranges.
pub fn ranges(mask: u32) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for lane in (0..32).filter(|lane| mask & (1 << lane) != 0) {
        match found.last_mut() {
            Some(last) if last.1 + 1 == lane => last.1 = lane,
            _ => found.push((lane, lane)),
        }
    }
    found
}

/// `threads 33..63`, `lanes 0, 2, 4, ...`
pub fn list(ranges: &[(u32, u32)], unit: Unit) -> String {
    const LISTED: usize = 6;
    let one = ranges.len() == 1 && ranges[0].0 == ranges[0].1;
    let noun = format!("{}{}", unit.name(), if one { "" } else { "s" });
    let piece = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}..{last}") };
    let mut pieces: Vec<String> = ranges.iter().take(LISTED).map(piece).collect();
    if ranges.len() > LISTED {
        pieces.push("...".to_string());
    }
    if pieces.is_empty() { format!("no {noun}") } else { format!("{noun} {}", pieces.join(", ")) }
}
