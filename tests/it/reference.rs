//! The pages that describe every key and every field: held to the schema of the settings and to what is written.

use crate::program::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use synclint::settings;

/// Every key of the settings with its description, from the schema that is made from the code.
#[test]
fn the_page_of_the_settings_is_as_generated() {
    let schema: Value = serde_json::from_str(&settings::schema()).expect("the schema is JSON");
    let definitions = schema["$defs"].as_object().expect("definitions");
    let properties = schema["properties"].as_object().expect("properties");
    let mut page = String::from(
        "# Every key of the settings\n\nMade from the schema of `synclint.toml`, which `synclint config schema` prints for editors. \
         [Settings](settings.md) tells how they are used. Positions of arguments count from 0.\n",
    );
    for (key, value) in properties {
        let row = value["items"]["$ref"].as_str().or(value["additionalProperties"]["$ref"].as_str());
        let fields = row.and_then(|row| fields(definitions, row));
        let heading = match (&fields, value["type"].as_str()) {
            (Some(_), Some("array")) => format!("[[{key}]]"),
            (Some(_), _) => format!("[{key}.NAME]"),
            (None, Some("object")) => format!("[{key}]"),
            _ => key.clone(),
        };
        page.push_str(&format!("\n## `{heading}`\n\n{}\n", described(value, key)));
        match fields {
            Some(fields) => {
                page.push_str("\n| field | | is |\n|---|---|---|\n");
                for (field, value) in fields {
                    let text = described(value, &format!("{key}.{field}"));
                    page.push_str(&format!("| `{field}` | {} | {text} |\n", form(definitions, value)));
                }
            }
            None => page.push_str(&format!("\nIt is {}.\n", form(definitions, value))),
        }
    }
    page.push_str("\n# What values there are\n");
    for (name, definition) in definitions.iter().filter(|(_, it)| it.get("oneOf").is_some()) {
        page.push_str(&format!("\n## {name}\n\n| value | |\n|---|---|\n"));
        for each in definition["oneOf"].as_array().into_iter().flatten() {
            let value =
                each["const"].as_str().unwrap_or_else(|| panic!("{name}: a value without a description: {each}"));
            page.push_str(&format!("| `\"{value}\"` | {} |\n", described(each, &format!("{name}.{value}"))));
        }
    }
    crate::assert_generated("docs/settings-keys.md", &page);
}

fn fields<'a>(
    definitions: &'a serde_json::Map<String, Value>,
    reference: &str,
) -> Option<&'a serde_json::Map<String, Value>> {
    definitions[reference.rsplit('/').next()?]["properties"].as_object()
}

/// What a key may be, in words.
fn form(definitions: &serde_json::Map<String, Value>, value: &Value) -> String {
    let named = |value: &Value| Some(value["$ref"].as_str()?.rsplit('/').next()?.to_string());
    if let Some(name) = named(value)
        .or_else(|| value["allOf"][0]["$ref"].as_str().map(|it| it.rsplit('/').next().unwrap_or(it).to_string()))
    {
        return match definitions[&name].get("oneOf") {
            Some(_) => format!("[{name}](#{})", name.to_lowercase()),
            None => "the name of a rule".to_string(),
        };
    }
    let kinds = match &value["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match kinds {
        Some("string") => "a text".to_string(),
        Some("integer") => "a number".to_string(),
        Some("boolean") => "`true` or `false`".to_string(),
        Some("array") if value["items"]["type"] == "integer" => "three numbers".to_string(),
        Some("array") => "a list of texts".to_string(),
        Some("object") => "a table: names of rules (of paths, in `per-file`) and their [Level](#level)".to_string(),
        kind => panic!("no words for {kind:?}: {value}"),
    }
}

#[track_caller]
fn described(value: &Value, of: &str) -> String {
    let text = value["description"].as_str().unwrap_or_else(|| panic!("{of} has no description: {value}"));
    let default = value.get("default").filter(|it| it.is_boolean()).map(|it| format!(" Default: `{it}`."));
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|") + &default.unwrap_or_default()
}

/// The paths of all fields in a value, `a.b[].c`.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                paths(value, &path, found);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().for_each(|item| paths(item, &format!("{path}[]"), found));
            found.insert(format!("{path}[]"));
        }
        // Empty here, a list of objects elsewhere.
        Value::Array(items) if items.is_empty() => {}
        _ => {
            found.insert(path.to_string());
        }
    }
}

fn stored(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is there")
}

/// `docs/json.md` names each field that is written, and no other.
#[test]
fn the_page_of_the_json_report_is_whole() {
    let page = stored("docs/json.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|line| line.split('|').nth(1));
    let documented: BTreeSet<String> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string).collect();

    let folder = Folder::new("reference");
    folder.write("data.cu", b"__global__ void k() {}\0\0\0\0\0\0");
    folder.write(
        "a.cu",
        "__device__ void wait() { __syncthreads(); }
__global__ void call(int *v, int n) {
    if (threadIdx.x < n) wait();
}
__global__ void mask(int *v) {
    if (threadIdx.x < 8) __syncwarp();
    far(v);
}
__global__ void mend(int *v, int n) {
    if (threadIdx.x < n) {
        v[0] = 1;
        __syncthreads();
    }
}
",
    );
    let report = folder.run(&[".", "--isolated", "--format", "json", "--statistics"]).json();
    let mut written = BTreeSet::new();
    paths(&report, "", &mut written);
    // Whole objects stand in the page as what they hold.
    let objects: BTreeSet<String> =
        documented.iter().filter(|it| ["findings[].witness", "statistics"].contains(&it.as_str())).cloned().collect();
    written.extend(objects);
    assert_eq!(documented.difference(&written).collect::<Vec<_>>(), Vec::<&String>::new(), "not written");
    assert_eq!(written.difference(&documented).collect::<Vec<_>>(), Vec::<&String>::new(), "not documented");

    // Line by line it is the same.
    let lines = folder.run(&[".", "--isolated", "--format", "jsonl", "--statistics"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let (last, findings) = lines.split_last().expect("lines");
    assert_eq!(report["findings"], Value::from(findings.to_vec()));
    assert_eq!(
        last,
        &serde_json::json!({ "version": 1, "summary": report["summary"], "statistics": report["statistics"] })
    );

    // Every role and unit that the code has, and no other.
    let source = stored("src/report/json.rs");
    let roles = source.split("fn role(").nth(1).expect("the roles");
    for role in roles.split('"').skip(1).step_by(2) {
        assert!(page.contains(&format!("`{role}`")), "{role}");
    }
    for unit in ["thread", "lane", "block"] {
        assert!(page.contains(&format!("`{unit}` of the")), "{unit}");
    }
    assert!(report["findings"].as_array().expect("findings").iter().all(|it| {
        it["fingerprint"].as_str().is_some_and(|it| it.len() == 16 && u64::from_str_radix(it, 16).is_ok())
    }));
}

/// The pages of CI tell how synclint comes to the machine, and what a part of a run ends with.
#[test]
fn a_part_of_a_run_ends_with_0() {
    let folder = Folder::new("reference-shard");
    folder.write("a.cu", "__global__ void k(int n) {\n    if (threadIdx.x < n) __syncthreads();\n}\n");
    assert_eq!(folder.run(&["a.cu", "--shard", "1/1"]).code, 0);
    let page = stored("docs/ci.md");
    assert!(page.contains("A run with `--shard` ends with 0 whatever it finds"));
    for section in ["## GitLab\n", "## Jenkins\n"] {
        let section = page.split(section).nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
        assert!(section.contains("cargo install --locked --git https://github.com/OWNER/synclint"), "{section}");
    }
}
