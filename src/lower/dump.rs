//! A lowered function as text, for people who debug: statements one a line, expressions as s-expressions.

use crate::program::*;
use std::fmt::Write;

pub fn dump(function: &Function) -> String {
    let mut out = Out { text: String::new(), depth: 0 };
    out.function(function);
    out.text
}

struct Out {
    text: String,
    depth: usize,
}

impl Out {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(self.depth));
    }

    fn function(&mut self, it: &Function) {
        let template: Vec<String> = it.template.iter().map(template_param).collect();
        let params: Vec<String> = it.params.iter().map(param).collect();
        let template = if template.is_empty() { String::new() } else { format!(" <{}>", template.join(", ")) };
        self.line(&format!("function {}{template} ({}) -> {}", it.name, params.join(", "), ty(&it.result)));
        if let Some(span) = it.unreadable {
            self.line(&format!("  unreadable {}..{}", span.start, span.end));
        }
        self.depth += 1;
        for (name, args) in &it.initialisers {
            self.line(&format!("initialise {} {}", path(name), exprs(args)));
        }
        self.stmt(&it.body);
        self.depth -= 1;
    }

    fn stmt(&mut self, it: &Stmt) {
        match &it.kind {
            StmtKind::Block(list) => {
                self.line("block");
                self.inner(list);
            }
            StmtKind::Declare(all) => all.iter().for_each(|it| self.line(&format!("declare {}", declaration(it)))),
            StmtKind::Expr(value) => self.line(&expr(value)),
            StmtKind::If { arms, otherwise } => {
                for (index, arm) in arms.iter().enumerate() {
                    let word = if index == 0 { "if" } else { "else-if" };
                    let constexpr = if arm.is_constexpr { " constexpr" } else { "" };
                    self.init(&arm.init);
                    self.line(&format!("{word}{constexpr} {}", condition(&arm.condition)));
                    self.inner(std::slice::from_ref(&arm.then));
                }
                if let Some(otherwise) = otherwise {
                    self.line("else");
                    self.inner(std::slice::from_ref(otherwise));
                }
            }
            StmtKind::While { condition: on, body } => {
                self.line(&format!("while {}", condition(on)));
                self.inner(std::slice::from_ref(body));
            }
            StmtKind::DoWhile { body, condition } => {
                self.line("do");
                self.inner(std::slice::from_ref(body));
                self.line(&format!("while {}", expr(condition)));
            }
            StmtKind::For { init, condition: on, step, body } => {
                self.init(init);
                let on = on.as_ref().map(condition).unwrap_or_default();
                self.line(&format!("for {on} ; {}", step.as_ref().map(expr).unwrap_or_default()));
                self.inner(std::slice::from_ref(body));
            }
            StmtKind::RangeFor { init, variable, range, body } => {
                self.init(init);
                self.line(&format!("for-each {} in {}", declaration(variable), expr(range)));
                self.inner(std::slice::from_ref(body));
            }
            StmtKind::Switch { init, condition: on, body } => {
                self.init(init);
                self.line(&format!("switch {}", condition(on)));
                self.inner(std::slice::from_ref(body));
            }
            StmtKind::Case(Some(value)) => self.line(&format!("case {}", expr(value))),
            StmtKind::Case(None) => self.line("default"),
            StmtKind::Label(name) => self.line(&format!("label {name}")),
            StmtKind::Goto(name) => self.line(&format!("goto {name}")),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(value) => self.line(&format!("return {}", value.as_ref().map(expr).unwrap_or_default())),
            StmtKind::Asm(it) => self.line(&asm(it)),
            StmtKind::Try { body, handlers } => {
                self.line("try");
                self.inner(std::slice::from_ref(body));
                self.line("catch");
                self.inner(handlers);
            }
            StmtKind::Alias(name, target) => self.line(&format!("alias {name} = {}", ty(target))),
            StmtKind::UsingNamespace(it) => self.line(&format!("using namespace {}", path(it))),
            StmtKind::UsingName(it) => self.line(&format!("using {}", path(it))),
            StmtKind::NamespaceAlias(name, it) => self.line(&format!("namespace {name} = {}", path(it))),
            StmtKind::Enum(all) => self.line(&format!("enum {}", enumerators(all))),
            StmtKind::LocalClass(class) => self.class(class),
            StmtKind::StaticAssert(condition) => self.line(&format!("static assert {}", expr(condition))),
            StmtKind::Empty => self.line("empty"),
            StmtKind::Unreadable => self.line("UNREADABLE"),
        }
        self.lambdas(it);
    }

    fn init(&mut self, init: &Option<Box<Stmt>>) {
        if let Some(init) = init {
            self.line("init");
            self.inner(std::slice::from_ref(init));
        }
    }

    fn inner(&mut self, list: &[Stmt]) {
        self.depth += 1;
        list.iter().for_each(|it| self.stmt(it));
        self.depth -= 1;
    }

    fn class(&mut self, it: &Class) {
        let bases: Vec<String> = it.bases.iter().map(path).collect();
        self.line(&format!("class {} : {}", it.name.as_deref().unwrap_or("?"), bases.join(", ")));
        self.depth += 1;
        it.members.iter().for_each(|member| self.line(&format!("member {}", declaration(member))));
        it.aliases.iter().for_each(|(name, target)| self.line(&format!("alias {name} = {}", ty(target))));
        if !it.enumerators.is_empty() {
            self.line(&format!("enum {}", enumerators(&it.enumerators)));
        }
        it.asserted.iter().for_each(|condition| self.line(&format!("static assert {}", expr(condition))));
        it.methods.iter().for_each(|method| self.function(method));
        self.depth -= 1;
    }

    /// Lambdas stand below the statement that holds them.
    fn lambdas(&mut self, it: &Stmt) {
        let mut found = Vec::new();
        let mut take = |value: &Expr| {
            within(value, &mut |inner| match &inner.kind {
                ExprKind::Lambda(lambda) => found.push(Ok(lambda.clone())),
                ExprKind::Statements(list) => found.push(Err(list.clone())),
                _ => {}
            })
        };
        match &it.kind {
            StmtKind::Expr(value) | StmtKind::Return(Some(value)) => take(value),
            StmtKind::Declare(all) => {
                for declaration in all {
                    match &declaration.init {
                        Init::Expr(value) => take(value),
                        Init::Arguments { args, .. } => args.iter().for_each(&mut take),
                        Init::None => {}
                    }
                }
            }
            _ => {}
        }
        self.depth += 1;
        for inner in found {
            match inner {
                Ok(lambda) => self.function(&lambda.function),
                Err(list) => self.inner(&list),
            }
        }
        self.depth -= 1;
    }
}

