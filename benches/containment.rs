//! How long walls take: start of a program bare, in a copy and sealed; a warmed fork of both.
//!
//! In: nothing. Out: medians and quartiles of 100 on stdout. I/O: temporary folders, processes.
//!
//! `cargo bench --bench containment`. A warmed fork is a fork of a sandbox in which something was built, together with
//! the start of a program in it: what one parallel worker costs.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails has to say so loudly")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use fs_err as fs;
    use polymut::exec::{
        CacheUse, Caches, Cap, Containment, HostEnv, Launch, MOST_PROCESSES, ProbeRequest, Process, Request,
        Sandbox, SourceBytes, SourceEntry, SourceKind, Stop, run_process,
    };
    use polymut::paths::AbsPath;
    use polymut_adapters::{End, WorkPath};
    use polymut_schemas::{IsolationLevel, RepoDir, RepoPath};

    const TIMES: usize = 100;
    /// A small project with some build output.
    const FILES: usize = 300;

    pub(super) fn main() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(measure());
    }

    async fn measure() {
        // Not below a temporary folder: that is private in a room, and would be measured as well.
        let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let base = AbsPath::new(fs::canonicalize(temp.path()).unwrap().to_str().unwrap()).unwrap();
        let entries = lay_out(&base.join("repo"));
        for level in [IsolationLevel::BestEffort, IsolationLevel::Copied, IsolationLevel::Sealed] {
            let started = Instant::now();
            let containment = probe(&base, level).await;
            println!("{level:?}: probe {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
            let sandbox = create(&containment, &base, &entries, &format!("{level:?}"));
            for _ in 0..3 {
                start(sandbox.as_ref()).await;
            }
            let mut times = Vec::new();
            for _ in 0..TIMES {
                times.push(start(sandbox.as_ref()).await);
            }
            show(&format!("{level:?}: start"), times);
            sandbox.write(&RepoPath::new("target/built").unwrap(), b"output").unwrap();
            let mut times = Vec::new();
            for number in 0..TIMES {
                let begun = Instant::now();
                let fork = sandbox.fork(&format!("{level:?}-{number}")).unwrap();
                let forked = begun.elapsed();
                times.push(forked + start(fork.as_ref()).await);
            }
            show(&format!("{level:?}: warmed fork and start"), times);
        }
    }

    fn lay_out(root: &AbsPath) -> Vec<SourceEntry> {
        (0..FILES)
            .map(|number| {
                let path = RepoPath::new(format!("src/part{}/file{number}.rs", number % 20)).unwrap();
                let file = root.file(&path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, vec![b'x'; 4000]).unwrap();
                SourceEntry { path, kind: SourceKind::File, at: SourceBytes::Disk }
            })
            .collect()
    }

    async fn probe(base: &AbsPath, level: IsolationLevel) -> Containment {
        let request = ProbeRequest {
            helper: &AbsPath::new(env!("CARGO_BIN_EXE_polymut")).unwrap(),
            root: &base.join("repo"),
            scratch: &base.join("scratch"),
            host: &HostEnv::read(),
            wanted: Some(level),
            require: &[],
            pids: MOST_PROCESSES,
            caches: &Caches::default(),
        };
        Containment::probe(&request).await.unwrap()
    }

    fn create(
        containment: &Containment,
        base: &AbsPath,
        entries: &[SourceEntry],
        name: &str,
    ) -> Box<dyn Sandbox> {
        let request = Request {
            root: &base.join("repo"),
            entries,
            blobs: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
            folder: &base.join("scratch"),
            name,
            dependency_dirs: &[],
            stop: &Stop::new(),
        };
        containment.sandbox(&request).unwrap()
    }

    /// Wall time from the wish to start `true` to its end.
    async fn start(sandbox: &dyn Sandbox) -> Duration {
        let work = sandbox.work(&WorkPath::new("").unwrap());
        let begun = Instant::now();
        let inside = Launch {
            program: AbsPath::new("/bin/true").unwrap(),
            args: Vec::new(),
            cwd: sandbox.seen(&RepoDir::root()),
            env: BTreeMap::new(),
            network: false,
            memory: Some(1 << 30),
            caches: CacheUse::Private,
        };
        let process = Process {
            name: "true",
            launch: sandbox.launch(inside).unwrap(),
            wall: None,
            grace: Duration::from_secs(1),
            stdout: work.join("stdout"),
            stderr: work.join("stderr"),
            cap: Cap::default(),
            on_line: Arc::new(|_| ()),
            sandbox: Some(sandbox),
            disk: work.clone(),
            before_stop: None,
        };
        let ended = run_process(process, &Stop::new()).await.unwrap();
        let took = begun.elapsed();
        assert_eq!(ended.end, End::Exit(0));
        took
    }

    fn show(what: &str, mut times: Vec<Duration>) {
        times.sort();
        let at = |part: usize| times[times.len() * part / 4].as_secs_f64() * 1e3;
        println!("{what}: median {:.2} ms, quartiles {:.2} to {:.2} ms", at(2), at(1), at(3));
    }
}
