//! A run in parts, joined, is the whole run: byte for byte, in every format, with all that crosses the parts.

use crate::program::Folder;

const FORMATS: [&str; 10] =
    ["human", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "html"];

/// Kernels of many files that run into the same fault of a header, comments that hide there, a known finding, a launch
/// in another file, and a device function that nobody calls.
fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "tile.cuh",
        "inline __device__ void wait(int n) {\n    if (threadIdx.x < n) {\n        __syncthreads();\n    }\n}\n\
         inline __device__ void hush(int n) {\n    if (threadIdx.x < n) __syncthreads();  // synclint: ignore[divergent-branch] known\n}\n\
         // synclint: ignore[divergent-loop] nothing of the kind\n\
         inline __device__ void orphan(int n) {\n    if (threadIdx.x < n) __syncthreads();\n}\n",
    );
    for at in 0..12 {
        let call = if at == 7 { "hush(n);" } else { "wait(n);" };
        folder.write(
            &format!("kernels/k{at}.cu"),
            format!(
                "#include \"../tile.cuh\"\n__global__ void k{at}(int *v, int n) {{\n    {call}\n    if (threadIdx.x > n) {{\n        v[0] = {at};\n        \
                 __syncthreads();\n    }}\n}}\n"
            ),
        );
    }
    folder.write(
        "launch.cu",
        "#include \"kernels/k1.cu\"\nvoid go(int *v) {\n    k1<<<1, 32>>>(v, 3);\n    k1<<<1, 256>>>(v, 3);\n}\n",
    );
    folder.write("broken.cu", b"__global__ void k() {}\0\0\0\0\0\0");
    folder
}

fn outputs(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let outputs: Vec<String> = FORMATS.iter().map(|name| format!("{name}=out.{name}")).collect();
    let mut all = [&["check"], arguments, &["--statistics"]].concat();
    for output in &outputs {
        all.extend(["--output", output]);
    }
    let ran = folder.run(&all);
    let mut texts: Vec<String> = FORMATS.iter().map(|name| folder.read(&format!("out.{name}"))).collect();
    texts.extend([ran.stdout, ran.stderr, ran.code.to_string()]);
    texts
}

/// Makes the parts, each written to a file; their names.
fn parts(folder: &Folder, paths: &[&str], count: usize) -> Vec<String> {
    let mut names = Vec::new();
    for index in 1..=count {
        let shard = format!("{index}/{count}");
        let ran = folder.run(&[&["check"], paths, &["--shard", &shard]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shard}");
        let name = format!("part-{index}.json");
        folder.write(&name, ran.stdout);
        names.push(name);
    }
    names
}

#[test]
fn joined_parts_are_the_whole_run() {
    let folder = project("shards");
    assert_eq!(folder.run(&["baseline", "kernels/k3.cu"]).code, 0);
    for paths in [&["."][..], &["kernels", "tile.cuh"], &["kernels/k5.cu", "--root", "."]] {
        let whole = outputs(&folder, paths);
        assert_eq!(whole.last().map(String::as_str), Some("1"), "{}", whole[11]);
        for count in [1, 2, 7] {
            let names = parts(&folder, paths, count);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let joined = outputs(&folder, &[paths, &["--join"], &names].concat());
            for (index, (joined, whole)) in joined.iter().zip(&whole).enumerate() {
                assert!(joined == whole, "{paths:?} in {count} parts, output {index}:\n{joined}\n--- whole:\n{whole}");
            }
        }
    }
}

#[test]
fn each_root_is_in_one_part() {
    let folder = project("shards-divide");
    let mut sizes = Vec::new();
    for name in parts(&folder, &["."], 7) {
        let part: serde_json::Value = serde_json::from_str(&folder.read(&name)).expect("it is JSON");
        sizes.push(part["answers"].as_array().map_or(0, Vec::len));
    }
    assert_eq!(sizes.iter().sum::<usize>(), 13, "twelve kernels and a function that nobody calls: {sizes:?}");
    assert!(sizes.iter().filter(|size| **size > 0).count() > 3, "{sizes:?}");
}

#[test]
fn parts_that_do_not_fit_are_told() {
    let folder = project("shards-faults");
    let names = parts(&folder, &["."], 2);
    let fault = |arguments: &[&str]| {
        let ran = folder.run(&[&["check", "."], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        ran.stderr
    };
    let (one, two) = (names[0].as_str(), names[1].as_str());
    assert_eq!(fault(&["--join", two]), "error: part 1/2 is missing\n");
    assert_eq!(fault(&["--join", one, one]), "error: part 1/2 is there twice\n");
    assert_eq!(fault(&["--join", "none.json"]), "error: none.json: no such file or directory\n");
    let of_others = "error: part 1/2 is of other files or settings than are read now\n";
    assert_eq!(fault(&["--join", one, two, "--exited-threads", "may-exit"]), of_others);
    assert_eq!(fault(&["--join", one, two, "-D", "A=1"]), of_others);
    folder.write("three.json", folder.read(one).replace("\"1/2\"", "\"1/3\""));
    assert_eq!(fault(&["--join", one, "three.json"]), "error: part 1/3 is of a run in 3 parts, another one of 2\n");
    folder.write("old.json", folder.read(one).replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1));
    let old = format!("error: old.json: made by synclint 0.0.0, and this is {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(fault(&["--join", "old.json", two]), old);
    folder.write("half.json", &folder.read(one)[..40]);
    assert!(fault(&["--join", "half.json", two]).starts_with("error: half.json: no part of a run: "));
    folder.write("kernels/k0.cu", "__global__ void other() {}\n");
    assert_eq!(fault(&["--join", one, two]), of_others);
    for wrong in ["0/2", "3/2", "2", "a/b", "1/0", "-1/2"] {
        assert_eq!(folder.run(&["check", ".", &format!("--shard={wrong}")]).code, 2, "{wrong}");
    }
}
