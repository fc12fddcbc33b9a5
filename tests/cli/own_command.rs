//! A repository whose project is mutated by a command of its own: a shell script that edits the source in place.
//!
//! In: nothing. Out: a repository, documents to compare. I/O: temporary folders.

use polymut_schemas::Report;
use serde_json::Value;

use crate::place::Place;

/// Replaces one line after the other by a word, runs the suite, and writes its report last. A line that is mutated
/// stands in the source while its suite runs.
const MUTATE: &str = r#"#!/bin/sh
mkdir -p out
: > out/part
cp words.py before.py
total=$(wc -l < words.py)
number=1
comma=
while [ "$number" -le "$total" ]; do
    sed "${number}s/.*/MUTATED/" before.py > words.py
    status=Killed
    if sh suite.sh; then status=Survived; fi
    width=$(sed -n "${number}p" before.py | wc -c)
    printf '%s{"id":"%s","mutatorName":"Word","replacement":"MUTATED","status":"%s","location":{"start":{"line":%s,"column":1},"end":{"line":%s,"column":%s}}}' \
        "$comma" "$number" "$status" "$number" "$number" "$width" >> out/part
    comma=,
    number=$((number + 1))
done
cp before.py words.py
{
    printf '{"schemaVersion":"2","thresholds":{"high":80,"low":60},"files":{"words.py":{"language":"words","source":"","mutants":['
    cat out/part
    printf ']}}}'
} > out/report.json
"#;

const CONFIG: &str = "\
[[project]]
path = \".\"
command = [\"sh\", \"mutate.sh\"]
reports = [\"out/*.json\"]
format = \"elements\"
test-command = [\"sh\", \"suite.sh\"]
";

/// Two changed words, one of which the suite wants; ignored and untracked files beside them. Each run of the suite takes
/// `pause` seconds.
pub(crate) fn words(pause: &str) -> Place {
    let suite = format!("sleep {pause}\ngrep -q one words.py && grep -q three words.py\n");
    let place = Place::with(&[
        ("mutate.sh", MUTATE),
        ("suite.sh", &suite),
        ("words.py", "one\ntwo\n"),
        ("polymut.toml", CONFIG),
    ]);
    place.write("words.py", "one\ntwo\nthree\nfour\n");
    place.write("notes.txt", "untracked\n");
    place.write("target/ignored.bin", b"\0ignored");
    place
}

/// A document without what may differ from run to run: times, peaks, command lines, killers, where answers come from.
pub(crate) fn essence(report: &Report) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["timing", "duration", "commands", "killed_by", "provenance", "peak_memory"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut value = serde_json::to_value(report).unwrap();
    strip(&mut value);
    value
}
