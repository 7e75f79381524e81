//! What is read: paths that cannot be, folders in which there is nothing, and what is said of what was not understood.

use crate::program::Folder;

const DIVERGENT: &str = "__global__ void k(int *v) {\n    if (threadIdx.x < 16) {\n        v[0] = 1;\n        __syncthreads();\n    }\n    v[threadIdx.x] = 1;\n}\n";
const CLEAN: &str = "__global__ void k(int *v) {\n    __syncthreads();\n    v[threadIdx.x] = 1;\n}\n";

/// A path that cannot be read costs a line and the exit code, not the other paths.
#[test]
fn a_path_that_cannot_be_read_does_not_stop_the_others() {
    let folder = Folder::new("unreadable");
    folder.write("bad.cu", DIVERGENT);
    folder.write("data.cu", [0u8; 64]);
    folder.write("folder/good.cu", CLEAN);
    let finding =
        "bad.cu:4:9: error: `__syncthreads` is reached by only part of the block [divergent-branch]\n".to_string();
    for (arguments, told) in [
        (vec!["missing.cu", "bad.cu"], "error: missing.cu: no such file or directory\n"),
        (vec!["bad.cu", "missing"], "error: missing: no such file or directory\n"),
        (vec!["data.cu", "folder", "bad.cu"], "error: data.cu: binary data\n"),
        (vec!["bad.cu/x", "bad.cu"], "error: bad.cu/x: a part of its path is no folder\n"),
    ] {
        let ran = folder.run(&[&arguments[..], &["--format", "concise"]].concat());
        assert_eq!((ran.code, &ran.stdout), (2, &finding), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(told) && ran.stderr.matches("error: ").count() == 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("; 1 file not read"), "{}", ran.stderr);
    }
    // It is no finding, so nothing makes it pass; and it is no matter of the summary.
    let quiet = folder.run(&["missing.cu", "folder", "--exit-zero", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (2, "error: missing.cu: no such file or directory\n"));
    let diff = folder.run(&["missing.cu", "bad.cu", "--diff"]);
    assert!(diff.code == 2 && diff.stdout.contains("+    __syncthreads();"), "{}", diff.stdout);
    // Machines are told, too.
    let json = folder.run(&["missing.cu", "bad.cu", "--format", "json"]).json();
    assert_eq!(json["skipped"][0]["file"], "missing.cu");
    let sarif = folder.run(&["missing.cu", "bad.cu", "--format", "sarif"]).json();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
    // What a walk comes past is another matter: nobody asked for it by name.
    let walked = folder.run(&[".", "--format", "concise"]);
    assert_eq!(walked.code, 1, "{}", walked.stderr);
}

/// A pipe would block for ever; nothing is read from one.
#[cfg(unix)]
#[test]
fn pipes_and_files_of_others_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("pipe");
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.cu")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of POSIX");
    folder.write("bad.cu", DIVERGENT);
    let ran = folder.run(&["pipe.cu", "bad.cu", "--format", "concise"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: pipe.cu: not a regular file\n"), "{}", ran.stderr);
    for arguments in [vec!["why", "pipe.cu:3"], vec!["graph", "pipe.cu"]] {
        let ran = folder.run(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, "error: pipe.cu: not a regular file\n"), "{arguments:?}");
    }
    let secret = folder.write("secret.cu", CLEAN);
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).expect("it is ours");
    // Root reads everything.
    if std::fs::read(&secret).is_err() {
        let ran = folder.run(&["secret.cu", "bad.cu", "--format", "concise"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (2, 1));
        assert!(ran.stderr.starts_with("error: secret.cu: permission denied\n"), "{}", ran.stderr);
    }
}

/// A file that the user names is source, whatever its name.
#[test]
fn a_file_without_an_ending_is_read_if_it_is_named() {
    let folder = Folder::new("no-ending");
    folder.write("kernel", DIVERGENT);
    assert_eq!(folder.run(&["kernel"]).code, 1);
    assert_eq!(folder.run(&["."]).code, 0);
}

#[test]
fn where_nothing_is_found_it_is_said_why() {
    let folder = Folder::new("nothing");
    folder.write("empty/notes.txt", "nothing\n");
    folder.write("host/a.cpp", "int main() {}\n");
    folder.write("theirs/synclint.toml", "third-party = [\"lib/\"]\n");
    folder.write("theirs/lib/k.cu", DIVERGENT);
    folder.write("out/synclint.toml", "exclude = [\"lib/\"]\n");
    folder.write("out/lib/k.cu", DIVERGENT);
    folder.write("fine/k.cu", CLEAN);
    let line = |arguments: &[&str]| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        lines.get(1..).unwrap_or_default().join("\n")
    };
    assert_eq!(
        line(&["empty"]),
        "synclint: looked for .cu, .cuh, C++ source and headers in empty: there is none; --no-ignore reads hidden and \
         git-ignored files, too"
    );
    assert_eq!(line(&["host"]), "synclint: no kernel and no barrier in the file read");
    assert_eq!(
        line(&["theirs", "--config", "theirs/synclint.toml"]),
        "synclint: all files read are third-party by the settings: nothing in them is reported"
    );
    assert_eq!(
        line(&["out", "--config", "out/synclint.toml"]),
        "synclint: all that was found is excluded by the settings"
    );
    assert_eq!(line(&["fine"]), "");
    assert_eq!(folder.run(&["empty", "--quiet"]).stderr, "");
}

