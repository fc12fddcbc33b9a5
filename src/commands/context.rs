//! Where a command works, and what it takes from there: repository, configuration, environment.
//!
//! In: `-C`, `--color`. Out: [`Place`]. I/O: current folder, environment, through git and config.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use polymut_adapters::Adapter;
use polymut_adapters::tools::REGISTRY;
use polymut_schemas::{Guarantee, IsolationLevel, NewSide};

use crate::assemble::GateInput;
use crate::cli::ScopeArgs;
use crate::config::{self, Config};
use crate::exec::{Caches, Containment, HostEnv, MOST_PROCESSES, ProbeRequest};
use crate::git::{DiffFile, Repo, ScopeRequest};
use crate::owners::{Owners, PLACES};
use crate::paths::AbsPath;
use crate::planner::Choice;
use crate::ui::{Colour, Terminal};

/// Where a command works.
pub(super) struct Place {
    /// The folder.
    pub(super) here: AbsPath,
    /// The two streams.
    pub(super) terminal: Terminal,
    /// The environment.
    pub(super) host: HostEnv,
}

/// CI variables that name a base, in the order in which they are tried.
const BASE_VARIABLES: &[&str] = &[
    "GITHUB_BASE_REF",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    "CHANGE_TARGET",
    "BITBUCKET_PR_DESTINATION_BRANCH",
    "SYSTEM_PULLREQUEST_TARGETBRANCH",
];

impl Place {
    /// The folder of `-C`, else the current one.
    pub(super) fn new(directory: Option<Utf8PathBuf>, color: Colour) -> anyhow::Result<Self> {
        let current = Utf8PathBuf::try_from(std::env::current_dir()?)?;
        let here = directory.map_or_else(|| current.clone(), |given| current.join(given));
        Ok(Self { here: AbsPath::new(here)?, terminal: Terminal::new(color), host: HostEnv::read() })
    }

    /// The same place, elsewhere.
    pub(super) fn at(&self, here: AbsPath) -> Self {
        Self { here, terminal: self.terminal, host: self.host.clone() }
    }

    /// A path as the user wrote it, from here.
    pub(super) fn path(&self, given: &Utf8PathBuf) -> anyhow::Result<AbsPath> {
        Ok(AbsPath::new(self.here.as_path().join(given))?)
    }

    /// The bytes of a file as the user wrote it; `-` is standard input.
    pub(super) fn read(&self, given: &Utf8PathBuf) -> anyhow::Result<Vec<u8>> {
        if given == "-" {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
            return Ok(bytes);
        }
        Ok(fs_err::read(self.path(given)?.as_std_path())?)
    }

    /// The repository that holds this folder.
    pub(super) fn repo(&self) -> anyhow::Result<Repo> {
        Ok(Repo::open(&self.here)?)
    }

    /// What the scope arguments ask for.
    pub(super) fn request(&self, args: &ScopeArgs) -> anyhow::Result<ScopeRequest> {
        let side = match (args.staged, args.committed) {
            (true, _) => NewSide::Index,
            (false, true) => NewSide::Head,
            (false, false) => NewSide::WorkingTree,
        };
        let diff_file = match &args.diff_file {
            Some(path) => Some(DiffFile { name: path.to_string(), bytes: self.read(path)? }),
            None => None,
        };
        let set = |name: &&str| Some(((*name).to_owned(), self.host.text(name)?.to_owned()));
        let env: BTreeMap<String, String> = BASE_VARIABLES.iter().filter_map(set).collect();
        Ok(ScopeRequest {
            base: args.base.clone(),
            side,
            diff_file,
            all: args.all,
            width: args.scope.into(),
            env,
        })
    }
}

/// Which walls hold here: tried, not assumed.
pub(super) async fn containment(
    place: &Place,
    scratch: &AbsPath,
    wanted: Option<IsolationLevel>,
    require: &[Guarantee],
    caches: &Caches,
) -> anyhow::Result<Containment> {
    let helper = AbsPath::new(Utf8PathBuf::try_from(std::env::current_exe()?)?)?;
    let repo = place.repo();
    let request = ProbeRequest {
        helper: &helper,
        root: repo.as_ref().map_or(&place.here, Repo::root),
        scratch,
        host: &place.host,
        wanted,
        require,
        pids: MOST_PROCESSES,
        caches,
    };
    Ok(Containment::probe(&request).await?)
}

/// Every adapter.
pub(super) fn adapters() -> Vec<&'static dyn Adapter> {
    REGISTRY.to_vec()
}

/// What narrows the projects.
pub(super) fn choice(args: &ScopeArgs, config: &Config) -> Choice {
    let named = |entry: &config::ProjectConfig| Some((entry.path.as_str().to_owned(), entry.tool.clone()?));
    let configured = config.projects.iter().filter_map(named).collect();
    let own = config.own_commands().collect();
    Choice { projects: args.project.clone(), tools: args.tool.clone(), configured, own }
}

/// What the gate weighs beside the results: waivers and owners of the repository at `root`.
pub(super) fn gate_input(root: &AbsPath) -> anyhow::Result<GateInput> {
    let text = PLACES.iter().find_map(|place| fs_err::read_to_string(root.join(place).as_std_path()).ok());
    Ok(GateInput {
        waivers: config::load_waivers(root)?,
        owners: text.map(|text| Owners::parse(&text)).unwrap_or_default(),
        today: today(),
    })
}

/// Today in UTC: an expiry means the same day for everyone.
pub(super) fn today() -> jiff::civil::Date {
    jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date()
}
