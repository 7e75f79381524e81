//! Statements into lists: `else if` flat, labels and cases before what they label, several declarations where one line has them.

use crate::lower::assembly::assembly;
use crate::lower::classes::{class, is_nameless_class, nameless_class};
use crate::lower::declarations::{Scope, alias, declared, enumerators, parameter, typedefs};
use crate::lower::expressions::{expression, keyword_call};
use crate::lower::names::{last_name, path, plain_name};
use crate::lower::reader::{Reader, plain_path};
use crate::lower::tree::{Field, Id, Kind};
use crate::lower::types::{specifiers, type_specifier, unwrap_declarator};
use crate::program::{
    BinaryOp, Condition, Declaration, Expr, ExprKind, IfArm, Init, Name, Path, Segment, Stmt, StmtKind, Storage, Type,
    TypeKind,
};
use crate::text::Span;
use std::sync::Arc;

/// A function's, lambda's or loop's body: one statement.
pub fn body(reader: &mut Reader, id: Id) -> Stmt {
    let span = reader.span(id);
    let list = reader.deeper(id, |reader| {
        let mut list = Vec::new();
        push(reader, id, &mut list);
        list
    });
    match list {
        None => Stmt { kind: StmtKind::Unreadable, span },
        Some(mut list) => match (list.pop(), list.is_empty()) {
            (None, _) => Stmt { kind: StmtKind::Empty, span },
            (Some(only), true) => only,
            (Some(last), false) => {
                list.push(last);
                list.shrink_to_fit();
                Stmt { kind: StmtKind::Block(list), span }
            }
        },
    }
}

/// The statements of a block.
pub fn statements(reader: &mut Reader, block: Id) -> Vec<Stmt> {
    let mut list = Vec::new();
    for child in reader.tree.children(block) {
        push(reader, child, &mut list);
    }
    list.shrink_to_fit();
    list
}

/// Appends what `id` is, which may be several statements or none.
pub fn push(reader: &mut Reader, id: Id, list: &mut Vec<Stmt>) {
    let mut id = id;
    // Labels before labels, attributes: one statement in the end.
    loop {
        let inner = match reader.kind(id) {
            Kind::LabeledStatement => {
                if let Some(label) = reader.child(id, Field::Label) {
                    list.push(Stmt { kind: StmtKind::Label(reader.name_of(label)), span: reader.span(label) });
                }
                reader.tree.children(id).filter(|child| reader.node(*child).field != Field::Label).find(|child| {
                    !matches!(reader.kind(*child), Kind::Token | Kind::Error | Kind::AttributeDeclaration)
                })
            }
            Kind::AttributedStatement => {
                reader.tree.children(id).find(|child| reader.kind(*child) != Kind::AttributeDeclaration)
            }
            Kind::InitStatement => reader.tree.first(id),
            _ => break,
        };
        match inner {
            Some(inner) => id = inner,
            None => return,
        }
    }
    let span = reader.span(id);
    let kind = match reader.kind(id) {
        Kind::CompoundStatement => {
            reader.deeper(id, |reader| StmtKind::Block(statements(reader, id))).unwrap_or(StmtKind::Unreadable)
        }
        Kind::CaseStatement => return case(reader, id, list),
        Kind::ExpressionStatement => match reader.tree.first(id) {
            None => StmtKind::Empty,
            // A label at the end of a block
            Some(inner) if reader.node(inner).missing => StmtKind::Empty,
            Some(inner) => expression_statement(reader, inner),
        },
        Kind::Declaration | Kind::TypeDefinition | Kind::FieldDeclaration => return declaration(reader, id, list),
        Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier => {
            return defined_type(reader, id, None, list);
        }
        Kind::AliasDeclaration => match (alias(reader, id), nameless_class(reader, id)) {
            (Some((name, _)), Some(class)) => return defined_type(reader, class, Some(name), list),
            (Some((name, ty)), None) => StmtKind::Alias(name, ty),
            (None, _) => return,
        },
        Kind::UsingDeclaration => using(reader, id),
        Kind::NamespaceAliasDefinition => match namespace_alias(reader, id) {
            Some(kind) => kind,
            None => return,
        },
        Kind::IfStatement => if_statement(reader, id),
        Kind::WhileStatement => while_statement(reader, id),
        Kind::DoStatement => StmtKind::DoWhile {
            body: Box::new(field_body(reader, id)),
            condition: match reader.child(id, Field::Condition) {
                Some(condition) => expression(reader, condition),
                None => reader.unreadable(id),
            },
        },
        Kind::ForStatement => for_statement(reader, id),
        Kind::ForRangeLoop => range_for(reader, id),
        Kind::SwitchStatement => {
            let (init, condition) = condition(reader, id);
            StmtKind::Switch { init, condition, body: Box::new(field_body(reader, id)) }
        }
        Kind::ReturnStatement | Kind::CoReturnStatement => {
            let value = reader.tree.first(id);
            StmtKind::Return(value.map(|value| expression(reader, value)))
        }
        Kind::BreakStatement => StmtKind::Break,
        Kind::ContinueStatement => StmtKind::Continue,
        Kind::GotoStatement => match reader.child(id, Field::Label) {
            Some(label) if reader.tree.child_of_kind(id, Kind::Error).is_none() => {
                StmtKind::Goto(reader.name_of(label))
            }
            _ => StmtKind::Unreadable,
        },
        Kind::TryStatement => try_statement(reader, id),
        Kind::ThrowStatement => keyword(reader, id, "throw"),
        Kind::CoYieldStatement => keyword(reader, id, "co_yield"),
        Kind::StaticAssertDeclaration => asserted(reader, id).map_or(StmtKind::Empty, StmtKind::StaticAssert),
        // No function stands in a function: a macro that was not expanded, or a head that was misread.
        Kind::FunctionDefinition => {
            reader.doubtful = true;
            match reader.child(id, Field::Body) {
                Some(body) => return push(reader, body, list),
                None => StmtKind::Empty,
            }
        }
        Kind::Error | Kind::ElseClause | Kind::CatchClause | Kind::DeclarationList => {
            return recovered(reader, id, list);
        }
        Kind::LinkageSpecification | Kind::NamespaceDefinition | Kind::TemplateDeclaration => {
            return recovered(reader, id, list);
        }
        kind if is_expression(kind) => expression_statement(reader, id),
        _ => return,
    };
    list.push(Stmt { kind, span });
}

