//! A method of a class template -> the arguments that the template is given in view: `Runner<128>().run(..)`.

use super::Work;
use super::callers::items_naming;
use super::code::Code;
use super::scope::{Bound, Frame, Scope};
use crate::source::items::ItemKind;
use std::sync::Arc;

/// Sets of arguments of one class that are looked at.
const MAX_INSTANCES: usize = 12;

/// Each way in which a method is called, once for each set of arguments of its class. Where the class is no template, or
/// nobody names its arguments, the ways stay as they are.
pub(super) fn with_class_arguments(work: &Work, code: &Code, ways: Vec<Option<Frame>>) -> Vec<Option<Frame>> {
    let Some(class) = work.tree.item(code.item).class else { return ways };
    let class_code: Arc<Code> = work.code(class);
    if class_code.templates.is_empty() {
        return ways;
    }
    let instances = instances(work, &class_code);
    if instances.is_empty() {
        return ways;
    }
    let mut found = Vec::new();
    for way in ways {
        for instance in &instances {
            let mut frame = way.clone().unwrap_or_default();
            for (position, bound) in instance.iter().enumerate() {
                // Outside the class its parameters may have other names.
                let outside = code.class_templates.get(position);
                for parameter in class_code.templates.get(position).into_iter().chain(outside) {
                    frame.templates.insert(parameter.name.clone(), bound.clone());
                }
            }
            found.push(Some(frame));
        }
    }
    found
}

/// The arguments of a class template wherever it is named with any, as far as they are known there.
fn instances(work: &Work, class: &Code) -> Vec<Vec<Bound>> {
    let tree = work.tree;
    let item = tree.item(class.item);
    let empty = Frame::default();
    let mut found: Vec<Vec<Bound>> = Vec::new();
    let needed = work.needs_caller.replace(false);
    let names_it = |kind: &ItemKind| matches!(kind, ItemKind::Function(_) | ItemKind::Alias | ItemKind::Value);
    for user in items_naming(work, class.item, &names_it) {
        let own = tree.item(user);
        if own.file == item.file && item.range.start <= own.range.start && own.range.end <= item.range.end {
            continue;
        }
        let code = work.code(user);
        let scope = Scope { work, frame: &empty };
        for at in (0..code.view.len()).filter(|at| code.view.identifier(*at) == Some(item.name.as_bytes())) {
            if !code.view.is(at + 1, b"<") {
                continue;
            }
            let Some(behind) = code.view.behind_angle(at + 1) else { continue };
            let mut arguments = scope.template_arguments(&code, at + 2..behind - 1);
            for template in class.templates.iter().skip(arguments.len()) {
                let Some(default) = &template.default else { break };
                arguments.push(scope.bind(class, default.clone()));
            }
            if !work.needs_caller.replace(false)
                && arguments.len() == class.templates.len()
                && !found.contains(&arguments)
            {
                found.push(arguments);
            }
            if found.len() > MAX_INSTANCES {
                work.needs_caller.set(needed);
                return Vec::new();
            }
        }
    }
    work.needs_caller.set(needed);
    found
}
