//! A graph as text, for people who work on synclint: `synclint debug graph FILE`.

use crate::graph::*;
use std::fmt::Write;

pub fn dump(graph: &Graph) -> String {
    let mut out = String::new();
    for (index, frame) in graph.frames.iter().enumerate() {
        let call =
            frame.call.map(|(caller, at)| format!(" called in f{} at {}", caller.0, place(at))).unwrap_or_default();
        let _ = writeln!(out, "f{index} {} item {}{call}", frame.name, frame.function.0);
    }
    for (index, object) in graph.objects.iter().enumerate() {
        let dims: String =
            object.dims.iter().map(|dim| dim.map_or("[]".to_string(), |extent| format!("[{extent}]"))).collect();
        let volatile = if object.is_volatile { " volatile" } else { "" };
        let _ = writeln!(
            out,
            "o{index} {:?}{volatile} {}{dims} f{} {}",
            object.kind,
            object.name,
            object.frame.0,
            place(object.at)
        );
    }
    for (index, block) in graph.blocks.iter().enumerate() {
        let _ = writeln!(out, "b{index}: f{}", block.frame.0);
        for inst in &block.insts {
            let instruction = &graph.insts[inst.index()];
            let _ = writeln!(out, "  v{} = {}    {}", inst.0, op(&instruction.op), place(instruction.at));
        }
        let _ = writeln!(out, "  {}", end(&block.end));
    }
    for (at, why) in &graph.incomplete {
        let _ = writeln!(out, "incomplete {}: {why}", place(*at));
    }
    if graph.multidimensional {
        out.push_str("multidimensional\n");
    }
    out
}

fn place(at: At) -> String {
    format!("@{}:{}..{}", at.item.0, at.span.start, at.span.end)
}

fn list(values: &[Value]) -> String {
    values.iter().map(|value| format!("v{}", value.0)).collect::<Vec<_>>().join(", ")
}

fn op(op: &Op) -> String {
    match op {
        Op::Int(value) => format!("{value}"),
        Op::Unknown { from, unseen } => {
            format!("unknown({}){}", list(from), unseen.as_ref().map_or(String::new(), |name| format!(" of {name}")))
        }
        Op::Pure { name, operands } => format!("{name}({})", list(operands)),
        Op::Source(source) => format!("{source:?}"),
        Op::Unary(op, value) => format!("{op:?} v{}", value.0),
        Op::Binary(op, a, b) => format!("{op:?} v{}, v{}", a.0, b.0),
        Op::Select { on, yes, no } => format!("v{} ? v{} : v{}", on.0, yes.0, no.0),
        Op::Min(a, b) => format!("min v{}, v{}", a.0, b.0),
        Op::Max(a, b) => format!("max v{}, v{}", a.0, b.0),
        Op::Convert { to, value } => format!("convert v{} to {to:?}", value.0),
        Op::Wrapped(value) => format!("v{} modulo 2^32", value.0),
        Op::Address(object) => format!("&o{}", object.0),
        Op::Element { base, index } => format!("&v{}[v{}]", base.0, index.0),
        Op::Member { base, name } => format!("&v{}.{name}", base.0),
        Op::Load { address, is_volatile, read_only } => {
            format!(
                "load{}{} v{}",
                if *is_volatile { " volatile" } else { "" },
                if *read_only { " read-only" } else { "" },
                address.0
            )
        }
        Op::Store { address, value } => format!("store v{} <- v{}", address.0, value.0),
        Op::Copy { to, from } => format!("copy v{} <- v{}", to.0, from.0),
        Op::Atomic { name, address, operands } => format!("atomic {name} v{} ({})", address.0, list(operands)),
        Op::Clobber { address, from, .. } => format!("clobber v{} ({})", address.0, list(from)),
        Op::Barrier(barrier) => {
            let extra = [("lane", barrier.source_lane), ("width", barrier.width)]
                .iter()
                .filter_map(|(name, value)| value.map(|value| format!(" {name} v{}", value.0)))
                .collect::<String>();
            format!(
                "barrier {} {:?} waits {} orders {} -> {:?} ({}){extra}",
                barrier.name,
                barrier.group,
                barrier.waits,
                barrier.orders_memory,
                barrier.result,
                list(&barrier.operands)
            )
        }
        Op::BarrierInit { address, count } => format!("barrier init v{} count v{}", address.0, count.0),
        Op::Coalesce => "coalesce".to_string(),
        Op::Assume(value) => format!("assume v{}", value.0),
        Op::Nothing => "nothing".to_string(),
    }
}

fn end(end: &End) -> String {
    match end {
        End::Jump { to, leaving, at } => format!("jump b{} {leaving:?} {}", to.0, place(*at)),
        End::Branch { on, yes, no, at, what } => {
            format!("branch v{} b{} b{} {what:?} {}", on.0, yes.0, no.0, place(*at))
        }
        End::Switch { on, cases, default, at } => {
            let cases: Vec<String> = cases.iter().map(|(value, to)| format!("v{} -> b{}", value.0, to.0)).collect();
            format!("switch v{} [{}] default b{} {}", on.0, cases.join(", "), default.0, place(*at))
        }
        End::Choose(targets) => {
            format!("choose {}", targets.iter().map(|to| format!("b{}", to.0)).collect::<Vec<_>>().join(" "))
        }
        End::Exit { how, at } => format!("exit {how:?} {}", place(*at)),
        End::Dead => "dead".to_string(),
    }
}