/// The condition of a `static_assert`, if it is arithmetic that says what divides a number. No other one is made use of.
pub fn asserted(reader: &mut Reader, id: Id) -> Option<Expr> {
    let condition = reader.child(id, Field::Condition)?;
    let (doubtful, too_deep) = (reader.doubtful, reader.too_deep);
    let condition = expression(reader, condition);
    (reader.doubtful, reader.too_deep) = (doubtful, too_deep);
    tells_divisor(&condition).then_some(condition)
}

fn tells_divisor(expr: &Expr) -> bool {
    let mut todo = vec![expr];
    let mut divides = false;
    while let Some(expr) = todo.pop() {
        match &expr.kind {
            ExprKind::Int { .. } | ExprKind::Name(_) | ExprKind::Unevaluated(_) => {}
            ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => todo.push(inner),
            ExprKind::Binary(operator, a, b) => {
                divides |= matches!(operator, BinaryOp::Rem | BinaryOp::BitAnd);
                todo.extend([a.as_ref(), b.as_ref()]);
            }
            _ => return false,
        }
    }
    divides
}

fn keyword(reader: &mut Reader, id: Id, word: &'static str) -> StmtKind {
    StmtKind::Expr(Expr { kind: keyword_call(reader, id, word), span: reader.span(id) })
}

/// What can be told of a part that the grammar could not read: the statements in it, in order.
fn recovered(reader: &mut Reader, id: Id, list: &mut Vec<Stmt>) {
    let reached = reader.deeper(id, |reader| {
        let mut template = Vec::new();
        for child in reader.tree.children(id) {
            if reader.kind(child) == Kind::TemplateParameterList {
                template = crate::lower::declarations::template_parameters(reader, child);
                continue;
            }
            let before = list.len();
            push(reader, child, list);
            for stmt in &mut list[before..] {
                if let StmtKind::Declare(all) = &mut stmt.kind {
                    all.iter_mut().for_each(|declaration| declaration.template = template.clone());
                }
            }
        }
    });
    if reached.is_none() {
        list.push(Stmt { kind: StmtKind::Unreadable, span: reader.span(id) });
    }
}

