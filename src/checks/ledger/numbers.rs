//! Numbers and counts of named barriers, as they stand: is it one of the sixteen, whole warps, one for those who meet?

use super::super::{Check, Verdict, counted};
use super::{BARRIERS, NUMBERS, WARP, verdict};
use crate::graph::{InstId, Value};
use crate::uniformity::extent::Extent;

pub fn none_of_sixteen(check: &Check, inst: InstId, id: Value) -> Option<Verdict> {
    let symbol = check.analysed.symbol(id);
    let bounds = check.facts.bounds(symbol);
    let known = check.analysed.values.symbols.as_int(symbol);
    if bounds.low < BARRIERS && bounds.high >= 0 {
        return None;
    }
    let which = match known {
        Some(id) => format!("barrier {id}"),
        None => "this barrier's number".to_string(),
    };
    let text = format!("a block has barriers 0 to 15, and {which} is none of them");
    Some(verdict(check, inst, &text, NUMBERS))
}

/// Threads that have to meet come with different numbers: the block where no count says who meets, else each warp.
pub fn apart(check: &Check, inst: InstId, id: Value, need: Extent) -> Option<Verdict> {
    let symbol = check.analysed.symbol(id);
    // Where the shape of the block or code nobody shows may make them one, nothing is said.
    if check.facts.agreement(symbol).hoped >= need {
        return None;
    }
    if let Some(threads) = counted::threads_that_tell(check, &[symbol]) {
        let numbers: Vec<_> = threads.iter().map(|thread| check.facts.value(symbol, thread, &|_| None)).collect();
        let group = if need > Extent::WARP { numbers.len() } else { WARP as usize };
        let is_one = |group: &[Option<i64>]| group.iter().all(|number| number.is_some() && *number == group[0]);
        if numbers.chunks(group.max(1)).all(is_one) {
            return None;
        }
    }
    let (text, help) = if need > Extent::WARP {
        (
            "without a count each barrier waits for the whole block, and threads of the block come with different numbers",
            "give it a count of those who come with one number; or let all threads of the block name one barrier",
        )
    } else {
        (
            "whole warps come to a named barrier, and lanes of one warp come with different numbers",
            "let the number be the same for all lanes of a warp: choose it by `threadIdx.x / 32`, say",
        )
    };
    Some(verdict(check, inst, text, help))
}

pub fn whole_warps(check: &Check, inst: InstId, count: Value) -> Option<Verdict> {
    let count = check.analysed.values.symbols.as_int(check.analysed.symbol(count))?;
    if count > 0 && count % WARP == 0 {
        return None;
    }
    let text = match count {
        0 => "a count of 0 threads waits for nobody".to_string(),
        count => format!("a count of {count} threads is no whole number of warps"),
    };
    Some(verdict(check, inst, &text, "give it a multiple of 32: the hardware counts warps, not threads"))
}
