//! What lowering makes of C++ that grammars get wrong, as dumps: one line a statement.

use super::*;

/// The statements of a body, as lines without indentation.
fn lowered(body: &str) -> Vec<String> {
    let function = function(&mut Parser::new(), &format!("void f() {{ {body} }}"));
    assert_eq!(function.unreadable, None, "{body}");
    dump(&function).lines().skip(2).map(|line| line.trim().to_string()).collect()
}

#[track_caller]
fn check(body: &str, lines: &[&str]) {
    assert_eq!(lowered(body), lines, "{body}");
}

#[test]
fn comparisons_that_read_like_template_arguments() {
    check(
        "for (int i = 0; i < n && j > (m); i++) ;",
        &["init", "declare int i = 0", "for (And (Lt i n) (Gt j m)) ; (post+1 i)", "empty"],
    );
    check("bool q = a.x < n || i > (m); i = 1;", &["declare bool q = (Or (Lt (. a x) n) (Gt i m))", "(= i 1)"]);
    check(
        "int a, b, c; g(a < b, c > (1));",
        &["declare int a", "declare int b", "declare int c", "(call g (Lt a b) (Gt c 1))"],
    );
    check("x = size<0>(t) < size<1>(t);", &["(= x (Lt (call size<0> t) (call size<1> t)))"]);
    check("reduce<float, 32>(x);", &["(call reduce<type float, 32> x)"]);
}

#[test]
fn variables_that_read_like_functions() {
    check("Tile t(store);", &["declare Tile t (store)"]);
    check("Tile t(f(x), y[i], a * b, c::d);", &["declare Tile t ((call f x) (index y i) (Mul a b) c::d)"]);
    check("Tile t(const Store &s);", &["declare function t"]);
    check("Tile t();", &["declare function t"]);
    check("int a(b), *c(d), e{f};", &["declare int a (b)", "declare int* c (d)", "declare int e {f}"]);
    check("extern int g(int);", &["declare extern function g"]);
}

#[test]
fn declarations_that_read_like_expressions() {
    check("float (&row)[32] = tile[y];", &["declare [32 x float]& row = (index tile y)"]);
    check("T (*p)[2][4] = q;", &["declare [2 x [4 x T]]* p = q"]);
    check("T q; f(&q)[3] = 1;", &["declare T q", "(= (index (call f (AddressOf q)) 3) 1)"]);
    check("void (A::*m)(int) = g;", &["declare function m = g"]);
}

#[test]
fn declarators() {
    check("int a = 1, *b, c[4][2];", &["declare int a = 1", "declare int* b", "declare [4 x [2 x int]] c"]);
    check("const float *const __restrict__ p = q;", &["declare float const* const restrict p = q"]);
    check("void (*f)(int) = g;", &["declare function f = g"]);
    check("typedef void (*Step)(int *); using U = typename T::V;", &["alias Step = function", "alias U = T::V"]);
    check("long unsigned int x; unsigned char y;", &["declare unsigned long x", "declare unsigned char y"]);
    check("auto [a, b] = p; const auto &[c, d] = q;", &["declare auto [a b] = p", "declare auto const& [c d] = q"]);
    check("struct { int a; } s;", &["class (unnamed at 11) :", "member int a", "declare (unnamed at 11) s"]);
}

#[test]
fn storage_of_cuda() {
    check("__declspec(__shared__) float s[4];", &["declare shared [4 x float] s"]);
    check("extern __declspec(__shared__) char b[];", &["declare shared extern [ x char] b"]);
    check("static const __declspec(__constant__) int k = 3;", &["declare constant static int const k = 3"]);
}

#[test]
fn launches() {
    check("k<T, 3>(\"<<<\", grid, dim3(1, 2), 0, s)(a, b);", &["(launch k<T?, 3> <grid (call dim3 1 2) 0 s> a b)"]);
    check("k(\"<<<\", 1, 2)();", &["(launch k <1 2> )"]);
}

