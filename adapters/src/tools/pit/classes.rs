//! Which compiled classes and methods the changed lines are in.
//!
//! In: class files that Prepare left, changed files. Out: [`Compiled`], [`Selection`]. I/O: none.
//!
//! Classes are found by what the compiler wrote into them (source file name and package), never guessed from paths: a
//! second top-level class, `TaxKt` of `Tax.kt`, a Kotlin package that is no folder are all found that way.

use std::collections::{BTreeMap, BTreeSet};

use polymut_schemas::{LineRange, RepoDir, RepoPath, ScopeWidth, StageName};

use super::classfile::{self, ClassFile};
use super::detect::Memo;
use super::extents::Extents;
use super::source;
use crate::{Changed, ChangedFile, Job};

/// The class files of a project.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    classes: Vec<Class>,
}

#[derive(Debug)]
struct Class {
    module: RepoDir,
    test: bool,
    file: ClassFile,
}

impl Compiled {
    /// The class files that the last Prepare rounds left.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        let memo = Memo(job.project);
        let rounds: Vec<_> = job.rounds(StageName::Prepare).collect();
        let files = rounds.iter().flat_map(|ran| ran.files_ending(".class"));
        let classes = files.filter_map(|(place, bytes)| {
            let file = classfile::read(bytes)?;
            let folder = place.as_str().strip_suffix(&file.path())?.trim_end_matches('/');
            let path = RepoPath::new(place.as_str()).ok()?;
            Some(Class { module: memo.module_with(&path), test: is_test_folder(folder), file })
        });
        Self { classes: classes.collect() }
    }

    /// Whether nothing was compiled.
    pub(crate) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    fn of_file<'a>(
        &'a self,
        module: &'a RepoDir,
        name: &'a str,
        package: &'a str,
    ) -> impl Iterator<Item = &'a Class> {
        self.classes.iter().filter(move |class| {
            class.module == *module
                && class.file.source.as_deref() == Some(name)
                && class.file.package() == package
        })
    }
}

/// `target/test-classes`, `build/classes/java/test`, `build/classes/kotlin/integrationTest`.
fn is_test_folder(folder: &str) -> bool {
    let last = folder.rsplit('/').next().unwrap_or_default();
    last.starts_with("test") || last.ends_with("Test")
}

/// What the changed lines of a project are in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Names of the classes to mutate, exact, per module.
    pub(crate) modules: BTreeMap<RepoDir, BTreeSet<String>>,
    /// Methods that hold changed lines.
    pub(crate) methods: BTreeSet<String>,
    /// Changed files that a class was compiled from, with the classes that hold changed lines (perhaps none) and
    /// their module.
    pub(crate) files: BTreeMap<RepoPath, Picked>,
    /// Changed files that no class names as its source.
    pub(crate) unknown: Vec<RepoPath>,
}

/// The classes of one changed file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Picked {
    /// The module.
    pub(crate) module: RepoDir,
    /// The package that the file declares.
    pub(crate) package: String,
    /// Classes that hold changed lines.
    pub(crate) classes: BTreeSet<String>,
}

impl Selection {
    /// Finds the classes of `wanted` (all changed files when it is `None`).
    pub(crate) fn of(job: &Job<'_>, compiled: &Compiled, wanted: Option<&[RepoPath]>) -> Self {
        let mut selection = Self::default();
        for (path, file) in &job.changed.files {
            if wanted.is_none_or(|wanted| wanted.contains(path)) {
                selection.pick(job, compiled, path, file);
            }
        }
        selection
    }

    fn pick(&mut self, job: &Job<'_>, compiled: &Compiled, path: &RepoPath, file: &ChangedFile) {
        let memo = Memo(job.project);
        let module = memo.module_with(path);
        let text = String::from_utf8_lossy(&file.bytes);
        let package = source::package(&text);
        let classes: Vec<&Class> = compiled.of_file(&module, path.file_name(), &package).collect();
        if classes.is_empty() {
            self.unknown.push(path.clone());
            return;
        }
        let extents = Extents::of(path.file_name(), &text);
        let mut picked =
            Picked { module: module.clone(), package: package.clone(), classes: BTreeSet::new() };
        for class in classes.iter().filter(|class| !class.test) {
            for method in &class.file.methods {
                let touched =
                    method.lines.iter().any(|line| touches(job.changed, file, extents.around(*line)));
                if touched || (job.changed.width != ScopeWidth::Line && !method.lines.is_empty()) {
                    picked.classes.insert(class.file.name.clone());
                    self.methods.insert(method.name.clone());
                }
            }
        }
        if !picked.classes.is_empty() {
            self.modules.entry(module).or_default().extend(picked.classes.iter().cloned());
        }
        self.files.insert(path.clone(), picked);
    }

    /// The changed file that a class of `module` with this source name comes from.
    pub(crate) fn file_of(&self, module: &RepoDir, package: &str, source: &str) -> Option<&RepoPath> {
        let mut found = self.files.iter().filter(|(path, picked)| {
            path.file_name() == source && picked.package == package && picked.module == *module
        });
        // Two files that answer to one class are for the normaliser to call ambiguous.
        found.next().filter(|_| found.next().is_none()).map(|(path, _)| path)
    }
}

fn touches(changed: &Changed, file: &ChangedFile, lines: LineRange) -> bool {
    match changed.width {
        ScopeWidth::Line => file.lines.touches(lines),
        ScopeWidth::Function | ScopeWidth::File | ScopeWidth::All => true,
    }
}
