//! `synclint.toml`: where it is found, what is wrong in it and where, what it changes.

use crate::program::Folder;
use crate::sample;
use std::path::Path;
use synclint::baseline::Baseline;
use synclint::finding::Severity;
use synclint::session;
use synclint::settings::{self, Repository, Settings};

fn parse(text: &str) -> Settings {
    Settings::parse(text, Path::new("synclint.toml")).unwrap_or_else(|error| panic!("{}", error.message))
}

/// Rule and level of what is reported under these settings.
fn reported(text: &str) -> Vec<(&'static str, Severity)> {
    let mut outcome = sample::outcome();
    let repository = Repository::of(Path::new(""), None);
    let conclusion = session::conclude(&mut outcome, &parse(text), None, &Baseline::default(), &repository);
    conclusion.findings.iter().map(|it| (it.finding.rule.name, it.finding.severity)).collect()
}

#[test]
fn the_schema_is_as_stored() {
    crate::assert_generated("synclint.schema.json", &settings::schema());
}

#[test]
fn the_starter_is_valid_and_so_is_every_example_in_it() {
    let schema: serde_json::Value = serde_json::from_str(&settings::schema()).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    // An example is a comment that has the form of a line of TOML.
    let is_example = |line: &str| {
        let text = line.trim_start_matches("# ");
        text.starts_with('[') || text.split_once(" = ").is_some_and(|(key, _)| !key.trim_matches('"').contains(' '))
    };
    let uncommented: Vec<&str> = settings::starter()
        .lines()
        .filter(|line| line.starts_with("# ") && is_example(line))
        .map(|line| &line[2..])
        .collect();
    assert!(uncommented.len() > 15, "{uncommented:?}");
    for text in [settings::starter().to_string(), uncommented.join("\n")] {
        parse(&text);
        let value: serde_json::Value = toml::from_str(&text).expect("it is TOML");
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
}

#[test]
fn what_is_in_force_reads_as_settings() {
    let text = "exclude = [\"build/\"]\nexited-threads = \"may-exit\"\n[rules]\nwarp-mask = \"warning\"\n\
        [per-file]\n\"tests/**\" = { divergent-exit = \"off\" }\n[kernel.reduce]\nblock = [256, 1, 1]\n\
        [[barrier]]\nnames = [\"blockSync\"]\ngroup = \"block\"\n";
    let shown = parse(text).to_toml();
    assert_eq!(parse(&shown).to_toml(), shown);
    for part in ["may-exit", "256", "blockSync", "tests/**", "build/"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn levels_change_and_keep_their_distance() {
    let at =
        |text: &str, name: &str| reported(text).into_iter().find(|(rule, _)| *rule == name).map(|(_, level)| level);
    assert_eq!(at("", "divergent-branch"), Some(Severity::Error));
    assert_eq!(at("[rules]\ndivergent-branch = \"warning\"", "divergent-branch"), Some(Severity::Warning));
    assert_eq!(at("[rules]\ndivergent-branch = \"off\"", "divergent-branch"), None);
    // The analysis was less sure of this one: a warning of a rule that is an error.
    assert_eq!(at("", "warp-mask"), Some(Severity::Warning));
    assert_eq!(at("[rules]\nwarp-mask = \"error\"", "warp-mask"), Some(Severity::Warning));
    assert_eq!(at("[rules]\nwarp-mask = \"warning\"", "warp-mask"), Some(Severity::Note));
}

#[test]
fn levels_of_files_hold_over_levels_of_rules() {
    let text = "[rules]\ndivergent-exit = \"warning\"\n[per-file]\n\"*.cuh\" = { divergent-exit = \"off\" }\n\
        \"src/tile.cuh\" = { divergent-exit = \"note\" }\n";
    assert!(reported(text).contains(&("divergent-exit", Severity::Note)), "the longest pattern holds");
    assert!(
        !reported("[per-file]\n\"src/\" = { divergent-exit = \"off\" }")
            .iter()
            .any(|(rule, _)| *rule == "divergent-exit")
    );
}

#[test]
fn third_party_code_is_not_reported() {
    let rules: Vec<&str> = reported("third-party = [\"src/tile.cuh\"]").into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["divergent-branch", "warp-mask"]);
}

#[test]
fn patterns_match_as_in_gitignore() {
    let matches = |pattern: &str, path: &str| {
        let patterns = settings::Patterns::new(Path::new("top"), &[pattern.to_string()]).expect("a pattern");
        patterns.matches(Path::new(path))
    };
    for (pattern, path, expected) in [
        ("build", "top/build/a.cu", true),
        ("build/", "top/src/build/deep/a.cu", true),
        ("build/**", "top/build/a.cu", true),
        ("src/build", "top/src/build/a.cu", true),
        ("src/build", "top/other/src/build/a.cu", false),
        ("/build", "top/src/build/a.cu", false),
        ("*.cuh", "top/src/a.cuh", true),
        ("*.cuh", "top/src/a.cu", false),
        ("src/*.cu", "top/src/deep/a.cu", false),
        ("src/**/*.cu", "top/src/deep/er/a.cu", true),
        ("./src/", "top/src/a.cu", true),
        ("build", "elsewhere/build/a.cu", false),
        ("builder", "top/build/a.cu", false),
        ("src", "top/x/../src/a.cu", true),
    ] {
        assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
    }
    assert!(settings::Patterns::new(Path::new(""), &["a[".to_string()]).is_err());
}

/// A row says more of a function than its body does, and stands for a method of which there is none.
#[test]
fn a_barrier_of_the_user_counts_for_more_than_a_body() {
    let folder = Folder::new("own-barriers");
    folder.write(
        "synclint.toml",
        "[[barrier]]\nnames = [\"blockSync\"]\ngroup = \"block\"\n\
         [[barrier]]\nmethods = [\"meet\"]\ngroup = \"block\"\n\
         [[barrier]]\nmethods = [\"commit\", \"all\"]\non = [\"Stage\"]\ngroup = \"block\"\n",
    );
    folder.write(
        "a.cu",
        "__device__ void blockSync() { asm volatile(\"hidden;\"); }\n\
         struct Team { __device__ void meet(); };\n\
         struct Stage { __device__ void commit() {} static __device__ void all() {} };\n\
         struct Other { __device__ void commit() {} };\n\
         template <class T> __device__ void use(T &t) { if (threadIdx.x < 3) t.meet(); }\n\
         __global__ void k(int *v) {\n    Team team; Stage stage; Other other;\n\
         if (threadIdx.x < 32) blockSync();\n\
         if (threadIdx.x < 32) team.meet();\n\
         if (threadIdx.x < 32) stage.commit();\n\
         if (threadIdx.x < 32) Stage::all();\n\
         if (threadIdx.x < 32) other.commit();\n\
         use(team); blockSync(); stage.commit();\n}\n",
    );
    let ran = folder.run(&["check", "--format", "concise"]);
    let lines: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["5", "8", "9", "10", "11"], "{}", ran.stdout);
}

/// Classes of the user's rows, in view or not, however their objects are made.
#[test]
fn a_class_of_the_user_counts_for_more_than_its_body() {
    let folder = Folder::new("own-classes");
    folder.write(
        "synclint.toml",
        "[[barrier]]\nmethods = [\"meet\"]\non = [\"Team\", \"Crowd\"]\ngroup = \"block\"\n\
         [[library]]\ntypes = [\"TeamReduce\"]\ngroup = \"block\"\nresult = \"uniform\"\nexcept = [\"capacity\"]\n\
         [[group]]\nmakers = [\"my_block\"]\ntypes = [\"MyBlock\"]\nkind = \"block\"\n",
    );
    folder.write(
        "a.cu",
        "template <class T, int Threads> struct TeamReduce {\n    struct Storage { T t[Threads]; };\n\
         __device__ explicit TeamReduce(Storage &s);\n    __device__ T sum(T x);\n    __device__ int capacity();\n};\n\
         struct MyBlock { __device__ void sync(); };\n\
         __global__ void k(int *v, MyBlock block) {\n    __shared__ TeamReduce<int, 128>::Storage s;\n\
         if (TeamReduce<int, 128>(s).sum(v[threadIdx.x]) > 3) __syncthreads();\n\
         if (threadIdx.x < 16) v[0] = TeamReduce<int, 128>(s).capacity();\n\
         if (threadIdx.x < 16) v[0] = TeamReduce<int, 128>(s).sum(1);\n\
         if (threadIdx.x < 16) block.sync();\n\
         auto team = lib::Team(v);\n    if (threadIdx.x < 16) team.meet();\n\
         if (threadIdx.x < 16) lib::Crowd<3>(v).meet();\n    team.meet();\n}\n",
    );
    let ran = folder.run(&["check", "--format", "concise"]);
    let lines: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["12", "13", "15", "16"], "{}", ran.stdout);
}

