//! Expressions, apart from calls and what is written like one.
//!
//! Chains (`a + b + c ...`) are walked with a loop; one longer than the depth allows becomes a balanced tree
//! where that means the same.

use crate::lower::assembly::{assembly, joined};
use crate::lower::calls::{call, compound_literal, lambda, new};
use crate::lower::literals::{character, number};
use crate::lower::names::path;
use crate::lower::reader::{MAX_DEPTH, Reader, plain_path};
use crate::lower::requires::requires;
use crate::lower::statements::statements;
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::type_descriptor;
use crate::program::{BinaryOp, Expr, ExprKind, IntType, Name, Path, Segment, TemplateArg, Type, TypeKind, UnaryOp};
use crate::text::Span;

pub fn expression(reader: &mut Reader, id: Id) -> Expr {
    let id = without_parentheses(reader, id);
    let span = reader.span(id);
    let kind = reader.deeper(id, |reader| kind(reader, id)).unwrap_or(ExprKind::Unreadable);
    Expr { kind, span }
}

fn without_parentheses(reader: &Reader, id: Id) -> Id {
    let mut id = id;
    while let Kind::ParenthesizedExpression | Kind::ExtensionExpression | Kind::ConditionClause = reader.kind(id) {
        if last_swallowed(reader, id).is_some() {
            break;
        }
        match reader.tree.first(id) {
            Some(inner) => id = inner,
            None => break,
        }
    }
    id
}

/// In `(a = b.c, d)` the grammar takes `, d` for an error: `d`.
fn last_swallowed(reader: &Reader, id: Id) -> Option<Id> {
    if reader.kind(id) != Kind::ParenthesizedExpression {
        return None;
    }
    let first = reader.tree.first(id).filter(|first| reader.kind(*first) == Kind::AssignmentExpression)?;
    let error = swallowed(reader, id).filter(|error| reader.span(*error).start >= reader.span(first).end)?;
    let mut values = reader.tree.children(error).filter(|child| reader.kind(*child) != Kind::Token);
    values.next().filter(|_| values.next().is_none())
}

fn kind(reader: &mut Reader, id: Id) -> ExprKind {
    match reader.kind(id) {
        Kind::ParenthesizedExpression => match (reader.tree.first(id), last_swallowed(reader, id)) {
            (Some(first), Some(last)) => {
                ExprKind::Comma(Box::new(expression(reader, first)), Box::new(expression(reader, last)))
            }
            _ => ExprKind::Unreadable,
        },
        Kind::Identifier
        | Kind::QualifiedIdentifier
        | Kind::TemplateFunction
        | Kind::TemplateType
        | Kind::FieldIdentifier
        | Kind::TypeIdentifier
        | Kind::NamespaceIdentifier
        | Kind::PrimitiveType
        | Kind::SizedTypeSpecifier
        | Kind::DependentName
        | Kind::OperatorName
        | Kind::DestructorName => ExprKind::Name(path(reader, id)),
        Kind::NumberLiteral => number(reader.text(id)),
        Kind::CharLiteral => character(reader.text(id)),
        Kind::True => ExprKind::Int { value: 1, ty: IntType::Bool },
        Kind::False => ExprKind::Int { value: 0, ty: IntType::Bool },
        Kind::Null => ExprKind::Null,
        Kind::This => ExprKind::This,
        Kind::StringLiteral | Kind::RawStringLiteral | Kind::ConcatenatedString => ExprKind::Str(joined(reader, id)),
        Kind::UserDefinedLiteral => user_defined_literal(reader, id),
        Kind::BinaryExpression => binary(reader, id),
        Kind::CommaExpression => comma(reader, id),
        Kind::AssignmentExpression => assignment(reader, id),
        Kind::UnaryExpression | Kind::PointerExpression => unary(reader, id),
        Kind::UpdateExpression => update(reader, id),
        Kind::ConditionalExpression => conditional(reader, id),
        Kind::CallExpression => call(reader, id),
        Kind::FieldExpression => member(reader, id),
        Kind::SubscriptExpression => subscript(reader, id),
        Kind::CastExpression => match (reader.child(id, Field::Type), reader.child(id, Field::Value)) {
            (Some(ty), Some(value)) => {
                let ty = type_descriptor(reader, ty);
                ExprKind::Cast(ty, Box::new(expression(reader, value)))
            }
            _ => ExprKind::Unreadable,
        },
        Kind::CompoundLiteralExpression => compound_literal(reader, id),
        Kind::NewExpression => new(reader, id),
        Kind::InitializerList => initialiser_list(reader, id),
        Kind::LambdaExpression => lambda(reader, id),
        Kind::CompoundStatement => ExprKind::Statements(statements(reader, id)),
        Kind::ParameterPackExpansion => match reader.child(id, Field::Pattern) {
            Some(pattern) => ExprKind::Expansion(Box::new(expression(reader, pattern))),
            None => ExprKind::Unreadable,
        },
        Kind::FoldExpression => fold(reader, id),
        Kind::SizeofExpression => match counted_pack(reader, id) {
            Some(pack) => ExprKind::PackSize(pack),
            None => ExprKind::Unevaluated(Box::new(sized_type(reader, id))),
        },
        Kind::AlignofExpression => alignment(reader, id),
        Kind::OffsetofExpression | Kind::RequiresClause | Kind::Decltype => ExprKind::Unevaluated(Box::new(None)),
        Kind::RequiresExpression => requires(reader, id),
        Kind::GnuAsmExpression => ExprKind::Asm(Box::new(assembly(reader, id))),
        Kind::DeleteExpression => keyword_call(reader, id, "delete"),
        Kind::CoAwaitExpression => keyword_call(reader, id, "co_await"),
        Kind::TypeDescriptor => match crate::lower::names::type_as_expression(reader, id) {
            Some(value) => value.kind,
            None => ExprKind::Unreadable,
        },
        _ => ExprKind::Unreadable,
    }
}