fn is_expression(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::CallExpression
            | Kind::AssignmentExpression
            | Kind::BinaryExpression
            | Kind::UpdateExpression
            | Kind::UnaryExpression
            | Kind::PointerExpression
            | Kind::ConditionalExpression
            | Kind::CommaExpression
            | Kind::ParenthesizedExpression
            | Kind::SubscriptExpression
            | Kind::FieldExpression
            | Kind::CastExpression
            | Kind::LambdaExpression
            | Kind::NewExpression
            | Kind::DeleteExpression
            | Kind::FoldExpression
            | Kind::GnuAsmExpression
            | Kind::CompoundLiteralExpression
            | Kind::ConditionClause
    )
}

fn expression_statement(reader: &mut Reader, id: Id) -> StmtKind {
    match reader.kind(id) {
        Kind::GnuAsmExpression => StmtKind::Asm(assembly(reader, id)),
        Kind::AssignmentExpression | Kind::SubscriptExpression | Kind::CallExpression => {
            match disguised_declaration(reader, id) {
                Some(declaration) => StmtKind::Declare(vec![declaration]),
                None => StmtKind::Expr(expression(reader, id)),
            }
        }
        _ => StmtKind::Expr(expression(reader, id)),
    }
}

/// `float (&row)[32] = tile[y];`, which the grammar reads as an assignment to a call's element, and `void (*f)() = g;`, the call
/// of what a call gives.
fn disguised_declaration(reader: &mut Reader, id: Id) -> Option<Declaration> {
    let (target, value) = match reader.kind(id) {
        Kind::AssignmentExpression => {
            let operator = reader.child(id, Field::Operator)?;
            if reader.text(operator) != "=" {
                return None;
            }
            (reader.child(id, Field::Left)?, reader.child(id, Field::Right))
        }
        _ => (id, None),
    };
    let mut sizes = Vec::new();
    let mut call = target;
    while reader.kind(call) == Kind::SubscriptExpression {
        let indices = reader.child(call, Field::Indices)?;
        sizes.push(reader.tree.first(indices)?);
        call = reader.child(call, Field::Argument)?;
    }
    if reader.kind(call) != Kind::CallExpression {
        return None;
    }
    let mut is_function = false;
    if sizes.is_empty() {
        let inner = reader.child(call, Field::Function)?;
        let arguments = reader.child(call, Field::Arguments)?;
        if reader.kind(inner) != Kind::CallExpression || reader.tree.first(arguments).is_some() {
            return None;
        }
        is_function = true;
        call = inner;
    }
    let ty = reader.child(call, Field::Function)?;
    let list = reader.child(call, Field::Arguments)?;
    let mark = reader.tree.first(list)?;
    if reader.kind(mark) != Kind::PointerExpression || reader.tree.children(list).count() != 1 {
        return None;
    }
    let name = reader.child(mark, Field::Argument)?;
    let is_type = match reader.kind(ty) {
        Kind::PrimitiveType | Kind::SizedTypeSpecifier => true,
        Kind::Identifier | Kind::QualifiedIdentifier | Kind::TemplateFunction => {
            !reader.variables.contains(reader.text(name))
        }
        _ => false,
    };
    if !is_type || reader.kind(name) != Kind::Identifier {
        return None;
    }
    if is_function {
        reader.declare(name);
        return Some(Declaration {
            name: reader.name_of(name),
            bindings: Vec::new(),
            ty: Type::plain(TypeKind::Function),
            storage: Storage::default(),
            init: value.map_or(Init::None, |value| Init::Expr(expression(reader, value))),
            span: reader.span(id),
            template: Vec::new(),
            specialises: None,
        });
    }
    let mut declared = match reader.kind(ty) {
        Kind::PrimitiveType | Kind::SizedTypeSpecifier => Type::plain(type_specifier(reader, ty)),
        _ => Type::plain(TypeKind::Named(path(reader, ty))),
    };
    for size in sizes {
        let size = Some(Box::new(expression(reader, size)));
        declared = Type::plain(TypeKind::Array(Box::new(declared), size));
    }
    let declared = match reader.text(mark).starts_with('&') {
        true => TypeKind::Reference(Box::new(declared)),
        false => TypeKind::Pointer(Box::new(declared)),
    };
    reader.declare(name);
    Some(Declaration {
        name: reader.name_of(name),
        bindings: Vec::new(),
        ty: Type::plain(declared),
        storage: Storage::default(),
        init: value.map_or(Init::None, |value| Init::Expr(expression(reader, value))),
        span: reader.span(id),
        template: Vec::new(),
        specialises: None,
    })
}