/// The expression and those below it, lambdas' bodies apart.
fn within(it: &Expr, take: &mut impl FnMut(&Expr)) {
    take(it);
    match &it.kind {
        ExprKind::Unary(_, a) | ExprKind::Increment { target: a, .. } | ExprKind::Member { object: a, .. } => {
            within(a, take)
        }
        ExprKind::Cast(_, a) | ExprKind::Expansion(a) | ExprKind::Fold(_, a) => within(a, take),
        ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
            within(a, take);
            within(b, take);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|it| within(it, take)),
        ExprKind::Call { callee, args } => {
            within(callee, take);
            args.iter().for_each(|it| within(it, take));
        }
        ExprKind::Launch { config, args, .. } => config.iter().chain(args).for_each(|it| within(it, take)),
        ExprKind::Construct(_, args) => args.iter().for_each(|it| within(it, take)),
        ExprKind::InitList(all) => all.iter().for_each(|(_, it)| within(it, take)),
        _ => {}
    }
}

fn enumerators(all: &[(Name, Option<Expr>)]) -> String {
    let all = all.iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={}", expr(value)),
        None => name.to_string(),
    });
    all.collect::<Vec<_>>().join(" ")
}

fn template_param(it: &TemplateParam) -> String {
    let named = |name: &Option<Name>, pack: bool| {
        format!("{}{}", if pack { "..." } else { "" }, name.as_deref().unwrap_or("_"))
    };
    match it {
        TemplateParam::Type { name, default, pack } => {
            let default = default.as_ref().map(|it| format!(" = {}", ty(it))).unwrap_or_default();
            format!("type {}{default}", named(name, *pack))
        }
        TemplateParam::Value { name, ty: of, default, pack } => {
            let default = default.as_ref().map(|it| format!(" = {}", expr(it))).unwrap_or_default();
            format!("{} {}{default}", ty(of), named(name, *pack))
        }
        TemplateParam::Template { name } => format!("template {}", named(name, false)),
    }
}