#[test]
fn branches_and_loops() {
    check(
        "if (a) b; else if (int c = d()) e; else { f; }",
        &["if a", "b", "else-if declare int c = (call d )", "e", "else", "block", "f"],
    );
    check(
        "if (auto i = f(); i > 1) g; if constexpr (N > 2) h;",
        &["init", "declare auto i = (call f )", "if (Gt i 1)", "g", "if constexpr (Gt N 2)", "h"],
    );
    check(
        "do x--; while (x); while (T *p = next()) ;",
        &["do", "(post-1 x)", "while x", "while declare T* p = (call next )", "empty"],
    );
    check("for (auto &e : v) e = 1;", &["for-each auto& e in v", "(= e 1)"]);
    check(
        "LOOP_OVER(i, n) { x; } UNROLL for (;;) ;",
        &["while (call LOOP_OVER (, i n))", "block", "x", "for  ;", "empty"],
    );
    check(
        "try { x; } catch (const E &e) { y; } catch (...) { z; }",
        &["try", "block", "x", "catch", "block", "declare E const& e", "block", "y", "block", "block", "z"],
    );
}

#[test]
fn labels_and_cases() {
    check(
        "switch (x) { case 1: case 2: a; break; default: { b; } }",
        &["switch x", "block", "case 1", "case 2", "a", "break", "default", "block", "b"],
    );
    check(
        "switch (n % 2) { case 0: do { a; case 1: b; } while (--n); }",
        &["switch (Rem n 2)", "block", "case 0", "do", "block", "a", "case 1", "b", "while (pre-1 n)"],
    );
    check("switch (x) { case 1 + case_range_ + 3: a; }", &["switch x", "block", "case 1", "case 2", "case 3", "a"]);
    check("goto end; one: two: x; end: ;", &["goto end", "label one", "label two", "x", "label end", "empty"]);
    check("goto end; end:", &["goto end", "label end", "empty"]);
}

#[test]
fn lambdas() {
    check(
        "auto l = [&, x, this, y = 2]<class U>(int i, auto... v) mutable -> T { return i; };",
        &[
            "declare auto l = (lambda [& x &this y=2])",
            "function lambda <type U> (int i, auto... v) -> T",
            "block",
            "return i",
        ],
    );
    check("[=] { g(); }();", &["(call (lambda [=]) )", "function lambda () -> auto", "block", "(call g )"]);
}