/// `delete p`, `throw e`, `co_await e`: a call of what no function can be named.
pub fn keyword_call(reader: &mut Reader, id: Id, keyword: &'static str) -> ExprKind {
    let argument = reader.child(id, Field::Argument).or_else(|| reader.tree.first(id));
    let args: Vec<Expr> = argument.into_iter().map(|argument| expression(reader, argument)).collect();
    named_call(reader, id, keyword, args)
}

fn named_call(reader: &mut Reader, id: Id, name: &str, args: Vec<Expr>) -> ExprKind {
    let callee = Expr { kind: ExprKind::Name(plain_path(Name::from(name))), span: reader.span(id) };
    ExprKind::Call { callee: Box::new(callee), args }
}

fn user_defined_literal(reader: &mut Reader, id: Id) -> ExprKind {
    let Some(literal) = reader.tree.first(id) else { return ExprKind::Unreadable };
    let suffix =
        reader.tree.child_of_kind(id, Kind::LiteralSuffix).map(|suffix| reader.text(suffix)).unwrap_or_default();
    let literal = expression(reader, literal);
    named_call(reader, id, &format!("operator\"\"{suffix}"), vec![literal])
}

/// A link of a left-deep chain: operator, right operand, and the span up to there.
type Link = (BinaryOp, Id, Span);

fn binary(reader: &mut Reader, id: Id) -> ExprKind {
    let mut chain: Vec<Link> = Vec::new();
    let mut left = id;
    while reader.kind(left) == Kind::BinaryExpression {
        let (Some(inner), Some(operator), Some(right)) =
            (reader.child(left, Field::Left), reader.child(left, Field::Operator), reader.child(left, Field::Right))
        else {
            return ExprKind::Unreadable;
        };
        let Some(op) = binary_op(reader.text(operator)) else {
            return ExprKind::Unreadable;
        };
        if reads_as_cast(reader, inner, op) {
            return cast_of_sign(reader, inner, op, right, chain);
        }
        chain.push((op, right, reader.span(left)));
        left = inner;
    }
    if reader.depth + chain.len() > MAX_DEPTH {
        return long_chain(reader, id, left, &chain);
    }
    let depth = reader.depth;
    reader.depth += chain.len() - 1;
    let first = expression(reader, left);
    let kind = linked(reader, first, chain);
    reader.depth = depth;
    kind
}