fn param(it: &Param) -> String {
    let default = it.default.as_ref().map(|it| format!(" = {}", expr(it))).unwrap_or_default();
    format!("{}{} {}{default}", ty(&it.ty), if it.pack { "..." } else { "" }, it.name.as_deref().unwrap_or("_"))
}

fn declaration(it: &Declaration) -> String {
    let mut words = String::new();
    let Storage { shared, constant, device, is_static, is_extern, is_constexpr } = it.storage;
    for (on, word) in [
        (shared, "shared "),
        (constant, "constant "),
        (device, "device "),
        (is_static, "static "),
        (is_extern, "extern "),
        (is_constexpr, "constexpr "),
    ] {
        if on {
            words.push_str(word);
        }
    }
    let name = if it.bindings.is_empty() { it.name.to_string() } else { format!("[{}]", it.bindings.join(" ")) };
    let init = match &it.init {
        Init::None => String::new(),
        Init::Expr(value) => format!(" = {}", expr(value)),
        Init::Arguments { args, braces: true } => format!(" {{{}}}", exprs(args)),
        Init::Arguments { args, braces: false } => format!(" ({})", exprs(args)),
    };
    format!("{words}{} {name}{init}", ty(&it.ty))
}

fn condition(it: &Condition) -> String {
    match it {
        Condition::Expr(value) => expr(value),
        Condition::Declare(it) => format!("declare {}", declaration(it)),
    }
}

fn ty(it: &Type) -> String {
    let mut text = match &it.kind {
        TypeKind::Named(name) => path(name),
        TypeKind::Auto => "auto".to_string(),
        TypeKind::Decltype(of) => format!("decltype({})", expr(of)),
        TypeKind::Pointer(to) => format!("{}*", ty(to)),
        TypeKind::Reference(to) => format!("{}&", ty(to)),
        TypeKind::Array(of, size) => format!("[{} x {}]", size.as_ref().map(|it| expr(it)).unwrap_or_default(), ty(of)),
        TypeKind::Function => "function".to_string(),
        TypeKind::Unknown => "?".to_string(),
    };
    for (on, word) in [(it.is_const, " const"), (it.is_volatile, " volatile"), (it.restrict, " restrict")] {
        if on {
            text.push_str(word);
        }
    }
    text
}

fn path(it: &Path) -> String {
    let segments = it.segments.iter().map(|segment| match &segment.args {
        None => segment.name.to_string(),
        Some(args) => format!("{}<{}>", segment.name, args.iter().map(template_arg).collect::<Vec<_>>().join(", ")),
    });
    format!("{}{}", if it.global { "::" } else { "" }, segments.collect::<Vec<_>>().join("::"))
}

fn template_arg(it: &TemplateArg) -> String {
    match it {
        TemplateArg::Type(it) => format!("type {}", ty(it)),
        TemplateArg::Expr(it) => expr(it),
        TemplateArg::Either(it, _) => format!("{}?", ty(it)),
        TemplateArg::Pack(it) => format!("{}...", template_arg(it)),
    }
}

fn asm(it: &Asm) -> String {
    let operands = |all: &[(String, Expr)]| {
        all.iter().map(|(constraint, value)| format!("{constraint:?} {}", expr(value))).collect::<Vec<_>>().join(", ")
    };
    format!("(asm {:?} out {} in {})", it.text, operands(&it.outputs), operands(&it.inputs))
}