fn declaration(reader: &mut Reader, id: Id, list: &mut Vec<Stmt>) {
    let span = reader.span(id);
    if reader.kind(id) == Kind::TypeDefinition {
        let (specifiers, all) = typedefs(reader, id);
        let mut all = all.into_iter();
        if let Some(written) = specifiers.written {
            let first = if is_nameless_class(reader, written) { all.next() } else { None };
            defined_type(reader, written, first.map(|(name, _)| name), list);
        }
        list.extend(all.map(|(name, ty)| Stmt { kind: StmtKind::Alias(name, ty), span }));
        return;
    }
    let (specifiers, all) = declared(reader, id, Scope::Block);
    if let Some(written) = specifiers.written {
        defined_type(reader, written, None, list);
    }
    if let [one] = &all[..]
        && let Some(kind) = as_condition(reader, one)
    {
        reader.variables.remove(&*one.name);
        list.push(Stmt { kind: StmtKind::Expr(Expr { kind, span }), span });
        return;
    }
    if !all.is_empty() {
        list.push(Stmt { kind: StmtKind::Declare(all), span });
    }
}

/// `ready && wait(n);` reads like a reference called `wait` to a type called `ready`.
fn as_condition(reader: &Reader, declaration: &Declaration) -> Option<ExprKind> {
    let (TypeKind::Reference(of), Init::Arguments { args, braces: false }) = (&declaration.ty.kind, &declaration.init)
    else {
        return None;
    };
    let TypeKind::Named(path) = &of.kind else { return None };
    let is_variable = matches!(&path.segments[..], [only] if reader.variables.contains(&*only.name));
    if !is_variable || !declaration.ty.is_rvalue || reader.types.contains(&*path.segments[0].name) {
        return None;
    }
    let span = declaration.span;
    let callee = Box::new(Expr { kind: ExprKind::Name(plain_path(declaration.name.clone())), span });
    let call = Expr { kind: ExprKind::Call { callee, args: args.clone() }, span };
    let ready = Expr { kind: ExprKind::Name(path.clone()), span };
    Some(ExprKind::Binary(BinaryOp::And, Box::new(ready), Box::new(call)))
}

/// The class or enum that a type specifier defines, if it does.
/// `named` is what a class without a name goes by.
fn defined_type(reader: &mut Reader, id: Id, named: Option<Name>, list: &mut Vec<Stmt>) {
    let span = reader.span(id);
    let kind = match reader.kind(id) {
        Kind::EnumSpecifier => enumerators(reader, id).map(StmtKind::Enum),
        Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier => match reader.child(id, Field::Body) {
            Some(_) => reader.deeper(id, |reader| {
                let mut class = class(reader, id, Vec::new());
                class.name = named.or(class.name);
                StmtKind::LocalClass(Arc::new(class))
            }),
            None => None,
        },
        _ => None,
    };
    list.extend(kind.map(|kind| Stmt { kind, span }));
}

fn using(reader: &mut Reader, id: Id) -> StmtKind {
    let Some(named) = reader.tree.first(id) else { return StmtKind::Empty };
    let path = path(reader, named);
    match reader.tree.children(id).any(|child| reader.text(child) == "namespace") {
        true => StmtKind::UsingNamespace(path),
        false => StmtKind::UsingName(path),
    }
}

fn namespace_alias(reader: &mut Reader, id: Id) -> Option<StmtKind> {
    let name = reader.child(id, Field::Name)?;
    let target = reader
        .tree
        .children(id)
        .filter(|child| *child != name)
        .find(|child| matches!(reader.kind(*child), Kind::NestedNamespaceSpecifier | Kind::NamespaceIdentifier))?;
    let text = reader.text(target);
    let segments = text.split("::").map(str::trim).filter(|part| !part.is_empty());
    let segments = segments.map(|part| Segment { name: Name::from(part), args: None }).collect();
    let global = reader.between(reader.node(name).end, reader.node(target).start).contains("::");
    Some(StmtKind::NamespaceAlias(plain_name(reader, name), Path { segments, global }))
}