/// A shuffle of the user is asked for its lane and its width as `__shfl_sync` is.
#[test]
fn a_shuffle_of_the_user_reads_lanes() {
    let folder = Folder::new("own-shuffle");
    folder.write(
        "synclint.toml",
        "[[barrier]]\nnames = [\"warpRead\"]\ngroup = \"lanes\"\nmask = 0\nresult = \"shuffle\"\nlane = 2\nwidth = 3\n",
    );
    folder.write(
        "a.cu",
        "__device__ int warpRead(unsigned mask, int value, int lane, int width = 32);\n\
         __global__ void k(int *v) {\n    if (threadIdx.x < 4)\n        v[0] = warpRead(0xf, v[1], 7);\n\
         if (threadIdx.x < 4)\n        v[0] = warpRead(0xf, v[1], 3);\n\
         v[1] = warpRead(~0u, v[2], 0, 12);\n    v[2] = warpRead(~0u, v[2], 0, 16);\n}\n",
    );
    let ran = folder.run(&["check", "--format", "concise"]);
    let lines: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["4", "7"], "{}", ran.stdout);
}

#[test]
fn faults_are_shown_at_their_place() {
    let folder = Folder::new("faults");
    for (text, wanted) in [
        ("\nexcldue = [\"build\"]\n", vec!["synclint.toml:2:1", "unknown field `excldue`", "did you mean `exclude`?"]),
        (
            "[[barrier]]\nnames = [\"all\"]\ngroup = \"block\"\n[[barrier]]\ngroup = \"block\"\n",
            vec!["synclint.toml:4:1", "this barrier has no name"],
        ),
        ("fail-on = \"warnings\"\n", vec!["synclint.toml:1:11", "did you mean `warning`?"]),
        ("[rules]\ndivergent-brnch = \"off\"\n", vec!["synclint.toml:2:1", "did you mean `divergent-branch`?"]),
        ("exclude = [\n", vec!["synclint.toml:"]),
        ("exclude = [\"a[\"]\n", vec!["synclint.toml:1:1", "`a[` is no pattern"]),
        ("[[barrier]]\nnames = [\"a\"]\ngroup = \"blok\"\n", vec!["synclint.toml:3:9", "did you mean `block`?"]),
        ("[kernel.k]\nblock = [1, 2]\n", vec!["synclint.toml:2:"]),
        (
            "[[barrier]]\nnames = [\"meet\"]\ngroup = \"receiver\"\n",
            vec!["synclint.toml:1:1", "`receiver` is for `methods`", "`group = \"argument\"`"],
        ),
    ] {
        folder.write("synclint.toml", text);
        let ran = folder.run(&["check", "--color", "never"]);
        assert_eq!(ran.code, 2, "{text}");
        for part in wanted {
            assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
        }
        assert_eq!(ran.stdout, "");
    }
    folder.write("synclint.toml", b"exclude = [\"\xff\"]");
    assert_eq!(folder.run(&["check"]).stderr, "error: synclint.toml: is not UTF-8\n");
}

