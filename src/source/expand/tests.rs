//! What the expander makes of macros, of CUDA's syntax, and of hostile text.

use super::*;
use crate::source::index::{File, Files, Options};
use crate::source::select;
use crate::text::{FileId, Span};

fn files(sources: &[(&str, &str)], options: &Options) -> Files {
    Files::new(
        sources.iter().map(|(path, text)| File::new((*path).into(), text.as_bytes().to_vec())).collect(),
        options,
    )
}

fn expansion(files: &Files, id: u32) -> Expansion {
    let unit = Unit::new(files, FileId(id));
    let selection = select::select(&unit);
    expand(&unit, &selection, 0..files.get(FileId(id)).tokens.len() as u32)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn expanded(source: &str) -> String {
    words(&expansion(&files(&[("a.cu", source)], &Options::default()), 0).expanded.text)
}

#[test]
fn the_standards_examples() {
    let source = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n\
        #define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };";
    assert_eq!(
        expanded(source),
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1); f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1); \
         int i[] = { 1, 23, 4, 5, }; char c[2][6] = { \"hello\", \"\" };"
    );
    let source = "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
        #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);\n#define t(x,y,z) x ## y ## z\n\
        int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };";
    assert_eq!(expanded(source), "char p[] = \"x ## y\"; int j[] = { 123, 45, 67, 89, 10, 11, 12, };");
}

#[test]
fn variadic_macros() {
    let source = "#define log(f, ...) printf(f, ## __VA_ARGS__)\n#define named(f, a...) printf(f, a)\n\
        #define opt(x, ...) g(x __VA_OPT__(, __VA_ARGS__))\nlog(\"a\"); log(\"a\", 1, 2); named(b, 3, 4); opt(1); opt(1, 2, 3);";
    assert_eq!(expanded(source), "printf(\"a\"); printf(\"a\", 1, 2); printf(b, 3, 4); g(1); g(1, 2, 3);");
}

#[test]
fn arguments_across_lines_and_conditionals() {
    assert_eq!(expanded("#define f(a, b) a-b\nf(1\n#if 1\n, 2\n#else\n, 3\n#endif\n)\nf (4,\n5) f"), "1-2 4-5 f");
}

#[test]
fn definitions_count_from_their_line_on_and_only_where_seen() {
    let sources = [
        ("a.cu", "N\n#include \"a.h\"\nN\n#undef N\nN\n#define N 2\nN M"),
        ("a.h", "#define N 1\n"),
        ("b.h", "#define M 3\n"),
    ];
    assert_eq!(words(&expansion(&files(&sources, &Options::default()), 0).expanded.text), "N 1 N 2 M");
    let options = Options {
        defines: vec!["N=7".into(), "F(x)=<x>".into()],
        undefines: vec!["__CUDACC__".into()],
        ..Options::default()
    };
    let files = files(&[("a.cu", "N F(1)\n#ifdef __CUDACC__\ncuda\n#endif")], &options);
    assert_eq!(words(&expansion(&files, 0).expanded.text), "7 <1>");
}

#[test]
fn a_header_sees_what_its_includer_defines_before() {
    let sources = [("a.cu", "#define N 4\n#include \"k.h\"\n#define M 5\n"), ("k.h", "N M")];
    assert_eq!(words(&expansion(&files(&sources, &Options::default()), 1).expanded.text), "4 M");
    let kernel = "#ifndef K_H\n#define K_H\n#ifndef N\n#define N 1\n#endif\n#if N > 3\nN\n#endif\n#endif";
    let sources = [("a.cu", "#define K_H\n#define N 4\n#include \"k.h\"\n"), ("k.h", kernel)];
    assert_eq!(words(&expansion(&files(&sources, &Options::default()), 1).expanded.text), "4");
}

#[test]
fn words_of_cuda_are_never_macros() {
    let source = "#ifdef __host__\n#define __syncthreads() item.barrier()\n#endif\n__syncthreads(); HIP_DYNAMIC_SHARED(float, s)";
    assert_eq!(expanded(source), "__syncthreads(); extern __declspec(__shared__) float s[];");
}

