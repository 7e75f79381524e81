"""Runs synclint over each target that is built: bazel build --aspects //:synclint.bzl%synclint --output_groups=synclint //...

For every target with C++ or CUDA sources the aspect makes `NAME.synclint.jsonl`: a finding a line, from the target's own
sources and headers; those of what it depends on are read, too. A finding whose story goes through two targets is in both
reports, under one fingerprint. `bazel build` fails if synclint could not do its job, not if
something is found; put the lines into a test or a dashboard.
"""

_SOURCES = ("cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "inc", "cc", "cpp", "cxx", "c")

def _own_files(rule):
    files = []
    for attribute in ("srcs", "hdrs", "textual_hdrs"):
        for target in getattr(rule.attr, attribute, []):
            files += [file for file in target.files.to_list() if file.extension in _SOURCES and file.is_source]
    return files

def _synclint_impl(target, ctx):
    own = _own_files(ctx.rule)
    if not own:
        return []
    arguments = ctx.actions.args()
    arguments.use_param_file("@%s", use_always = True)
    arguments.set_param_file_format("multiline")
    arguments.add_all(["check", "--isolated", "--exit-zero", "--quiet", "--jobs", "1", "--format", "concise"])

    # Headers are named from the top of the workspace.
    arguments.add_all(["-I", "."])
    headers = depset()
    if CcInfo in target:
        context = target[CcInfo].compilation_context
        headers = context.headers
        folders = depset(transitive = [context.includes, context.quote_includes, context.system_includes])
        arguments.add_all(folders, before_each = "-I")
        arguments.add_all(context.defines, before_each = "-D")
        arguments.add_all(context.local_defines, before_each = "-D")
    report = ctx.actions.declare_file(target.label.name + ".synclint.jsonl")
    arguments.add(report, format = "--output=jsonl=%s")
    arguments.add_all(own)
    ctx.actions.run(
        executable = ctx.executable._synclint,
        arguments = [arguments],
        inputs = depset(own, transitive = [headers]),
        outputs = [report],
        mnemonic = "Synclint",
        progress_message = "Checking barriers of %{label}",
    )
    return [OutputGroupInfo(synclint = depset([report]))]

synclint = aspect(
    implementation = _synclint_impl,
    attr_aspects = ["deps", "srcs", "hdrs"],
    attrs = {
        "_synclint": attr.label(
            default = Label("//tools:synclint"),
            executable = True,
            allow_single_file = True,
            cfg = "exec",
        ),
    },
)
