//! What the first users stumbled over: each is told in words that say what to do.

use crate::program::Folder;

fn told(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(&[&["--isolated"], arguments].concat());
    format!("{}{}", ran.stdout, ran.stderr)
}

/// A page with many findings has a filter, which needs nothing from elsewhere.
#[test]
fn pages_with_many_findings_have_a_filter() {
    let folder = Folder::new("stumble-filter");
    let kernel = |count: usize| {
        format!(
            "__global__ void k(int n) {{\n    if (threadIdx.x < n) {{\n{}    }}\n}}\n",
            "        __syncthreads();\n".repeat(count)
        )
    };
    folder.write("a.cu", kernel(5));
    folder.write("b<c>.cu", kernel(3));
    let page = folder.run(&[".", "--isolated", "--format", "html"]).stdout;
    for part in [
        "<form class=\"filter\" role=\"search\" aria-label=\"Filter findings\" hidden>",
        ">a.cu (5)</option>",
        ">b&lt;c&gt;.cu (3)</option>",
        "<option value=\"divergent-branch\">divergent-branch (8)</option>",
        "<option value=\"error\">error (8)</option>",
        "data-rule=\"divergent-branch\" data-level=\"error\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("url(") && !page.contains("fetch("));
    let few = folder.run(&["a.cu", "--isolated", "--format", "html"]).stdout;
    assert!(!few.contains("<script") && !few.contains("<form"));
}