#[test]
fn dead_branches_are_taken_in_a_second_selection_only_where_a_configuration_could() {
    let source = "#ifdef FAST\n__global__ void a();\n#else\nint b;\n#endif\n#if 0\n__global__ void c();\n#endif\n\
        #if __CUDA_ARCH__ < 500\n__global__ void d();\n#endif\n#define SLOW 0\n#if SLOW\n__global__ void e();\n#endif";
    let files = files(&[("a.cu", source)], &Options::default());
    let unit = Unit::new(&files, FileId(0));
    let selection = select::select(&unit);
    let text = |selection: &Selection| -> String {
        selection.tokens().map(|token| String::from_utf8_lossy(files.get(FileId(0)).text(token)).into_owned()).collect()
    };
    assert_eq!(text(&selection), "intb;");
    let flipped = unit.with_forced(select::flips(&unit, &selection, std::iter::empty()));
    assert_eq!(text(&select::select(&flipped)), "__global__voida();");
}

#[test]
fn headers_of_the_nearest_program() {
    let sources = [
        ("all/sort-hip/kernel.cu", "#include \"support/part.h\"\n"),
        ("all/scan-hip/kernel.cu", "#include \"support/part.h\"\n"),
        ("all/tree-hip/kernel.cu", "#include \"support/part.h\"\n"),
        ("all/bfs/support/part.h", ""),
        ("all/scan-cuda/support/part.h", ""),
        ("all/sort-cuda/support/part.h", ""),
    ];
    let files = files(&sources, &Options::default());
    let resolved = |id| files.get(FileId(id)).includes[0].resolved;
    assert_eq!(resolved(0), Some(FileId(5)), "the same program's");
    assert_eq!(resolved(1), Some(FileId(4)), "the same program's");
    assert_eq!(resolved(2), Some(FileId(3)), "the shortest path");
}

#[test]
fn launches_and_attributes() {
    let source = "#define GRID dim3(1, 2)\ntemplate <class T> __global__ void __launch_bounds__(2 * 64, 2) k(T *__restrict__ p, T &__restrict__ r);\n\
        void h() { ns::k<A<B<int>>><<<GRID, b>>>(p, q); (k<1, 2>) << <1, 2 >> >(a); a->*b; c.template f<3>(); c.template f<3>(a); x = a >> 3; }";
    let expansion = expansion(&files(&[("a.cu", source)], &Options::default()), 0);
    assert_eq!(
        words(&expansion.expanded.text),
        "template <class T> void k(T *__restrict__ p, T & r); \
         void h() { ns::k<A<B<int>>>(\"<<<\", dim3(1, 2), b)(p, q);k<1, 2> (\"<<<\", 1, 2 )(a); a .*b; c. f<3>(); c.template f<3>(a); x = a >> 3; }"
    );
    let dropped: Vec<&str> = expansion.dropped.iter().map(|dropped| dropped.text.as_str()).collect();
    assert_eq!(dropped, ["__global__", "__launch_bounds__(2 * 64, 2)", "__restrict__"]);
}

#[test]
fn text_finds_home() {
    let source = "#define SYNC(x) do { x; __syncthreads(); } while (0)\nvoid f() {\n  a(); /* c */ SYNC(b(1));\n}\n";
    let expansion = expansion(&files(&[("a.cu", source)], &Options::default()), 0);
    let home = |word: &str| {
        let start = expansion.expanded.text.find(word).expect("the word is in the text");
        let home = expansion.expanded.home(Span::new(start, start + word.len()));
        (
            &source[home.range.start as usize..home.range.end as usize],
            home.spelled.map(|(range, name)| (range.start as usize, name)),
        )
    };
    assert_eq!(home("a()"), ("a()", None));
    assert_eq!(home("b(1)"), ("b(1)", None));
    assert_eq!(home("__syncthreads()"), ("SYNC(b(1))", Some((source.find("__sync").unwrap_or(0), "SYNC".to_string()))));
}