/// Calls that nobody can look into are listed, with how often and where; their number does not end in the wrong word.
#[test]
fn calls_that_are_not_in_view_are_listed() {
    let folder = Folder::new("not-in-view");
    folder.write(
        "a.cu",
        "__device__ void elsewhere(int *v);\n__device__ int value(int x);\n__device__ int here(int x) { return x + 1; }\n\
         __global__ void k(int *v) {\n    elsewhere(v);\n    v[0] = value(v[1]) + here(v[2]);\n    __syncthreads();\n    elsewhere(v);\n}\n",
    );
    let ran = folder.run(&["a.cu", "--statistics", "--quiet"]);
    assert_eq!(
        ran.stderr,
        "     1  kernel and 1 device function with 1 barrier, in 1 file of 233 bytes\n\
         not in view, and so taken to hold no barrier:\n     \
         2  calls of `elsewhere`, a.cu:5\n     \
         1  call of `value`, a.cu:6\n"
    );
    folder
        .write("b.cu", "__device__ void elsewhere(int *v) { v[0] = 1; }\n__device__ int value(int x) { return x; }\n");
    // In a kernel without a barrier they may hold the only one.
    folder.write(
        "c.cu",
        "__device__ void far(int *v);\n__global__ void k(int *v) {\n    if (v[threadIdx.x]) far(v);\n}\n",
    );
    let ran = folder.run(&["c.cu", "--statistics", "--quiet"]);
    assert!(ran.stderr.ends_with("taken to hold no barrier:\n     1  call of `far`, c.cu:3\n"), "{}", ran.stderr);
    folder.write("c.cu", "");
    let whole = folder.run(&[".", "--statistics", "--quiet"]);
    assert!(!whole.stderr.contains("not in view"), "{}", whole.stderr);
}

/// A body that a condition leaves out is there, though it counts for nothing: that is said of it.
#[test]
fn bodies_under_conditions_that_are_not_met_are_told() {
    let folder = Folder::new("left-out");
    folder.write(
        "a.cu",
        "__device__ int value(int x);\n#ifdef WIDE\n__device__ int value(int x) { return x; }\n#endif\n\
         __device__ int other(int x);\n\
         __global__ void k(int *v) {\n    v[0] = value(v[1]) + other(v[2]);\n    __syncthreads();\n}\n",
    );
    let ran = folder.run(&["a.cu", "--statistics", "--quiet"]);
    let told = "not in view, and so taken to hold no barrier:\n     \
                1  call of `other`, a.cu:7\n     \
                1  call of `value`, a.cu:7: the body in line 3 stands under a condition that is not met\n";
    assert!(ran.stderr.ends_with(told), "{}", ran.stderr);
    let ran = folder.run(&["a.cu", "--statistics", "--quiet", "-D", "WIDE"]);
    assert!(!ran.stderr.contains("not met"), "{}", ran.stderr);
}

/// nvcc reads `<assert.h>` before anything else: `NDEBUG` of the command line holds there, one of the file does not.
#[test]
fn assertions_are_silenced_from_the_command_line() {
    let folder = Folder::new("silent-assert");
    let text = "#define OWN\n__global__ void k(int *v) {\n    if (threadIdx.x) assert(__syncthreads_or(v[0]));\n}\n";
    folder.write("a.cu", text);
    folder.write("b.cu", text.replace("OWN", "NDEBUG"));
    assert_eq!(folder.run(&["a.cu"]).code, 1);
    assert_eq!(folder.run(&["b.cu"]).code, 1);
    assert_eq!(folder.run(&["a.cu", "-D", "NDEBUG"]).code, 0);
}

/// A rate of a millisecond's work means nothing.
#[test]
fn little_source_has_no_rate() {
    let folder = Folder::new("rate");
    folder.write("a.cu", CLEAN);
    let told = folder.run(&["a.cu", "--verbose"]).stderr;
    let last = told.lines().last().unwrap_or_default();
    assert!(last.starts_with("75 bytes in 0.") && !told.contains("MB/s"), "{told}");
}

/// What the command line defines may be a barrier, alone or in more.
#[test]
fn barriers_come_from_the_command_line() {
    let folder = Folder::new("defined-barriers");
    folder.write(
        "a.cu",
        "__global__ void a() {\n    if (threadIdx.x) MEET;\n}\n__global__ void b() {\n    if (threadIdx.x) MEET_AS(3);\n}\n\
         __global__ void c() {\n    if (threadIdx.x) MEET_BY();\n}\n",
    );
    let meet = ["-D", "MEET=__syncthreads()", "-D", "MEET_AS(x)=__syncthreads()", "-DMEET_BY=__syncthreads"];
    let ran = folder.run(&[&["a.cu", "--format", "concise"][..], &meet].concat());
    let lines: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["2", "5", "8"], "{}", ran.stdout);
    folder.write("synclint.toml", "define = [\"MEET=__syncthreads()\"]\n");
    let ran = folder.run(&["a.cu", "--format", "concise"]);
    assert!(ran.stdout.starts_with("a.cu:2:"), "{}", ran.stdout);
    for wrong in ["1x", "", "a b=2"] {
        let told = folder.run(&["a.cu", "-D", wrong]);
        assert!(told.code == 2 && told.stderr.contains("a macro is NAME, NAME=VALUE"), "{}", told.stderr);
    }
}
