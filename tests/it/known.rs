//! What the user knows and says in `synclint.toml` decides as if the source said it: shapes of launches, barriers of their own.

use crate::program::Folder;
use serde_json::Value;

/// Rule and line of what is found.
fn found(report: &Value) -> Vec<(String, u64)> {
    let findings = report["findings"].as_array().expect("there is a list");
    findings
        .iter()
        .map(|each| (each["rule"].as_str().unwrap_or_default().to_string(), each["line"].as_u64().unwrap_or(0)))
        .collect()
}

fn check(folder: &Folder) -> Vec<(String, u64)> {
    found(&folder.run(&["check", "--format", "json", "a.cu"]).json())
}

fn at(rule: &str, line: u64) -> (String, u64) {
    (rule.to_string(), line)
}

#[test]
fn a_blocks_shape_from_the_settings() {
    let folder = Folder::new("known-block");
    folder.write("a.cu", "__global__ void k(int *v) {\n    if (threadIdx.x < 96) __syncthreads();\n}\n");
    assert_eq!(check(&folder), [at("divergent-branch", 2)]);
    folder.write("synclint.toml", "[kernel.k]\nblock = [96, 1, 1]\n");
    assert_eq!(check(&folder), []);
    folder.write("synclint.toml", "[kernel.k]\nblock = [128, 1, 1]\n");
    assert_eq!(check(&folder), [at("divergent-branch", 2)]);
}

#[test]
fn a_clusters_shape_from_the_settings() {
    let folder = Folder::new("known-cluster");
    folder.write(
        "a.cu",
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int *v) {\n    \
         if (blockIdx.x / 4 == 1) cg::this_cluster().sync();\n}\nvoid run(int *v) { k<<<16, 128>>>(v); }\n",
    );
    assert_eq!(check(&folder), [at("divergent-branch", 4)]);
    folder.write("synclint.toml", "[kernel.k]\ncluster = [4, 1, 1]\n");
    assert_eq!(check(&folder), []);
    folder.write("synclint.toml", "[kernel.k]\ncluster = [8, 1, 1]\n");
    assert_eq!(check(&folder), [at("divergent-branch", 4)]);
}

#[test]
fn barriers_of_the_users_own() {
    let folder = Folder::new("known-words");
    folder.write(
        "a.cu",
        "#include <fence.h>\n__global__ void k(int *v) {\n    Fence fence(v);\n    if (threadIdx.x < 3) fence.meet();\n    \
         if (threadIdx.x < 3) pair_sync(1, 64);\n    if (threadIdx.x < 64) pair_sync(2, 96);\n    if (blockIdx.x == 2) fence.meet();\n    \
         if (fence.position() == 2) fence.meet();\n}\nvoid run(int *v) { k<<<1, 96>>>(v); }\n",
    );
    assert_eq!(check(&folder), []);
    folder.write(
        "synclint.toml",
        "[[barrier]]\nmethods = [\"meet\"]\non = [\"Fence\"]\ngroup = \"block\"\n\
         [[barrier]]\nnames = [\"pair_sync\"]\ngroup = \"counted\"\nid = 0\ncount = 1\n\
         [[varies]]\nmethods = [\"position\"]\nagrees = \"thread\"\n",
    );
    let expected =
        [at("divergent-branch", 4), at("divergent-branch", 5), at("divergent-branch", 6), at("divergent-branch", 8)];
    assert_eq!(check(&folder), expected);
}

#[test]
fn attributes_of_the_users_own() {
    let folder = Folder::new("known-attributes");
    folder.write(
        "a.cu",
        "#include <words.h>\nENTRY void LIMIT(64) k(int *v) {\n    IN_BLOCK int some;\n    if (threadIdx.x == 0) some = v[0];\n    \
         if (threadIdx.x < 64) __syncthreads();\n    if (threadIdx.x < 63) __syncthreads();\n    if (some) __syncthreads();\n}\n\
         ENTRY void early(int *v) {\n    IN_BLOCK int some;\n    if (threadIdx.x == 0) some = v[0];\n    if (some) __syncthreads();\n}\n\
         NAMED(\"k\") void OF((64, 1, 1)) whole(int *v) {\n    if (threadIdx.x < 64) __syncthreads();\n    \
         if (threadIdx.x >= 32) __syncthreads();\n}\n",
    );
    folder.write(
        "synclint.toml",
        "[[attribute]]\nwords = [\"ENTRY\"]\nmeans = \"kernel\"\n[[attribute]]\nwords = [\"IN_BLOCK\"]\nmeans = \"shared\"\n\
         [[attribute]]\nwords = [\"NAMED\"]\nmeans = \"kernel\"\narguments = true\n\
         [[attribute]]\nwords = [\"LIMIT\"]\nmeans = \"launch-bounds\"\narguments = true\n\
         [[attribute]]\nwords = [\"OF\"]\nmeans = \"block-size\"\narguments = true\n",
    );
    let expected = [at("divergent-branch", 6), at("racy-broadcast", 12), at("divergent-branch", 16)];
    assert_eq!(check(&folder), expected);
}

#[test]
fn a_finding_names_the_launches_it_holds_for() {
    let folder = Folder::new("known-launches");
    folder.write(
        "a.cu",
        "__global__ void k(int *v) {\n    if (threadIdx.x < 64) __syncthreads();\n    if (v[threadIdx.x]) __syncthreads();\n}\n\
         void run(int *v) {\n    k<<<1, 64>>>(v);\n    k<<<1, 96>>>(v);\n    k<<<1, dim3(16, 16)>>>(v);\n}\n",
    );
    let report = folder.run(&["check", "--format", "json", "a.cu"]).json();
    assert_eq!(found(&report), [at("divergent-branch", 2), at("divergent-branch", 3)]);
    let launches = |index: usize| -> Vec<(u64, String)> {
        let related = report["findings"][index]["related"].as_array().cloned().unwrap_or_default();
        let text = |note: &Value| note["message"].as_str().unwrap_or_default().to_string();
        related.iter().map(|note| (note["line"].as_u64().unwrap_or(0), text(note))).collect()
    };
    let first = launches(0);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0].0, 7);
    assert!(first[0].1.contains("blocks of 96 threads"), "{first:?}");
    assert_eq!(launches(1), [], "it holds for all of them");
}

#[test]
fn a_finding_says_who_is_missing_and_what_to_try() {
    let folder = Folder::new("known-witness");
    folder.write(
        "a.cu",
        "__global__ void k(int *v) {\n    if (threadIdx.x < 32) __syncthreads();\n}\n\
         __global__ void early(int *v, int n) {\n    if (threadIdx.x >= n) return;\n    __syncthreads();\n}\n\
         void run(int *v) { k<<<1, 64>>>(v); }\n",
    );
    let report = folder.run(&["check", "--format", "json", "a.cu"]).json();
    let first = &report["findings"][0];
    assert_eq!(first["witness"]["given"], "a block of 64 threads");
    assert_eq!(first["witness"]["arrive"], serde_json::json!([[0, 31]]));
    assert_eq!(first["witness"]["missing"], serde_json::json!([[32, 63]]));
    let confirm = |index: usize| report["findings"][index]["confirm"].as_str().unwrap_or_default().to_string();
    assert!(confirm(0).contains("compute-sanitizer --tool synccheck"), "{}", confirm(0));
    assert!(confirm(1).contains("stays silent"), "{}", confirm(1));
}
