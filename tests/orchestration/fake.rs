//! The fake tool: this test binary, started again with `--exact fake::fake_tool` and words that say what to do.
//!
//! In: words (`hang`, `pid=FILE` …) among the arguments. Out: the behaviour. I/O: all kinds.
//!
//! The test harness takes every word as one more filter, so nothing has to be built or installed for the fake tool, on
//! any system.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use polymut::exec::StopReason;

/// The arguments that turn this test binary into the fake tool.
pub(crate) const ENTRY: [&str; 3] = ["--exact", "fake::fake_tool", "--nocapture"];

/// Not a claim: the entry of the fake tool. Where the arguments do not begin with [`ENTRY`], it does nothing.
#[test]
fn fake_tool() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((entry, words)) = words.split_at_checked(ENTRY.len())
        && entry == ENTRY
    {
        for word in words {
            act(word);
        }
    }
}

fn act(word: &str) {
    let (verb, value) = word.split_once('=').unwrap_or((word, ""));
    match verb {
        "exit" => leave(value.parse().unwrap()),
        "abort" => std::process::abort(),
        "sleep" => std::thread::sleep(Duration::from_millis(value.parse().unwrap())),
        "hang" => loop {
            std::thread::sleep(Duration::from_hours(1));
        },
        "deaf" => be_deaf(),
        "end-everything" => polymut::exec::end_everything(),
        "obey" => obey(value),
        "pid" => put(value, std::process::id().to_string().as_bytes()),
        "say" => say(value),
        "cry" => writeln!(std::io::stderr().lock(), "{value}").unwrap(),
        "bytes" => println(b"caf\xe9 \xff\xfe"),
        "flood" => flood(value.parse().unwrap()),
        "shut" => nix::unistd::close(1).unwrap(),
        "write" => {
            let (path, text) = value.split_once(':').unwrap();
            put(path, text.as_bytes());
        }
        "count" => drop(count(value)),
        "flip" => leave(i32::from(count(value).is_multiple_of(2))),
        "environment" => std::env::vars().for_each(|(name, value)| say(&format!("{name}={value}"))),
        "read" => read_input(),
        "beside" => start(value, Leaving::Group),
        "stray" => start(value, Leaving::Session),
        "bare" => start(value, Leaving::SessionAndEnvironment),
        "setsid" => {
            nix::unistd::setsid().unwrap();
        }
        other => unreachable!("the fake tool cannot {other}"),
    }
}

#[expect(clippy::exit, reason = "the exit code is the behaviour")]
fn leave(code: i32) {
    std::process::exit(code);
}

/// How far a child goes away from its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Group,
    Session,
    SessionAndEnvironment,
}

/// Starts a deaf child that hangs and writes its id to `pid`; returns when it has.
#[expect(clippy::disallowed_methods, reason = "the fake tool is not polymut")]
fn start(pid: &str, leaving: Leaving) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(ENTRY);
    if leaving != Leaving::Group {
        command.arg("setsid");
    }
    if leaving == Leaving::SessionAndEnvironment {
        command.env_clear();
    }
    command.args(["deaf", &format!("pid={pid}"), "hang"]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    drop(command.spawn().unwrap());
    while !Path::new(pid).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Takes TERM and does nothing about it.
fn be_deaf() {
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
            ready.send(()).unwrap();
            while term.recv().await.is_some() {}
        });
    });
    is_ready.recv().unwrap();
}

/// Listens for signals as polymut does, writes `ready`, and leaves with a code that says who asked, or that it was asked
/// twice.
fn obey(ready: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let code = runtime.block_on(async {
        let stop = polymut::exec::Stop::new();
        stop.install_signals(&polymut::exec::EventSender::nobody()).unwrap();
        put(ready, b"listens");
        stop.asked().await;
        match stop.reason() {
            Some(StopReason::Terminated) => 143,
            Some(StopReason::Interrupted) => {
                put(&format!("{ready}.once"), b"asked once");
                stop.forced().await;
                130
            }
            Some(StopReason::Budget) | None => 1,
        }
    });
    leave(code);
}

/// Writes `mebibytes` of numbered lines to stderr.
fn flood(mebibytes: usize) {
    let mut stderr = std::io::stderr().lock();
    let line = [b'.'; 1023];
    for number in 0..mebibytes * 1024 {
        let mut line = line;
        line[..8].copy_from_slice(format!("{number:08}").as_bytes());
        stderr.write_all(&line).unwrap();
        stderr.write_all(b"\n").unwrap();
    }
}

/// Adds a line to a file and tells how many it has now.
fn count(path: &str) -> usize {
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "once").unwrap();
    fs_err::read_to_string(path).unwrap().lines().count()
}

/// Written beside and moved into place: whoever sees the file sees all of it.
fn put(path: &str, bytes: &[u8]) {
    let beside = format!("{path}.part");
    fs_err::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
    fs_err::write(&beside, bytes).unwrap();
    fs_err::rename(&beside, path).unwrap();
}

fn read_input() {
    let count = std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    say(&format!("stdin has {count} bytes"));
}

fn say(text: &str) {
    println(text.as_bytes());
}

fn println(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).unwrap();
    stdout.write_all(b"\n").unwrap();
    stdout.flush().unwrap();
}