/// `first` and the links of `chain`, the last link first.
fn linked(reader: &mut Reader, first: Expr, chain: Vec<Link>) -> ExprKind {
    let mut result = first;
    for (op, right, span) in chain.into_iter().rev() {
        let right = expression(reader, right);
        reader.depth = reader.depth.saturating_sub(1);
        result = Expr { kind: ExprKind::Binary(op, Box::new(result), Box::new(right)), span };
    }
    result.kind
}

/// A balanced tree, which means the same if one associative operator joins all operands.
fn long_chain(reader: &mut Reader, id: Id, first: Id, chain: &[Link]) -> ExprKind {
    use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Mul, Or};
    let op = chain[0].0;
    let balanced =
        matches!(op, Add | Mul | And | Or | BitAnd | BitOr | BitXor) && chain.iter().all(|link| link.0 == op);
    if !balanced {
        reader.note_too_deep(id);
        return ExprKind::Unreadable;
    }
    let mut row = vec![expression(reader, first)];
    row.extend(
        chain
            .iter()
            .rev()
            .map(|(_, right, _)| *right)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|right| expression(reader, right)),
    );
    pairwise(row, |left, right| ExprKind::Binary(op, left, right)).map_or(ExprKind::Unreadable, |result| result.kind)
}

fn pairwise(mut row: Vec<Expr>, join: impl Fn(Box<Expr>, Box<Expr>) -> ExprKind) -> Option<Expr> {
    while row.len() > 1 {
        let mut shorter = Vec::with_capacity(row.len().div_ceil(2));
        let mut rest = row.into_iter();
        while let Some(left) = rest.next() {
            shorter.push(match rest.next() {
                Some(right) => {
                    let span = Span { start: left.span.start, end: right.span.end };
                    Expr { kind: join(Box::new(left), Box::new(right)), span }
                }
                None => left,
            });
        }
        row = shorter;
    }
    row.pop()
}

/// `(T)-x`, `(T)&x`, which the grammar reads as arithmetic.
fn reads_as_cast(reader: &Reader, left: Id, op: BinaryOp) -> bool {
    use BinaryOp::{Add, BitAnd, Mul, Sub};
    if !matches!(op, Add | Sub | Mul | BitAnd) || reader.kind(left) != Kind::ParenthesizedExpression {
        return false;
    }
    let Some(inner) = reader.tree.first(left) else { return false };
    let text = reader.text(inner);
    let is_name = matches!(reader.kind(inner), Kind::Identifier | Kind::QualifiedIdentifier);
    is_name && is_known_type(reader, text)
}

fn is_known_type(reader: &Reader, text: &str) -> bool {
    let name = text.rsplit("::").next().unwrap_or(text);
    !reader.variables.contains(text)
        && (reader.types.contains(text)
            || name.ends_with("_t")
            || matches!(
                name,
                "uint" | "uchar" | "ushort" | "ulong" | "half" | "__half" | "clock_t" | "real" | "u32" | "i32" | "u64"
            ))
}

fn cast_of_sign(reader: &mut Reader, ty: Id, op: BinaryOp, right: Id, chain: Vec<Link>) -> ExprKind {
    let sign = match op {
        BinaryOp::Add => UnaryOp::Plus,
        BinaryOp::Sub => UnaryOp::Minus,
        BinaryOp::Mul => UnaryOp::Deref,
        _ => UnaryOp::AddressOf,
    };
    let span = Span { start: reader.span(ty).start, end: reader.span(right).end };
    let value = Expr { kind: ExprKind::Unary(sign, Box::new(expression(reader, right))), span: reader.span(right) };
    let named = without_parentheses(reader, ty);
    let ty = Type::plain(TypeKind::Named(path(reader, named)));
    let first = Expr { kind: ExprKind::Cast(ty, Box::new(value)), span };
    let depth = reader.depth;
    if depth + chain.len() > MAX_DEPTH {
        reader.note_too_deep(right);
        return ExprKind::Unreadable;
    }
    reader.depth += chain.len();
    let kind = linked(reader, first, chain);
    reader.depth = depth;
    kind
}

