//! The verb `graph`: what a picture says, what its readers accept, and that it stays small.

use crate::program::Folder;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

const SCALE: &str = "\
__device__ void fill(float *tile, const float *in, int n) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        tile[k] = in[k];
    }
    __syncthreads();
}

__global__ void scale(const float *in, float *out, int n) {
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    fill(tile, in, n);
    if (i < n && out != nullptr) {
        __syncthreads();
        out[i] = tile[threadIdx.x] * 2; // \"twice\" <&>
    } else if (n == 3) {
        out[0] = 1;
    }
    if (threadIdx.x / 32 == 0) {
        out[1] = 2;
    }
}
";

/// The text of the node whose label holds `text`, attributes and all.
fn node<'a>(dot: &'a str, text: &str) -> &'a str {
    let mut nodes = dot.lines().filter(|line| line.contains("[label=") && !line.contains("->"));
    nodes.rfind(|line| line.contains(text)).unwrap_or_else(|| panic!("no node {text} in\n{dot}"))
}

#[test]
fn a_picture_tells_who_runs_what() {
    let folder = Folder::new("graph-who");
    folder.write("a.cu", SCALE);
    let ran = folder.run(&["graph", "a.cu"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let dot = ran.stdout;
    let (some, warps, all) = ("fillcolor=\"#fdf0d2\"", "fillcolor=\"#def0fa\"", "fillcolor=\"#ffffff\"");
    // The divergent barrier: red, with its rule, in the part that only some threads run.
    let fault = node(&dot, "  13  ■ __syncthreads()\\l  14  out[i]");
    assert!(fault.contains("✗ divergent-branch") && fault.contains(some) && fault.contains("#b3261e"), "{fault}");
    // The clean one, in a helper: green, where all are.
    let clean = node(&dot, "in fill\\l   5  ■ __syncthreads()");
    assert!(clean.contains(all) && clean.contains("#2e7d4f") && clean.contains("threads part here"), "{clean}");
    // A loop of the helper that each thread leaves when it likes, and a branch for whole warps, though no barrier hangs on them.
    assert!(node(&dot, "2  k < n").contains("threads part here"), "{dot}");
    assert!(node(&dot, "3  tile[k] = in[k]").contains(some), "{dot}");
    assert!(node(&dot, "18  threadIdx.x / 32 == 0").contains("warps part here"), "{dot}");
    assert!(node(&dot, "19  out[1] = 2").contains(warps), "{dot}");
    // How it gets into the helper, and back to the loop's head.
    assert!(node(&dot, "11  fill(tile, in, n)").contains("in fill"), "{dot}");
    assert!(dot.contains("[style=dashed]") && dot.contains("[label=\"yes\"]"), "{dot}");
}

#[test]
fn graphviz_reads_it() {
    let folder = Folder::new("graph-dot");
    folder.write("a.cu", SCALE.replace("scale", "größe"));
    let dot = folder.run(&["graph", "a.cu", "--format", "dot"]).stdout;
    let Ok(mut child) =
        Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    else {
        eprintln!("Graphviz is not installed; nothing tested");
        return;
    };
    std::io::Write::write_all(&mut child.stdin.take().expect("it is piped"), dot.as_bytes()).expect("dot reads");
    let output = child.wait_with_output().expect("dot ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plain = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_edge = |line: &&str| line.contains(" -> ");
    let is_node = |line: &&str| line.starts_with("  n") && line.contains("[label=") && !is_edge(line);
    let drawn = |what: &str| plain.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!(drawn("node "), dot.lines().filter(is_node).count(), "{plain}");
    assert_eq!(drawn("edge "), dot.lines().filter(is_edge).count(), "{plain}");
}

#[test]
fn svg_stands_alone_and_is_well_formed() {
    let folder = Folder::new("graph-svg");
    folder.write("a.cu", SCALE);
    let told = folder.run(&["graph", "a.cu", "-o", "a.svg"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{}", told.stderr);
    let svg = folder.read("a.svg");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
    for part in ["<title>", "<style>", "prefers-color-scheme: dark", "__syncthreads()", "divergent-branch"] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    assert!(!svg.contains("http://") || svg.matches("http").count() == 1, "nothing from elsewhere: {svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("an open tag: {tag}"));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn mermaid_has_nothing_that_it_would_read_as_its_own() {
    let folder = Folder::new("graph-mermaid");
    folder.write("a.cu", SCALE);
    let text = folder.run(&["graph", "a.cu", "--format", "mermaid"]).stdout;
    assert!(text.starts_with("---\ntitle: \"scale\"\n---\nflowchart TD\n"), "{text}");
    assert!(text.contains("  n0([\"scale\"]):::block\n") && text.contains("]:::fault\n"), "{text}");
    for line in text.lines().filter(|line| line.contains("[\"")) {
        let label = line.split_once("[\"").and_then(|(_, rest)| rest.rsplit_once("\"]")).expect("a label").0;
        let plain = label.replace("<br/>", "");
        assert!(!plain.contains(['"', '<', '>', '[', ']', '{', '}', '|', '`', '_', '*', '&', '\\']), "{label}");
        assert!(plain.matches('#').count() <= plain.matches(';').count(), "{label}");
    }
    assert!(text.contains("i #60; n #38;#38; out #33;= nullptr"), "{text}");
}

#[test]
fn kernels_go_by_name() {
    let folder = Folder::new("graph-names");
    folder.write("one.cu", SCALE);
    folder.write(
        "two.cu",
        "namespace a { __global__ void first(int *v) { v[0] = 1; } }\n\
         __global__ void first(int *v) { __syncthreads(); }\n\
         __global__ void second(int *v) { if (threadIdx.x < 2) __syncthreads(); }\n\
         __global__ void declared(int *v);\n",
    );
    folder.write("none.cu", "__device__ int two() { return 2; }\n");
    folder.write("waits.cuh", "__device__ void pause() {\n    __syncthreads();\n}\n");
    let unknown = folder.run(&["graph", "one.cu", "--kernel", "scael"]);
    assert_eq!(unknown.code, 2);
    assert_eq!(unknown.stderr, "error: one.cu holds no kernel `scael`; did you mean `scale`?\n  scale:8\n");
    let several = folder.run(&["graph", "two.cu"]);
    assert_eq!(several.code, 2);
    assert_eq!(
        several.stderr,
        "error: two.cu holds 3 functions; choose one with --kernel\n  a::first:1\n  first:2\n  second:3\n"
    );
    // A name of several: the first, and that there are more. With its scope or its line it is one.
    let first = folder.run(&["graph", "two.cu", "--kernel", "first"]);
    assert_eq!(
        (first.code, first.stderr.as_str()),
        (0, "synclint: 2 functions are called so, on lines 1, 2; this is `a::first:1`\n")
    );
    for (name, text) in [("a::first", "v[0] = 1"), ("first:2", "__syncthreads"), ("second", "divergent-branch")] {
        let ran = folder.run(&["graph", "two.cu", "--kernel", name]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains(text), "{name}: {}", ran.stdout);
    }
    // A device function that nobody calls is analysed, so it can be drawn.
    let device = folder.run(&["graph", "waits.cuh"]);
    assert!(device.code == 0 && device.stdout.contains("pause"), "{}{}", device.stdout, device.stderr);
    assert_eq!(folder.run(&["graph", "none.cu"]).stderr, "error: none.cu holds no kernel\n");
    assert_eq!(folder.run(&["graph", "missing.cu"]).stderr, "error: missing.cu: no such file or directory\n");
    assert_eq!(folder.run(&["graph", "."]).stderr, "error: . is a folder; name the file that holds the kernel\n");
    assert_eq!(folder.run(&["graph"]).code, 2);
}

#[test]
fn pictures_stay_small() {
    let folder = Folder::new("graph-huge");
    // Thousands of blocks, of which two decide the only barrier.
    let mut body = String::new();
    for index in 0..1000 {
        let _ = writeln!(body, "    if (n == {index}) v[{index}] = n;");
    }
    let kernel = format!(
        "__global__ void k(int *v, int n) {{\n{body}    if (n > 9) {{\n        if (threadIdx.x < 7)\n            __syncthreads();\n    }}\n{body}}}\n"
    );
    folder.write("a.cu", kernel);
    let ran = folder.run(&["graph", "a.cu"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("blocks only what decides its barriers"), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 30, "{}", ran.stdout);
    assert!(ran.stdout.contains("✗ divergent-branch") && ran.stdout.contains("n > 9"), "{}", ran.stdout);
    // Where too much decides barriers it says so.
    let body = body.replace("v[", "__syncthreads(), v[");
    folder.write("a.cu", format!("__global__ void k(int *v, int n) {{\n{}}}\n", &body[..body.len() / 3]));
    let ran = folder.run(&["graph", "a.cu", "--format", "svg"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.ends_with("too large for a picture\n") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
}

#[test]
fn the_page_shows_the_graph_once_for_each_kernel() {
    let folder = Folder::new("graph-page");
    folder.write("a.cu", SCALE.replace("        out[i] = tile", "        __syncthreads();\n        out[i] = tile"));
    folder.run(&["a.cu", "--output", "html=a.html"]);
    let page = folder.read("a.html");
    assert_eq!(page.matches("<svg ").count(), 1, "{page}");
    assert_eq!(page.matches("Control flow of <code>scale</code>").count(), 2, "{page}");
    assert!(page.contains("only some threads") && page.contains(".chart .node"), "{page}");
    assert!(!page.contains("<script") && !page.contains("src="), "{page}");
}

/// The name of the output file says what is written; one that says nothing known is an error that names what is.
#[test]
fn the_format_follows_the_ending() {
    let folder = Folder::new("graph-ending");
    folder.write("a.cu", SCALE);
    for (name, begin, end) in [
        ("a.svg", "<svg ", "</svg>\n"),
        ("a.dot", "digraph ", "}\n"),
        ("a.GV", "digraph ", "}\n"),
        ("plain", "digraph ", "}\n"),
        ("a.mmd", "---\ntitle: ", "\n"),
        ("a.mermaid", "---\ntitle: ", "\n"),
        ("a.md", "```mermaid\n---\ntitle: ", "\n```\n"),
    ] {
        let ran = folder.run(&["graph", "a.cu", "-o", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{name}: {}", ran.stderr);
        let text = folder.read(name);
        assert!(text.starts_with(begin) && text.ends_with(end), "{name}: {text}");
    }
    let unknown = folder.run(&["graph", "a.cu", "-o", "a.png"]);
    assert_eq!((unknown.code, unknown.stderr.lines().count()), (2, 1), "{}", unknown.stderr);
    for part in ["`.png`", ".svg", ".dot", ".gv", ".mmd", ".mermaid", ".md", "--format"] {
        assert!(unknown.stderr.contains(part), "{part}: {}", unknown.stderr);
    }
    assert!(!folder.path().join("a.png").exists());
    let told = folder.run(&["graph", "a.cu", "--format", "svg", "-o", "a.txt"]);
    assert!(told.code == 0 && folder.read("a.txt").starts_with("<svg "), "{}", told.stderr);
}

/// Why a file has no kernel to draw is the true reason.
#[test]
fn a_file_that_is_not_read_has_its_reason() {
    let folder = Folder::new("graph-unread");
    folder.write("data.cu", [0u8; 64]);
    folder.write("out.cu", SCALE);
    folder.write("synclint.toml", "exclude = [\"out.cu\"]\n");
    for arguments in [vec!["graph", "data.cu"], vec!["why", "data.cu:1"]] {
        let ran = folder.run(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, "error: data.cu: binary data\n"));
    }
    let out = folder.run(&["graph", "out.cu", "--force-exclude"]);
    assert_eq!((out.code, out.stderr.as_str()), (2, "error: out.cu: it is excluded by the settings\n"));
}

/// The arrows of a picture stay inside it, those that turn back included, and run right beside what they pass.
#[test]
fn ways_back_stay_in_the_picture() {
    let folder = Folder::new("graph-back");
    folder.write(
        "a.cu",
        "__global__ void once(int *v, int n) {\n    do { v[threadIdx.x] += n; __syncthreads(); } while (v[0] < n);\n}\n\
         __global__ void nested(int *v, int n) {\n    for (int i = 0; i < n; ++i) {\n        for (int j = 0; j < n; ++j) {\n            \
         if (v[i] > j) { v[j] = 3; __syncthreads(); } else { v[i + j * 4] = v[i * 1024 + j * 32 + n] * v[j * 1024 + i * 32 + n]; }\n        }\n        \
         while (threadIdx.x < v[i]) { __syncthreads(); }\n    }\n}\n\
         __global__ void last(int *v) {\n    for (;;) {\n        __syncthreads();\n        if (threadIdx.x < 3) v[0] = 1;\n    }\n}\n",
    );
    folder.run(&["a.cu", "--output", "html=a.html"]);
    let page = folder.read("a.html");
    let mut seen = 0;
    for picture in page.split("<svg ").skip(1).map(|rest| rest.split("</svg>").next().unwrap_or_default()) {
        check_ways(picture);
        seen += 1;
    }
    assert!(seen >= 2, "{seen}");
    for kernel in ["once", "nested", "last"] {
        let svg = folder.run(&["graph", "a.cu", "--kernel", kernel, "--format", "svg"]).stdout;
        check_ways(&svg);
    }
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|it: char| !(it.is_ascii_digit() || ".-".contains(it))).filter_map(|it| it.parse().ok()).collect()
}

fn check_ways(svg: &str) {
    let attribute = |text: &str, name: &str| -> f64 {
        let rest = text.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("{name} in {text}"));
        rest.split('"').next().and_then(|it| it.parse().ok()).expect("a number")
    };
    let (width, height) = (attribute(svg, "width"), attribute(svg, "height"));
    let shift = numbers(svg.split("translate(").nth(1).and_then(|it| it.split(')').next()).expect("a group"));
    let rects = svg.split("<rect x=").skip(1).map(|rest| format!(" x={}", rest.split('>').next().unwrap_or_default()));
    let nodes: Vec<String> = rects.filter(|rect| rect.contains("rx=")).collect();
    let right = nodes.iter().map(|rect| attribute(rect, "x") + attribute(rect, "width")).fold(0.0, f64::max);
    let ways: Vec<&str> = svg.split("<path class=\"way").skip(1).collect();
    assert!(!ways.is_empty());
    for way in ways {
        let path = way.split(" d=\"").nth(1).and_then(|it| it.split('"').next()).expect("a path");
        let (mut x, mut y) = (0.0, 0.0);
        for (at, _) in path.match_indices(['M', 'V', 'C']) {
            let rest = &path[at + 1..];
            let values = numbers(rest.split(['M', 'V', 'C']).next().unwrap_or_default());
            let points: Vec<(f64, f64)> = match &path[at..=at] {
                "M" => vec![(values[0], values[1])],
                "V" => vec![(x, values[0])],
                _ => (1..=8)
                    .map(|step| {
                        let (t, u) = (f64::from(step) / 8.0, 1.0 - f64::from(step) / 8.0);
                        let at = |a: f64, b: f64, c: f64, d: f64| {
                            u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
                        };
                        (at(x, values[0], values[2], values[4]), at(y, values[1], values[3], values[5]))
                    })
                    .collect(),
            };
            for (px, py) in &points {
                let (px, py) = (px + shift[0], py + shift[1]);
                assert!(
                    (1.0..width - 1.0).contains(&px) && (1.0..height - 1.0).contains(&py),
                    "({px}, {py}) of {width} x {height}: {path}"
                );
                assert!(px <= right + shift[0] + 60.0, "far away at {px}: {path}");
            }
            (x, y) = points.last().copied().unwrap_or((x, y));
        }
    }
}