#[test]
fn the_nearest_file_above_decides() {
    let folder = Folder::new("nearest");
    folder.write("synclint.toml", "exited-threads = \"may-exit\"\n");
    folder.write("deep/er/a.cu", "");
    let show = |place: &str| {
        let output =
            crate::program::synclint().args(["config", "show"]).current_dir(folder.path().join(place)).output();
        String::from_utf8(output.expect("synclint runs").stdout).expect("it is UTF-8")
    };
    assert!(show("deep/er").contains("may-exit"));
    folder.write("deep/.synclint.toml", "fail-on = \"never\"\n");
    assert!(show("deep/er").contains("never") && !show("deep/er").contains("may-exit"));
    // A repository is a world of its own.
    folder.write("deep/er/.git/HEAD", "");
    assert!(show("deep/er").contains("no synclint.toml"));
}

#[test]
fn init_writes_a_file_once() {
    let folder = Folder::new("init");
    assert_eq!(folder.run(&["config", "init"]).code, 0);
    assert_eq!(folder.read("synclint.toml"), settings::starter());
    let again = folder.run(&["config", "init"]);
    assert_eq!((again.code, again.stderr.as_str()), (2, "error: synclint.toml is already there\n"));
}

/// A shape that is none is shown with what a shape looks like.
#[test]
fn shapes_of_kernels_are_checked() {
    let folder = crate::program::Folder::new("shapes");
    folder.write("a.cu", "__global__ void k(int *v) {\n    __syncthreads();\n}\n");
    for (shape, told) in [
        ("0", "three numbers from 1 up"),
        ("256", "as in `[256, 1, 1]`"),
        ("[256]", "as in `[256, 1, 1]`"),
        ("[0, 1, 1]", "three numbers from 1 up"),
        ("[-1, 1, 1]", "three numbers from 1 up"),
        ("[2048, 1, 1]", "a block has at most 1024 threads, and this one 2048"),
    ] {
        folder.write("synclint.toml", format!("[kernel.k]\nblock = {shape}\n"));
        let ran = folder.run(&["a.cu"]);
        assert_eq!(ran.code, 2, "{shape}");
        assert!(ran.stderr.contains(told) && ran.stderr.contains("synclint.toml:2:9"), "{shape}: {}", ran.stderr);
    }
    folder.write("synclint.toml", "[kernel.k]\nblock = [32, 32, 1]\ncluster = [2, 1, 1]\n");
    assert_eq!(folder.run(&["a.cu"]).code, 0);
}