#[test]
fn inline_assembly() {
    check(
        r#"asm volatile("{ .reg .pred p;\n" "bar.sync %[id], %1; }" : "=r"(a) : "r"(b), [id] "n"(3) : "memory");"#,
        &[r#"(asm "{ .reg .pred p;\nbar.sync %2, %1; }" out "=r" a in "r" b, "n" 3)"#],
    );
    check(r#"asm("mov.u32 %0, %%laneid;" : "=r"(lane));"#, &[r#"(asm "mov.u32 %0, %laneid;" out "=r" lane in )"#]);
}

#[test]
fn casts_and_constructions() {
    check(
        "x = (float)y + float(z) + static_cast<int>(w);",
        &["(= x (Add (Add (cast float y) (cast float z)) (cast int w)))"],
    );
    check("x = (size_t)-1; x = (uint32_t)*p;", &["(= x (cast size_t -1))", "(= x (cast uint32_t (Deref p)))"]);
    check(
        "using T = int; x = (T)&y; x = (T)(y);",
        &["alias T = int", "(= x (cast T (AddressOf y)))", "(= x (cast T y))"],
    );
    check("f(T{1, 2}, dim3(1), float4{a, b});", &["(call f (construct T 1 2) (call dim3 1) (construct float4 a b))"]);
    check(
        "auto s = S{1, .x = 2}; int a[] = {1, [3] = 4};",
        &["declare auto s = (construct S {1 .x=2})", "declare [ x int] a = {1 4}"],
    );
    check(
        "p = new (q) T(a); p = new T[n]; delete[] p;",
        &["(= p (call new<type T> q a))", "(= p (construct [n x T] ))", "(call delete p)"],
    );
    check(
        "x = sizeof(T) + sizeof(float[4]) + alignof(T);",
        &["(= x (Add (Add (unevaluated T) (unevaluated [4 x float])) alignment_of_v<type T>))"],
    );
}

#[test]
fn template_argument_kinds() {
    check(
        "g<T, int, N + 1, is_x_v<U>, A<B>, Ts...>();",
        &["(call g<T?, type int, (Add N 1), is_x_v<U?>, type A<B?>, Ts?...> )"],
    );
    check(
        "a.template f<3>(1); this->operator__(2); ::h<T>::v();",
        &["(call (. a f<3>) 1)", "(call (-> this operator()) 2)", "(call ::h<T?>::v )"],
    );
    let args = template_args(&mut Parser::new(), "float, 32 * 4, T");
    assert!(matches!(&args[..], [TemplateArg::Type(_), TemplateArg::Expr(_), TemplateArg::Either(..)]), "{args:?}");
}

#[test]
fn folds_and_packs() {
    check(
        "x = (args + ...); (f(args), ...); g(args...);",
        &["(= x (fold Add args))", "(expand (call f args))", "(call g (expand args))"],
    );
}

#[test]
fn heads() {
    let text = "template <class T, int N = 4, class... Ts> auto f(const T *__restrict__ a, int (&b)[N], Ts... ts, float = 1.f) -> T { }";
    let dumped = dump(&function(&mut Parser::new(), text));
    let head =
        "function f <type T, int N = 4, type ...Ts> (T const* restrict a, [N x int]& b, Ts... ts, float _ = 1.0f) -> T";
    assert_eq!(dumped.lines().next(), Some(head));
    let text = "template <class T> Tile(int n, Enable * = nullptr) : Base<T>(n), rows{n, 1} { }";
    let dumped = dump(&function(&mut Parser::new(), text));
    let lines: Vec<&str> = dumped.lines().map(str::trim).collect();
    assert_eq!(lines[1..3], ["initialise Base<T?> n", "initialise rows n 1"], "{dumped}");
}

#[test]
fn classes() {
    let text = "template <class T> struct Tile<T, 2> : Base<T>, Other { using V = T; enum { A, B = 2 }; static constexpr int K = 3; \
                T *data, rows[4]; union { int i; float f; }; void sync(); Tile(int x); int size{1}; };";
    let class = class(&mut Parser::new(), text);
    assert_eq!(class.name.as_deref(), Some("Tile"));
    assert_eq!(class.specialises.map(|args| args.len()), Some(2));
    let members: Vec<&str> = class.members.iter().map(|member| &*member.name).collect();
    assert_eq!(members, ["K", "data", "rows", "i", "f", "size"]);
    assert_eq!((class.bases.len(), class.aliases.len(), class.enumerators.len(), class.methods.len()), (2, 1, 2, 0));
}

#[test]
fn spans_count_in_the_text() {
    let text = "void f() { if (a) x = g(1); }";
    let function = function(&mut Parser::new(), text);
    let StmtKind::Block(list) = &function.body.kind else { panic!("{function:?}") };
    let StmtKind::If { arms, .. } = &list[0].kind else { panic!("{function:?}") };
    let slice = |span: Span| &text[span.start as usize..span.end as usize];
    assert_eq!(slice(arms[0].span), "if (a)");
    assert_eq!(slice(arms[0].then.span), "x = g(1);");
    let value = expression(&mut Parser::new(), "a + 12").expect("an expression");
    assert_eq!(value.span, Span { start: 0, end: 6 });
    assert!(expression(&mut Parser::new(), "a +").is_none());
    assert!(expression(&mut Parser::new(), "1; return 2").is_none());
}

#[test]
fn lost_control_flow_is_reported() {
    for body in ["if (x) } else { y; }", "goto *target;", "MACRO(return;) x;", "switch (x) case 1: y;"] {
        let function = function(&mut Parser::new(), &format!("void f() {{ {body} }}"));
        assert!(function.unreadable.is_some(), "{body}: {}", dump(&function));
    }
    assert!(function(&mut Parser::new(), "void f() { { ").unreadable.is_some());
}

#[test]
fn errors_that_lose_nothing_are_not() {
    for body in ["UNKNOWN(a) if (x) y;", "goto end; end:", "f(int, x); if (a) return;"] {
        lowered(body);
    }
}

#[test]
fn depth_is_bounded() {
    let on_a_large_stack = |text: String| {
        let thread = std::thread::Builder::new().stack_size(4 << 20);
        thread
            .spawn(move || function(&mut Parser::new(), &text).unreadable)
            .expect("a thread")
            .join()
            .expect("no overflow")
    };
    let nested = |open: &str, close: &str, count: usize| {
        format!("void f() {{ {}x;{} }}", open.repeat(count), close.repeat(count))
    };
    assert_eq!(on_a_large_stack(nested("if (a) ", "", MAX_DEPTH / 2)), None);
    for (open, close) in
        [("if (a) ", ""), ("{", "}"), ("[]{", "};"), ("-", ""), ("y = ", ""), ("switch (x) { case 1: ", "}")]
    {
        assert!(on_a_large_stack(nested(open, close, 3_000)).is_some(), "{open}");
    }
    // Chains are no nesting.
    assert_eq!(on_a_large_stack(nested("a + ", "", 3_000)), None);
    assert_eq!(on_a_large_stack(nested("if (a) b; else ", "", 3_000)), None);
}