pub fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        // The sign of a three-way comparison is that of the difference.
        "-" | "<=>" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" | "bitand" => BinaryOp::BitAnd,
        "|" | "bitor" => BinaryOp::BitOr,
        "^" | "xor" => BinaryOp::BitXor,
        "&&" | "and" => BinaryOp::And,
        "||" | "or" => BinaryOp::Or,
        "==" => BinaryOp::Eq,
        "!=" | "not_eq" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        _ => return None,
    })
}

fn comma(reader: &mut Reader, id: Id) -> ExprKind {
    let mut parts = Vec::new();
    let mut rest = id;
    while reader.kind(rest) == Kind::CommaExpression {
        let (Some(left), Some(right)) = (reader.child(rest, Field::Left), reader.child(rest, Field::Right)) else {
            break;
        };
        parts.push((left, swallowed(reader, rest)));
        rest = right;
    }
    parts.push((rest, None));
    let parts: Vec<Expr> = parts
        .into_iter()
        .map(|(part, value)| match value {
            Some(value) => assigned(reader, "=", part, value),
            None => expression(reader, part),
        })
        .collect();
    pairwise(parts, ExprKind::Comma).map_or(ExprKind::Unreadable, |result| result.kind)
}

fn assignment(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(left), Some(right)) = (reader.child(id, Field::Left), reader.child(id, Field::Right)) else {
        return ExprKind::Unreadable;
    };
    let operator = reader.child(id, Field::Operator).map(|operator| reader.text(operator)).unwrap_or("=");
    if let Some(value) = swallowed(reader, id) {
        let first = assigned(reader, operator, left, value);
        return ExprKind::Comma(Box::new(first), Box::new(expression(reader, right)));
    }
    let op = assignment_op(operator);
    let left = expression(reader, left);
    ExprKind::Assign(op, Box::new(left), Box::new(expression(reader, right)))
}

/// In `(a = b, c)` the grammar takes `= b` for an error: the error's node.
fn swallowed(reader: &Reader, id: Id) -> Option<Id> {
    reader.tree.children(id).find(|child| reader.kind(*child) == Kind::Error)
}

/// `left = value`, where `value` is what an error holds; unreadable if that is no single expression.
fn assigned(reader: &mut Reader, operator: &str, left: Id, error: Id) -> Expr {
    let mut values = reader.tree.children(error).filter(|child| reader.kind(*child) != Kind::Token);
    let kind = match (values.next(), values.next()) {
        (Some(value), None) => {
            let (left, value) = (expression(reader, left), expression(reader, value));
            ExprKind::Assign(assignment_op(operator), Box::new(left), Box::new(value))
        }
        _ => ExprKind::Unreadable,
    };
    let span = Span { start: reader.span(left).start, end: reader.span(error).end };
    Expr { kind, span }
}

fn assignment_op(text: &str) -> Option<BinaryOp> {
    match text {
        "and_eq" => Some(BinaryOp::BitAnd),
        "or_eq" => Some(BinaryOp::BitOr),
        "xor_eq" => Some(BinaryOp::BitXor),
        _ => text.strip_suffix('=').and_then(binary_op),
    }
}

fn unary(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(operator), Some(argument)) = (reader.child(id, Field::Operator), reader.child(id, Field::Argument))
    else {
        return ExprKind::Unreadable;
    };
    let op = match reader.text(operator) {
        "+" => UnaryOp::Plus,
        "-" => UnaryOp::Minus,
        "!" | "not" => UnaryOp::Not,
        "~" | "compl" => UnaryOp::BitNot,
        "*" => UnaryOp::Deref,
        "&" => UnaryOp::AddressOf,
        _ => return ExprKind::Unreadable,
    };
    ExprKind::Unary(op, Box::new(expression(reader, argument)))
}

fn update(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(operator), Some(argument)) = (reader.child(id, Field::Operator), reader.child(id, Field::Argument))
    else {
        return ExprKind::Unreadable;
    };
    let by = if reader.text(operator) == "++" { 1 } else { -1 };
    let prefix = reader.node(operator).start < reader.node(argument).start;
    ExprKind::Increment { by, prefix, target: Box::new(expression(reader, argument)) }
}