fn case(reader: &mut Reader, id: Id, list: &mut Vec<Stmt>) {
    let value = reader.child(id, Field::Value);
    let first = reader
        .tree
        .children(id)
        .find(|child| reader.kind(*child) != Kind::Token && reader.node(*child).field != Field::Value);
    let end = first.map_or(reader.span(id).end, |first| reader.span(first).start);
    let span = Span { start: reader.span(id).start, end: value.map_or(end, |value| reader.span(value).end) };
    let values = match value {
        None => vec![None],
        Some(value) => case_values(reader, value).into_iter().map(Some).collect(),
    };
    list.extend(values.into_iter().map(|value| Stmt { kind: StmtKind::Case(value), span }));
    for child in reader.tree.children(id) {
        if reader.node(child).field != Field::Value {
            push(reader, child, list);
        }
    }
}

/// Most values that one range of GNU's `case 1 ... 5:` is written out for.
const MOST_CASES: i64 = 1024;

/// One value, or all values of a range between literals; of a range that cannot be counted its two ends.
fn case_values(reader: &mut Reader, id: Id) -> Vec<Expr> {
    let value = expression(reader, id);
    let Some((low, high)) = case_range(&value) else { return vec![value] };
    if let (ExprKind::Int { value: first, ty }, ExprKind::Int { value: last, .. }) = (&low.kind, &high.kind)
        && last.checked_sub(*first).is_some_and(|count| (0..MOST_CASES).contains(&count))
    {
        let ty = *ty;
        return (*first..=*last).map(|value| Expr { kind: ExprKind::Int { value, ty }, span: low.span }).collect();
    }
    vec![low.clone(), high.clone()]
}

/// `1 + case_range_ + 3` stands for `1 ... 3`.
fn case_range(value: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Binary(BinaryOp::Add, left, high) = &value.kind else { return None };
    let ExprKind::Binary(BinaryOp::Add, low, mark) = &left.kind else { return None };
    match &mark.kind {
        ExprKind::Name(path) if &*last_name(path) == "case_range_" => Some((low, high)),
        _ => None,
    }
}

fn field_body(reader: &mut Reader, id: Id) -> Stmt {
    match reader.child(id, Field::Body) {
        Some(statement) => body(reader, statement),
        None => Stmt { kind: StmtKind::Unreadable, span: reader.span(id) },
    }
}

/// The condition of `if`, `while`, `switch`, with the statement before it.
fn condition(reader: &mut Reader, id: Id) -> (Option<Box<Stmt>>, Condition) {
    let Some(clause) = reader.child(id, Field::Condition) else {
        return (None, Condition::Expr(reader.unreadable(id)));
    };
    let init = reader.child(clause, Field::Initializer).map(|init| Box::new(body(reader, init)));
    let value = reader.child(clause, Field::Value);
    let condition = match value {
        Some(value) if reader.kind(value) == Kind::Declaration => match declared(reader, value, Scope::Block).1.pop() {
            Some(declaration) => Condition::Declare(Box::new(declaration)),
            None => Condition::Expr(reader.unreadable(value)),
        },
        Some(value) => Condition::Expr(expression(reader, value)),
        None => Condition::Expr(reader.unreadable(clause)),
    };
    (init, condition)
}

fn if_statement(reader: &mut Reader, id: Id) -> StmtKind {
    let mut arms = Vec::new();
    let mut id = id;
    loop {
        let (init, condition) = condition(reader, id);
        let head = reader.child(id, Field::Condition).map_or(reader.span(id), |clause| reader.span(clause));
        let then = match reader.child(id, Field::Consequence) {
            Some(then) => body(reader, then),
            None => Stmt { kind: StmtKind::Unreadable, span: reader.span(id) },
        };
        arms.push(IfArm {
            is_constexpr: reader.tree.children(id).any(|child| reader.text(child) == "constexpr"),
            init,
            condition,
            then,
            span: Span { start: reader.span(id).start, end: head.end },
        });
        let alternative = reader.child(id, Field::Alternative);
        let Some(inner) = alternative.and_then(|clause| reader.tree.first(clause)) else {
            return StmtKind::If { arms, otherwise: None };
        };
        if reader.kind(inner) != Kind::IfStatement {
            return StmtKind::If { arms, otherwise: Some(Box::new(body(reader, inner))) };
        }
        id = inner;
    }
}

