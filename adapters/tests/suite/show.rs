//! Plans and mutants as text that a reviewer can read and a snapshot can hold.
//!
//! In: [`Plan`], [`RawMutant`]. Out: text. I/O: none.

use std::fmt::Write as _;

use polymut_adapters::{
    CommandSpec, Find, Gather, NewFile, Piece, Place, Plan, RawMutant, RawPath, RawSpan, Step,
};
use serde_json::{Map, Value, json};

/// A plan, one fact per line.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let mut text = format!("fit: {:?}\n", plan.fit);
    for step in &plan.steps {
        show_step(&mut text, step);
    }
    for gather in &plan.gather {
        let _ = writeln!(text, "gather {}", show_gather(gather));
    }
    text
}

fn show_step(text: &mut String, step: &Step) {
    let Step { name, about, role, files, command, go_on, limit } = step;
    let _ = writeln!(text, "\nstep {name} ({role:?}) in {}", command.cwd);
    if let Some(key) = about {
        let _ = writeln!(text, "  about: {}", key.0);
    }
    let _ = writeln!(text, "  then: {go_on:?}");
    if let Some(limit) = limit {
        let _ = writeln!(text, "  limit: {} s", limit.as_secs_f64());
    }
    let CommandSpec { program, args, cwd: _, env } = command;
    let programs: Vec<String> = program.iter().map(show_find).collect();
    let _ = writeln!(text, "  program: {}", programs.join(" | "));
    for word in args {
        let _ = writeln!(text, "    {}", show_word(word));
    }
    for (name, word) in env {
        let _ = writeln!(text, "  env {name}={}", show_word(word));
    }
    for file in files {
        show_file(text, file);
    }
}

/// Files of the work folder with more lines are not shown whole.
const LONG: usize = 30;

fn show_file(text: &mut String, file: &NewFile) {
    let _ = writeln!(text, "  file {}", show_place(&file.at));
    match std::str::from_utf8(&file.bytes) {
        Ok(content) if !content.contains('\0') => {
            // A long file of the work folder is a script that stands in this repository; its first line says which.
            let lines: Vec<&str> = content.lines().collect();
            let script = matches!(file.at, Place::Work(_)) && lines.len() > LONG;
            let shown = if script { 1 } else { lines.len() };
            for line in lines.iter().take(shown) {
                let _ = writeln!(text, "  | {line}");
            }
            if shown < lines.len() {
                let _ = writeln!(text, "  | … {} lines", lines.len());
            }
        }
        Ok(_) | Err(_) => {
            let _ = writeln!(text, "  | {} bytes", file.bytes.len());
        }
    }
}

fn show_word(word: &[Piece]) -> String {
    word.iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.replace('\n', "\\n"),
            Piece::Sandbox(path) => format!("{{sandbox:{}}}", path.as_str()),
            Piece::Work(path) => format!("{{work:{path}}}"),
            Piece::Store(path) => format!("{{store:{path}}}"),
            Piece::Inherit(name) => format!("{{env:{name}}}"),
            Piece::Cores => "{cores}".to_owned(),
        })
        .collect()
}

fn show_find(find: &Find) -> String {
    match find {
        Find::OnPath(name) => format!("PATH:{name}"),
        Find::Named(name) => format!("named:{name}"),
        Find::Upward(dir, name) => format!("upward from {dir}:{name}"),
        Find::Store(path) => format!("{{store:{path}}}"),
    }
}

fn show_gather(gather: &Gather) -> String {
    match gather {
        Gather::Files { under, glob, fresh } => {
            format!("{} {glob}{}", show_place(under), if *fresh { " (fresh)" } else { "" })
        }
        Gather::Nearest(find) => format!("nearest {}", show_find(find)),
    }
}

/// `work:PATH` or `sandbox:PATH`.
pub(crate) fn show_place(place: &Place) -> String {
    match place {
        Place::Sandbox(path) => format!("sandbox:{}", path.as_str()),
        Place::Work(path) => format!("work:{path}"),
    }
}

/// One JSON object per line and mutant; absent values are left out.
pub(crate) fn mutants_text(mutants: &[RawMutant]) -> String {
    let mut text = String::new();
    for mutant in mutants {
        let _ = writeln!(text, "{}", mutant_json(mutant));
    }
    text
}

fn mutant_json(mutant: &RawMutant) -> Value {
    let RawMutant {
        key,
        path,
        span,
        status,
        word,
        doubt,
        change,
        tests,
        function,
        detail,
        duration,
        is_static,
        pointer,
        artifact,
    } = mutant;
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() && value != json!([]) {
            object.insert(name.to_owned(), value);
        }
    };
    put("key", json!(key.0));
    put("path", json!(show_path(path)));
    put("span", json!(show_span(span)));
    put("status", json!(status.map(polymut_schemas::Status::word)));
    put("word", json!(word));
    put("doubt", json!(doubt.map(|doubt| format!("{doubt:?}"))));
    put("operator", json!(change.operator));
    put("class", json!(change.class));
    put("original", json!(change.original));
    put("replacement", json!(change.replacement));
    put("diff", json!(change.diff));
    put("description", json!(change.description));
    put("killed_by", json!(tests.killed_by));
    put("covered_by", json!(tests.covered_by));
    put("function", json!(function));
    put("detail", json!(detail));
    put("duration", json!(duration));
    put("static", json!(is_static));
    put("at", json!(format!("{artifact}#{}", pointer.as_deref().unwrap_or_default())));
    Value::Object(object)
}

/// A raw path with its kind.
pub(crate) fn show_path(path: &RawPath) -> String {
    match path {
        RawPath::FromProject(path) => path.clone(),
        RawPath::FromRepo(path) => format!("repo:{path}"),
        RawPath::Absolute(path) => format!("absolute:{path}"),
        RawPath::Declared { roots, package, file } => {
            let roots: Vec<&str> = roots.iter().map(polymut_schemas::RepoDir::as_str).collect();
            format!("declared:{package}/{file} below {roots:?}")
        }
    }
}

fn show_span(span: &RawSpan) -> String {
    let column = |column: Option<u32>| column.map(|column| format!(":{column}")).unwrap_or_default();
    let mut text = format!("{}{}", span.start.line, column(span.start.column));
    if let Some(end) = span.end {
        let _ = write!(text, "-{}{}", end.line, column(end.column));
    }
    let _ = write!(text, " {:?}", span.unit);
    text
}