#[test]
fn hostile_input_ends_in_time() {
    let many = 30_000;
    let mut chain = String::new();
    let mut tower = String::from("#define B0 x x\n");
    let mut backwards = String::new();
    let mut ladder = String::from("#if A\n");
    for index in 0..10_000 {
        chain.push_str(&format!("#define C{index} C{}\n", index + 1));
        backwards.push_str(&format!("#ifdef D{}\n#define D{index} 1\n#endif\n", index + 1));
        ladder.push_str(&format!("#elif E{index}\n__syncthreads();\n"));
        if index < 60 {
            tower.push_str(&format!("#define B{} B{index} B{index}\n", index + 1));
        }
    }
    let sources = [
        format!("{chain}C0"),
        format!("{tower}B60"),
        format!("{backwards}D0"),
        ladder,
        format!("#define F(x) x x\n{}1{}", "F(".repeat(many), ")".repeat(many)),
        format!("#define F(x) x x\n{}", "F(".repeat(many)),
        format!("#define F(x) x\n{}1{}", "F(".repeat(3000), ")".repeat(3000)),
        format!("#if {}1{}\nx\n#endif", "(".repeat(many), ")".repeat(many)),
        format!("#if {}1\nx\n#endif", "!".repeat(many)),
        format!("{}x", "#if 1\n".repeat(many)),
        format!("#define P(x) Q(x##x)\n#define Q(x) R(x##x)\n#define R(x) P(x##x)\n#define S(x) #x\nP(a) S({})", "\"\\\"".repeat(1001)),
        "#define P2(x) x##x\n#define P4(x) P2(x##x)\n#define P8(x) P4(x##x)\n".to_string() + &"P8(aaaaaaaaaaaaaaaa)".repeat(2000),
        "#define f(x) f(x\nf(1) f(2)) f(f(3)".to_string(),
        "#define f(x) defined(x\n#if f(1)\n#endif\n#if defined\n#endif\n#if defined(\n#endif\n#if __has_include(\n#endif".to_string(),
        "#define f(...) __VA_OPT__(\n#define g(...) __VA_OPT__\n#define h ##\n#define i(x) #\nf(1) g(2) h i(3)".to_string(),
        "typename A::".repeat(many).to_string(),
        "decltype(".repeat(many).to_string(),
        "[[a".repeat(many).to_string(),
        "__attribute__((".repeat(many).to_string(),
        "__device__ ".repeat(many).to_string(),
        "k<<<".repeat(many).to_string(),
        "(k<<<1>>>(".repeat(many).to_string(),
        "operator()".repeat(many).to_string(),
        "new A<".repeat(many).to_string(),
        "= {".repeat(many).to_string(),
        "#else\n#endif\n#elif\n#define\n#include\n#include <\n#if\n#ifdef\n#undef\n#".to_string(),
    ];
    let start = std::time::Instant::now();
    for source in &sources {
        let files = files(&[("a.cu", source), ("b.h", "#include \"a.cu\"\n#include \"b.h\"\n")], &Options::default());
        for id in 0..2 {
            let unit = Unit::new(&files, FileId(id));
            let selection = select::select(&unit);
            let length = files.get(FileId(id)).tokens.len();
            for token in (0..length).step_by(length / 10 + 1) {
                unit.marks(token as u32);
            }
            let everything = std::iter::once(0..length as u32);
            select::select(&unit.with_forced(select::flips(&unit, &selection, everything)));
            let text = expand(&unit, &selection, 0..length as u32).expanded.text;
            assert!(text.len() < 40 * source.len() + 4_000_000, "{}", &source[..40]);
        }
        let took = start.elapsed();
        assert!(took.as_secs() < 600, "{took:?} {}", &source[..source.len().min(60)]);
    }
}

#[test]
fn any_order_of_tokens_is_expanded() {
    let vocabulary = [
        "#",
        "##",
        "define",
        "F",
        "G",
        "(",
        ")",
        ",",
        "\n",
        "\n#define F(x, ...) ",
        "\n#define G F",
        "x",
        "__VA_ARGS__",
        "__VA_OPT__",
        "#if ",
        "\n#endif\n",
        "\n#else\n",
        "defined",
        "<<<",
        ">>>",
        "{",
        "}",
        "=",
        "[",
        "[",
        "]",
        "]",
        "operator",
        "typename",
        "::",
        "<",
        ">",
        "decltype",
        "__device__",
        "__shared__",
        "'",
        "\"",
        "\\\n",
        "R\"(",
        "/*",
        "*/",
        "//",
        "1",
        "...",
        "case",
        "new",
        "const",
        "*",
        "é",
        "\u{1}",
        "__syncthreads",
    ];
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for _ in 0..4000 {
        let mut source = String::from("#define F(x, ...) x G(__VA_ARGS__) #x x##x\n");
        for _ in 0..random(60) {
            source.push_str(vocabulary[random(vocabulary.len())]);
            if random(3) == 0 {
                source.push(' ');
            }
        }
        let expansion = expansion(&files(&[("a.cu", &source)], &Options::default()), 0);
        let segments = &expansion.expanded.segments;
        assert!(segments.is_sorted_by(|a, b| a.out < b.out), "{source}");
        for at in 0..expansion.expanded.text.len() {
            expansion.expanded.home(Span::new(at, at + 1));
        }
    }
}

#[test]
fn member_pointers_and_named_conversions() {
    assert_eq!(
        expanded("void (H::*m)() = &H::w; (h.*m)(); int a = y.operator int();"),
        "void (*m)() = &H::w; (h.*m)(); int a = y. operator_as__int();"
    );
}