/// `a ?: b` is `a ? a : b`, and depends on what `a | b` depends on.
fn conditional(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(on), Some(no)) = (reader.child(id, Field::Condition), reader.child(id, Field::Alternative)) else {
        return ExprKind::Unreadable;
    };
    let on = Box::new(expression(reader, on));
    let Some(yes) = reader.child(id, Field::Consequence) else {
        // GNU's `a ?: b`: `a` where it is not zero. What does something is evaluated once; as `||` its number is lost.
        let no = Box::new(expression(reader, no));
        return match is_plain(&on) {
            true => ExprKind::Conditional(on.clone(), on, no),
            false => ExprKind::Binary(BinaryOp::Or, on, no),
        };
    };
    let yes = Box::new(expression(reader, yes));
    ExprKind::Conditional(on, yes, Box::new(expression(reader, no)))
}

/// Evaluated twice it does no more than once.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Int { .. } | ExprKind::This => true,
        ExprKind::Member { object, .. } => is_plain(object),
        ExprKind::Index(array, index) => is_plain(array) && is_plain(index),
        ExprKind::Binary(_, a, b) => is_plain(a) && is_plain(b),
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => is_plain(inner),
        _ => false,
    }
}

fn member(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(object), Some(field)) = (reader.child(id, Field::Argument), reader.child(id, Field::Field)) else {
        return ExprKind::Unreadable;
    };
    let operator = reader.child(id, Field::Operator).map(|operator| reader.text(operator)).unwrap_or(".");
    let within = object;
    let mut object = expression(reader, object);
    let member = path(reader, field);
    if operator != ".*"
        && let Some(pointer) = pointer_to_member(reader, within, &mut object)
    {
        let inner = Box::new(std::mem::replace(pointer, reader.unreadable(id)));
        *pointer = Expr {
            span: Span { start: inner.span.start, end: reader.span(id).end },
            kind: ExprKind::Member { object: inner, arrow: operator == "->", member },
        };
        return object.kind;
    }
    if operator == ".*" {
        let pointer = Expr { kind: ExprKind::Name(member), span: reader.span(field) };
        return named_call(reader, id, "operator.*", vec![object, pointer]);
    }
    ExprKind::Member { object: Box::new(object), arrow: operator == "->", member }
}

/// The pointer of `object.*pointer`, to which what stands behind belongs: `object.*table[1]`.
fn pointer_to_member<'e>(reader: &Reader, id: Id, value: &'e mut Expr) -> Option<&'e mut Expr> {
    let is_open = matches!(reader.kind(id), Kind::FieldExpression | Kind::SubscriptExpression);
    match &mut value.kind {
        ExprKind::Call { callee, args } if is_open => match (&callee.kind, &mut args[..]) {
            (ExprKind::Name(path), [_, pointer])
                if path.segments.last().is_some_and(|last| &*last.name == "operator.*") =>
            {
                Some(pointer)
            }
            _ => None,
        },
        _ => None,
    }
}

/// `a[i, j]` is read as `a[i][j]`.
fn subscript(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(array), Some(indices)) = (reader.child(id, Field::Argument), reader.child(id, Field::Indices)) else {
        return ExprKind::Unreadable;
    };
    let mut result = expression(reader, array);
    for index in arguments(reader, indices) {
        if let Some(pointer) = pointer_to_member(reader, array, &mut result) {
            let inner = std::mem::replace(pointer, reader.unreadable(id));
            let span = Span { start: inner.span.start, end: index.span.end + 1 };
            *pointer = Expr { kind: ExprKind::Index(Box::new(inner), Box::new(index)), span };
            continue;
        }
        let span = Span { start: result.span.start, end: index.span.end + 1 };
        result = Expr { kind: ExprKind::Index(Box::new(result), Box::new(index)), span };
    }
    result.kind
}

/// The expressions of a list in parentheses, brackets or braces.
pub fn arguments(reader: &mut Reader, list: Id) -> Vec<Expr> {
    let mut args = Vec::new();
    for child in reader.tree.children(list) {
        match reader.kind(child) {
            Kind::Token => {}
            Kind::InitializerPair => {
                args.push(match reader.child(child, Field::Value) {
                    Some(value) => expression(reader, value),
                    None => reader.unreadable(child),
                });
            }
            Kind::Error => args.push(reader.unreadable(child)),
            _ => args.push(expression(reader, child)),
        }
    }
    args.shrink_to_fit();
    args
}

