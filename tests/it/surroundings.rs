//! What lies round the source: standard input, encodings, files for synclint itself that are not what they should be.

use crate::program::{Folder, Ran};

const DIVERGENT: &str = "__global__ void k(int *v) {\n    if (threadIdx.x < 16) {\n        __syncthreads();\n    }\n    v[threadIdx.x] = 1;\n}\n";

fn utf16(text: &str) -> Vec<u8> {
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

fn utf32(text: &str) -> Vec<u8> {
    std::iter::once('\u{feff}').chain(text.chars()).flat_map(|each| u32::from(each).to_le_bytes()).collect()
}

fn from_stdin(folder: &Folder, arguments: &[&str], input: &[u8]) -> Ran {
    folder.run_with(&[&["-"], arguments].concat(), &[], input)
}

#[test]
fn other_encodings_are_read_or_told_wherever_they_come_from() {
    let folder = Folder::new("encodings");
    for text in [utf16(DIVERGENT), [b"\xef\xbb\xbf", DIVERGENT.as_bytes()].concat()] {
        folder.write("a.cu", &text);
        let (named, given) =
            (folder.run(&["a.cu", "--format", "json"]), from_stdin(&folder, &["--format", "json"], &text));
        assert_eq!((named.code, given.code), (1, 1), "{}{}", named.stderr, given.stderr);
        let place = |ran: &Ran| ran.json()["findings"][0]["line"].as_u64();
        assert_eq!((place(&named), place(&given)), (Some(3), Some(3)));
    }
    // Its text is not changed for bytes that it has not.
    let given = from_stdin(&folder, &["--fix"], &utf16(DIVERGENT));
    assert_eq!(given.code, 1, "{}", given.stderr);
    assert!(given.stderr.starts_with("synclint: stdin.cu is UTF-16: no change is made in it\n"), "{}", given.stderr);

    folder.write("a.cu", utf32(DIVERGENT));
    let named = folder.run(&["a.cu"]);
    assert!(named.code == 2 && named.stderr.starts_with("error: a.cu: UTF-32\n"), "{}", named.stderr);
    for (text, why) in [(utf32(DIVERGENT), "UTF-32"), (utf16(DIVERGENT)[2..].to_vec(), "binary data")] {
        let given = from_stdin(&folder, &[], &text);
        let told = format!("error: stdin.cu: {why}\n");
        assert!(given.code == 2 && given.stderr.starts_with(&told), "{}: {}", given.code, given.stderr);
    }
    let large = from_stdin(&folder, &[], &vec![b' '; (16 << 20) + 1]);
    assert_eq!((large.code, large.stderr.as_str()), (2, "error: cannot read standard input: larger than 16 MiB\n"));
}

#[test]
fn standard_input_is_excluded_as_a_file_of_its_name_is() {
    let folder = Folder::new("stdin-excluded");
    folder.write("synclint.toml", "exclude = [\"build\"]\n");
    let arguments = ["--stdin-filename", "build/x.cu", "--force-exclude"];
    let ran = from_stdin(&folder, &arguments, DIVERGENT.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("build/x.cu: excluded by the settings, so it is not read\n"), "{}", ran.stderr);
    let ran = from_stdin(&folder, &arguments[..2], DIVERGENT.as_bytes());
    assert!(ran.code == 1 && !ran.stderr.contains("excluded"), "{}", ran.stderr);
    // What is not read is given back as it came.
    let ran = from_stdin(&folder, &[&arguments[..], &["--fix"]].concat(), DIVERGENT.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, DIVERGENT), "{}", ran.stderr);
}