fn exprs(all: &[Expr]) -> String {
    all.iter().map(expr).collect::<Vec<_>>().join(" ")
}

fn expr(it: &Expr) -> String {
    match &it.kind {
        ExprKind::Int { value, ty } => {
            let suffix = match ty {
                IntType::Bool | IntType::Char | IntType::Int => "",
                IntType::Unsigned => "u",
                IntType::Long => "l",
                IntType::UnsignedLong => "ul",
            };
            format!("{value}{suffix}")
        }
        ExprKind::Float { value, bits } => format!("{value:?}{}", if *bits == 32 { "f" } else { "" }),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Null => "null".to_string(),
        ExprKind::This => "this".to_string(),
        ExprKind::Name(name) => path(name),
        ExprKind::Unary(op, value) => format!("({op:?} {})", expr(value)),
        ExprKind::Binary(op, left, right) => format!("({op:?} {} {})", expr(left), expr(right)),
        ExprKind::Assign(None, left, right) => format!("(= {} {})", expr(left), expr(right)),
        ExprKind::Assign(Some(op), left, right) => format!("(={op:?} {} {})", expr(left), expr(right)),
        ExprKind::Increment { by, prefix, target } => {
            format!("({}{by:+} {})", if *prefix { "pre" } else { "post" }, expr(target))
        }
        ExprKind::Conditional(on, yes, no) => format!("(? {} {} {})", expr(on), expr(yes), expr(no)),
        ExprKind::Comma(left, right) => format!("(, {} {})", expr(left), expr(right)),
        ExprKind::Call { callee, args } => format!("(call {} {})", expr(callee), exprs(args)),
        ExprKind::Launch { callee, config, args } => {
            format!("(launch {} <{}> {})", expr(callee), exprs(config), exprs(args))
        }
        ExprKind::Member { object, arrow, member } => {
            format!("({} {} {})", if *arrow { "->" } else { "." }, expr(object), path(member))
        }
        ExprKind::Index(array, index) => format!("(index {} {})", expr(array), expr(index)),
        ExprKind::Cast(to, value) => format!("(cast {} {})", ty(to), expr(value)),
        ExprKind::Construct(of, args) => format!("(construct {} {})", ty(of), exprs(args)),
        ExprKind::InitList(all) => {
            let all = all.iter().map(|(name, value)| match name {
                Some(name) => format!(".{name}={}", expr(value)),
                None => expr(value),
            });
            format!("{{{}}}", all.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Lambda(lambda) => {
            let mut captures: Vec<String> = lambda.default_capture.iter().map(|it| capture(*it, "")).collect();
            captures.extend(lambda.captures.iter().map(|(name, how, value)| {
                format!(
                    "{}{}",
                    capture(*how, name),
                    value.as_ref().map(|it| format!("={}", expr(it))).unwrap_or_default()
                )
            }));
            format!("(lambda [{}])", captures.join(" "))
        }
        ExprKind::Statements(list) => format!("(statements {})", list.len()),
        ExprKind::Expansion(value) => format!("(expand {})", expr(value)),
        ExprKind::Fold(op, value) => format!("(fold {op:?} {})", expr(value)),
        ExprKind::PackSize(pack) => format!("(sizeof... {pack})"),
        ExprKind::Unevaluated(of) => {
            format!("(unevaluated {})", of.as_ref().as_ref().map(ty).unwrap_or_default())
        }
        ExprKind::Requires(of) => format!("(requires {})", of.asks.len()),
        ExprKind::Asm(it) => asm(it),
        ExprKind::Unreadable => "UNREADABLE".to_string(),
    }
}

fn capture(how: Capture, name: &str) -> String {
    match how {
        Capture::ByValue if name.is_empty() => "=".to_string(),
        Capture::ByValue => name.to_string(),
        Capture::ByReference => format!("&{name}"),
    }
}