fn initialiser_list(reader: &mut Reader, id: Id) -> ExprKind {
    let mut all = Vec::new();
    for child in reader.tree.children(id) {
        match reader.kind(child) {
            Kind::Token | Kind::Error => {}
            Kind::InitializerPair => {
                let designator = reader.child(child, Field::Designator);
                let field = designator.filter(|it| reader.kind(*it) == Kind::FieldDesignator);
                let name = field.and_then(|field| reader.tree.first(field)).map(|field| reader.name_of(field));
                if let Some(value) = reader.child(child, Field::Value) {
                    all.push((name, expression(reader, value)));
                }
            }
            _ => all.push((None, expression(reader, child))),
        }
    }
    ExprKind::InitList(all)
}

/// A fold over `,` runs its pattern once for each element, like an expansion.
fn fold(reader: &mut Reader, id: Id) -> ExprKind {
    let (Some(left), Some(operator), Some(right)) =
        (reader.child(id, Field::Left), reader.child(id, Field::Operator), reader.child(id, Field::Right))
    else {
        return ExprKind::Unreadable;
    };
    let operator = reader.text(operator);
    let op = binary_op(operator).or_else(|| assignment_op(operator));
    let is_dots = |side: Id| reader.kind(side) == Kind::Token;
    let folded = |pattern: Expr| match op {
        Some(op) => ExprKind::Fold(op, Box::new(pattern)),
        None => ExprKind::Expansion(Box::new(pattern)),
    };
    if is_dots(left) {
        return folded(expression(reader, right));
    }
    if is_dots(right) {
        return folded(expression(reader, left));
    }
    let pack_is_right = holds_pack(reader, right);
    let (left_span, right_span) = (reader.span(left), reader.span(right));
    let (left, right) = (expression(reader, left), expression(reader, right));
    let (left, right) = match pack_is_right {
        true => (left, Expr { kind: folded(right), span: right_span }),
        false => (Expr { kind: folded(left), span: left_span }, right),
    };
    match op {
        Some(op) => ExprKind::Binary(op, Box::new(left), Box::new(right)),
        None => ExprKind::Comma(Box::new(left), Box::new(right)),
    }
}

fn holds_pack(reader: &Reader, id: Id) -> bool {
    reader.tree.within(id).any(|inner| {
        matches!(reader.kind(inner), Kind::Identifier | Kind::TypeIdentifier)
            && reader.packs.contains(reader.text(inner))
    })
}

/// `alignof(T)` is `std::alignment_of_v<T>`.
fn alignment(reader: &mut Reader, id: Id) -> ExprKind {
    let Some(ty) = sized_type(reader, id) else { return ExprKind::Unevaluated(Box::new(None)) };
    let args = Some(vec![TemplateArg::Type(ty)]);
    ExprKind::Name(Path { segments: vec![Segment { name: Name::from("alignment_of_v"), args }], global: false })
}

/// `sizeof...(args)`
fn counted_pack(reader: &mut Reader, id: Id) -> Option<Name> {
    let is_dots = |child: Id| reader.kind(child) == Kind::Token && reader.text(child) == "...";
    reader.tree.children(id).find(|child| is_dots(*child))?;
    let name = reader.child(id, Field::Value)?;
    Some(reader.name_of(name))
}

fn sized_type(reader: &mut Reader, id: Id) -> Option<Type> {
    if let Some(ty) = reader.child(id, Field::Type) {
        return Some(type_descriptor(reader, ty));
    }
    let value = reader.child(id, Field::Value)?;
    let named = without_parentheses(reader, value);
    let is_name = matches!(reader.kind(named), Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction);
    if !is_name || named == value || reader.variables.contains(reader.text(named)) {
        let value = reader.deeper(named, |reader| expression(reader, named))?;
        return Some(Type::plain(TypeKind::Decltype(Box::new(value))));
    }
    Some(Type::plain(TypeKind::Named(path(reader, named))))
}