/// Nobody can say what is in it, as where it had been named.
#[test]
fn a_folder_of_which_no_file_can_be_read_is_no_clean_one() {
    let folder = Folder::new("nothing-read");
    folder.write("x.cu", utf32(DIVERGENT));
    let told = "synclint: not one file could be read\n";
    for arguments in [&["."][..], &[], &["--exit-zero"]] {
        let ran = folder.run(arguments);
        assert!(ran.code == 2 && ran.stderr.ends_with(told), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(folder.run(&["--show-files"]).code, 2);
    folder.write("y.cu", "int a;\n");
    let ran = folder.run(&["."]);
    assert!(ran.code == 0 && ran.stderr.contains("not read: x.cu: UTF-32\n"), "{}", ran.stderr);
    folder.write("empty/a.txt", "");
    assert_eq!(folder.run(&["empty"]).code, 0);
}

#[test]
fn findings_that_no_change_mends_do_not_keep_others_from_theirs() {
    let folder = Folder::new("unmendable");
    // Between two writes it can go to neither end.
    let kernel = |n: usize| {
        format!(
            "__global__ void k{n}(int *v) {{ if (threadIdx.x < 3) {{ v[0] = 1; __syncthreads(); v[1] = v[0]; }} }}\n"
        )
    };
    folder.write("a.cu", (0..250).map(kernel).collect::<String>());
    let mendable = "__global__ void last(int *v) {\n    if (threadIdx.x < 3) {\n        v[0] = 1;\n        __syncthreads();\n    }\n}\n";
    folder.write("b.cu", mendable);
    let ran = folder.run(&["--fix", "-q", "--format", "concise"]);
    assert!(ran.code == 1 && !ran.stdout.contains("b.cu"), "{}", ran.stderr);
    assert!(folder.read("b.cu") != mendable && !ran.stderr.contains("was sought"), "{}", ran.stderr);

    // What is beyond the bounds is told.
    folder.write("a.cu", "");
    let many = |n: usize| mendable.replace("last", &format!("k{n}"));
    folder.write("b.cu", (0..230).map(many).collect::<String>());
    let ran = folder.run(&["--format", "concise"]);
    assert!(ran.stderr.contains("; no change sought for "), "{}", ran.stderr);
    let ran = folder.run(&["--fix", "-q", "--format", "concise"]);
    assert!(ran.stderr.contains("synclint: no change was sought for "), "{}", ran.stderr);
}

/// A pipe would block, `/dev/zero` never end.
#[cfg(unix)]
#[test]
fn files_for_synclint_itself_are_files_of_some_size() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("no-files");
    let source = folder.write("a.cu", DIVERGENT);
    let place = |name: &str| {
        let path = folder.path().join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        path
    };
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(place(name)).status();
        assert!(made.is_ok_and(|made| made.success()), "a pipe");
    };
    let device = |name: &str| symlink("/dev/zero", place(name)).expect("a link");
    for make in [&pipe as &dyn Fn(&str), &device] {
        // They hide nothing: what they would leave out is read, and that is told.
        for name in [".gitignore", ".ignore", "sub/.gitignore", ".git/info/exclude"] {
            make(name);
            std::fs::create_dir_all(folder.path().join("sub")).expect("a folder");
            std::fs::copy(&source, folder.path().join("sub/b.cu")).expect("a copy");
            let ran = folder.run(&[".", "--format", "concise"]);
            assert_eq!((ran.code, ran.stdout.lines().count()), (1, 2), "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("{name}: not a regular file")), "{name}: {}", ran.stderr);
            assert_eq!(folder.run(&["sub/b.cu"]).code, 1);
            std::fs::remove_dir_all(folder.path().join("sub")).expect("it is there");
            let _ = std::fs::remove_file(folder.path().join(name));
        }
        make("odd");
        for arguments in [
            &["--config", "odd"][..],
            &["--baseline", "odd"],
            &["--join", "odd"],
            &["-p", "odd"],
            &["@odd"],
            &["baseline", "--output", "odd"],
        ] {
            let ran = folder.run(&[arguments, if arguments[0] == "baseline" { &[][..] } else { &["a.cu"] }].concat());
            assert!(ran.code == 2 && ran.stderr.contains("odd"), "{arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("not a regular file"), "{arguments:?}: {}", ran.stderr);
        }
        make("synclint-baseline.json");
        let ran = folder.run(&["a.cu"]);
        assert!(ran.code == 2 && ran.stderr.contains("not a regular file"), "{}", ran.stderr);
        let _ = std::fs::remove_file(folder.path().join("synclint-baseline.json"));
    }
}