fn while_statement(reader: &mut Reader, id: Id) -> StmtKind {
    let macro_name = reader.from(id);
    let (_, mut condition) = condition(reader, id);
    if !macro_name.starts_with("while") {
        // The repairs read `LOOP(i, n) {` as a loop: all that is known of its condition is what it is made of.
        let end = macro_name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(macro_name.len());
        let name = reader.name(&macro_name[..end]);
        if let Condition::Expr(operands) = condition {
            let span = operands.span;
            let callee = Expr { kind: ExprKind::Name(plain_path(name)), span };
            let kind = ExprKind::Call { callee: Box::new(callee), args: vec![operands] };
            condition = Condition::Expr(Expr { kind, span });
        }
    }
    StmtKind::While { condition, body: Box::new(field_body(reader, id)) }
}

fn for_statement(reader: &mut Reader, id: Id) -> StmtKind {
    let init = reader.child(id, Field::Initializer).map(|init| Box::new(body(reader, init)));
    let condition = match reader.child(id, Field::Condition) {
        Some(condition) if reader.kind(condition) == Kind::Declaration => {
            let declaration = declared(reader, condition, Scope::Block).1.pop();
            declaration.map(|declaration| Condition::Declare(Box::new(declaration)))
        }
        Some(condition) => Some(Condition::Expr(expression(reader, condition))),
        None => None,
    };
    let step = reader.child(id, Field::Update).map(|step| expression(reader, step));
    StmtKind::For { init, condition, step, body: Box::new(field_body(reader, id)) }
}

fn range_for(reader: &mut Reader, id: Id) -> StmtKind {
    let init = reader.child(id, Field::Initializer).map(|init| Box::new(body(reader, init)));
    let specifiers = specifiers(reader, id);
    let declarator = reader.child(id, Field::Declarator);
    let it = unwrap_declarator(reader, specifiers.ty, declarator);
    let range = match reader.child(id, Field::Right) {
        Some(range) => expression(reader, range),
        None => reader.unreadable(id),
    };
    for name in it.name.iter().chain(&it.bindings) {
        reader.declare(*name);
    }
    let variable = Declaration {
        name: it.name.map_or_else(|| Name::from(""), |name| reader.name_of(name)),
        bindings: it.bindings.iter().map(|binding| reader.name_of(*binding)).collect(),
        ty: it.ty,
        storage: specifiers.storage,
        init: Init::None,
        span: declarator.map_or(reader.span(id), |declarator| reader.span(declarator)),
        template: Vec::new(),
        specialises: None,
    };
    StmtKind::RangeFor { init, variable, range, body: Box::new(field_body(reader, id)) }
}

fn try_statement(reader: &mut Reader, id: Id) -> StmtKind {
    let tried = Box::new(field_body(reader, id));
    let mut handlers = Vec::new();
    for clause in reader.tree.children(id) {
        if reader.kind(clause) == Kind::CatchClause {
            handlers.push(handler(reader, clause));
        }
    }
    StmtKind::Try { body: tried, handlers }
}

/// A block that begins with the declaration of what was caught.
fn handler(reader: &mut Reader, clause: Id) -> Stmt {
    let list = reader.child(clause, Field::Parameters);
    let caught = list.and_then(|list| reader.tree.child_of_kind(list, Kind::ParameterDeclaration));
    let mut block = Vec::new();
    if let Some(caught) = caught {
        let param = parameter(reader, caught);
        if let Some(name) = param.name {
            let (storage, span) = (Storage::default(), param.span);
            let declaration = Declaration {
                name,
                bindings: Vec::new(),
                ty: param.ty,
                storage,
                init: Init::None,
                span,
                template: Vec::new(),
                specialises: None,
            };
            block.push(Stmt { kind: StmtKind::Declare(vec![declaration]), span });
        }
    }
    block.push(field_body(reader, clause));
    Stmt { kind: StmtKind::Block(block), span: reader.span(clause) }
}
