//! Shuffles: is the width one that exists, and is the lane that is read among those that the mask names?
//!
//! NVIDIA's CUDA C++ Guidelines for Robust and Safety-Critical Programming, 2.2 and 2.3. A lane whose source lies beyond
//! its segment keeps its own value, so for up, down and butterfly only a call in which nobody reads a named lane is a fault.

use super::lanes::{self, bits, ranges, spell_lanes};
use super::sets::{self, Sets};
use super::{Check, Verdict, counted};
use crate::finding::{Unit, Witness};
use crate::graph::{Barrier, InstId, Value};
use crate::uniformity::symbols::Symbol;

const HELP: &str = "read a lane that takes part, or let the one that is read come and be named, too";

#[derive(Copy, Clone, PartialEq, Eq)]
enum Way {
    Index,
    Up,
    Down,
    Butterfly,
}

pub fn check(check: &Check, inst: InstId, barrier: &Barrier, mask: Option<Value>) -> Option<Verdict> {
    let (way, offset) = source(barrier)?;
    let width = match barrier.width.map(|width| check.analysed.values.symbols.as_int(check.analysed.symbol(width))) {
        None => 32,
        Some(None) => return None,
        Some(Some(width)) => width,
    };
    if !(1..=32).contains(&width) || width & (width - 1) != 0 {
        let text = format!("a shuffle's width is 1, 2, 4, 8, 16 or 32, and this one is {width}");
        let verdict = lanes::verdict(check, inst, &[], None, &text);
        let help = "take the next larger power of two and give lanes without a partner a neutral value".to_string();
        return Some(Verdict { help: Some(help), ..verdict });
    }
    let mask = check.analysed.symbol(mask?);
    let offset = check.analysed.symbol(offset);
    read(check, inst, way, mask, offset, width)
}

/// How a shuffle finds the lane it reads, and by which operand.
fn source(barrier: &Barrier) -> Option<(Way, Value)> {
    if let Some(lane) = barrier.source_lane {
        return Some((Way::Index, lane));
    }
    let name = &*barrier.name;
    let is = |word: &str, mode: &str| name == word || name == mode;
    let way = match () {
        () if is("__shfl_up_sync", "shfl.sync.up") => Way::Up,
        () if is("__shfl_down_sync", "shfl.sync.down") => Way::Down,
        () if is("__shfl_xor_sync", "shfl.sync.bfly") => Way::Butterfly,
        () => return None,
    };
    Some((way, *barrier.operands.get(1)?))
}

/// Compares the lanes read with the mask, lane by lane, where both are known.
fn read(check: &Check, inst: InstId, way: Way, mask: Symbol, offset: Symbol, width: i64) -> Option<Verdict> {
    let symbols = &check.analysed.values.symbols;
    if way == Way::Index
        && width == 32
        && let Some(lane) = sets::lane_of(check, offset)
        && Sets::new(check, inst).are_apart(lane, mask)
    {
        let text = "the lane that is read is none that the mask names";
        return Some(Verdict { help: Some(HELP.to_string()), ..lanes::verdict(check, inst, &[], None, text) });
    }
    let constant = symbols.as_int(mask).is_some() && symbols.as_int(offset).is_some();
    let shape = &check.analysed.shape;
    if !constant && shape.block.is_none() && !shape.is_line() {
        return None;
    }
    for warp in counted::threads(check).chunks(32) {
        let (mut callers, mut outside, mut wrong, mut named) = (0u32, 0u32, 0u32, None);
        for thread in warp {
            let lane = i64::from(thread.rank % 32);
            let mask = check.facts.value(mask, thread, &|_| None)? as u32;
            if mask & (1 << lane) == 0 {
                continue;
            }
            let Some(offset) = check.facts.value(offset, thread, &|_| None) else { continue };
            let segment = lane & !(width - 1);
            let read = match way {
                Way::Index => segment + (offset & (width - 1)),
                Way::Up => lane - offset,
                Way::Down => lane + offset,
                Way::Butterfly => lane ^ offset,
            };
            if !(segment..segment + width).contains(&read) {
                continue;
            }
            callers |= 1 << lane;
            if mask & (1 << read) == 0 {
                outside |= 1 << lane;
                // Where masks differ, one is shown.
                if *named.get_or_insert(mask) == mask {
                    wrong |= 1 << read;
                }
            }
        }
        let Some(named) = named else { continue };
        if way != Way::Index && outside != callers {
            continue;
        }
        let is = if wrong.count_ones() == 1 { "is" } else { "are" };
        let text = format!("{} {is} read, but the mask names {} only", spell_lanes(wrong), spell_lanes(named));
        let witness = Witness {
            given: String::new(),
            arrive: ranges(bits(named)),
            missing: ranges(bits(wrong)),
            unit: Unit::Lane,
            mask: Some(named),
        };
        let verdict = lanes::verdict(check, inst, &[], Some(witness), &text);
        return Some(Verdict { help: Some(HELP.to_string()), ..verdict });
    }
    None
}
