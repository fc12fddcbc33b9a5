//! Finds out which walls hold here, by building them around a program that tries to get out.
//!
//! In: what the user wants and demands. Out: [`Containment`], which makes sandboxes. I/O: a few short processes in the
//! scratch folder.
//!
//! A guarantee is reported as held only when the program failed to break it. Levels are tried from the highest down.

use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::sync::Arc;

use polymut_schemas::{ContainmentReached, Guarantee, IsolationLevel, Reached};

#[cfg(target_os = "linux")]
use super::{Builder, SealedSandbox, Starter};
use super::{Caches, CopiedSandbox, HostEnv, Request, Sandbox, SandboxError};
use crate::paths::AbsPath;

/// What is wanted of containment.
#[derive(Debug, Clone, Copy)]
pub struct ProbeRequest<'a> {
    /// This program, which is started again around each tool.
    pub helper: &'a AbsPath,
    /// Root of the user's tree: not every file system can lie below an overlay.
    pub root: &'a AbsPath,
    /// An own folder on the file system where sandboxes will be.
    pub scratch: &'a AbsPath,
    /// The user's environment.
    pub host: &'a HostEnv,
    /// The level; `None`: the highest that holds.
    pub wanted: Option<IsolationLevel>,
    /// Guarantees without which nothing may run.
    pub require: &'a [Guarantee],
    /// The most processes and threads of one tool; [`super::MOST_PROCESSES`] is plenty.
    pub pids: u64,
    /// The folders that Fetch steps share with the user.
    pub caches: &'a Caches,
}

/// Why a level does not hold here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The level.
    pub level: IsolationLevel,
    /// What failed.
    pub why: String,
    /// The one line that lifts it, where it is known.
    pub lift: Option<String>,
}

/// The containment of a run.
#[derive(Debug, Clone)]
pub struct Containment {
    pub(super) reached: ContainmentReached,
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) how: How,
}

#[derive(Debug, Clone)]
pub(super) enum How {
    #[cfg(target_os = "linux")]
    Sealed(Arc<Builder>),
    #[cfg(target_os = "linux")]
    Kept(Starter),
    Bare,
}

impl Containment {
    /// Tries out what holds here. The answer is good for the whole run.
    pub async fn probe(request: &ProbeRequest<'_>) -> Result<Self, SandboxError> {
        let found = match request.wanted {
            Some(IsolationLevel::BestEffort) => Self::bare(Vec::new(), IsolationLevel::BestEffort),
            Some(IsolationLevel::Sealed | IsolationLevel::Copied) | None => Self::try_levels(request).await?,
        };
        match request.require.iter().find(|guarantee| !found.holds(**guarantee)) {
            Some(missing) => Err(found.lacks(*missing)),
            None => Ok(found),
        }
    }

    #[cfg(target_os = "linux")]
    async fn try_levels(request: &ProbeRequest<'_>) -> Result<Self, SandboxError> {
        super::trials::best(request).await
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_async, reason = "the same call on every system")]
    async fn try_levels(_request: &ProbeRequest<'_>) -> Result<Self, SandboxError> {
        Ok(Self::bare(Vec::new(), IsolationLevel::Copied))
    }

    /// A copy without anything around its processes; nothing was tried, so nothing is claimed.
    pub(super) fn bare(obstacles: Vec<Obstacle>, level: IsolationLevel) -> Self {
        let mut reached = super::copied_level();
        reached.level = level;
        Self { reached, obstacles, how: How::Bare }
    }

    /// What the processes of its sandboxes get.
    pub fn reached(&self) -> &ContainmentReached {
        &self.reached
    }

    /// The same for a project that asked for the machine's network.
    #[must_use]
    pub fn reached_with_network(&self) -> ContainmentReached {
        let mut reached = self.reached.clone();
        let open = Reached { held: false, by: "left on by the project's own setting".to_owned() };
        reached.guarantees.insert(Guarantee::Network, open);
        reached
    }

    /// The folders that Fetch steps share with the user. Below the sealed level nothing separates them.
    pub fn shared_caches(&self) -> Vec<AbsPath> {
        match &self.how {
            #[cfg(target_os = "linux")]
            How::Sealed(builder) => builder.surroundings.shared().cloned().collect(),
            #[cfg(target_os = "linux")]
            How::Kept(_) => Vec::new(),
            How::Bare => Vec::new(),
        }
    }

    /// Why higher levels do not hold here.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// A sandbox of this level.
    pub fn sandbox(&self, request: &Request<'_>) -> Result<Box<dyn Sandbox>, SandboxError> {
        match &self.how {
            #[cfg(target_os = "linux")]
            How::Sealed(builder) => Ok(Box::new(SealedSandbox::create(request, builder)?)),
            #[cfg(target_os = "linux")]
            How::Kept(starter) => {
                let copied = CopiedSandbox::create(request, self.reached.clone())?;
                Ok(Box::new(copied.kept_by(starter.clone())?))
            }
            How::Bare => Ok(Box::new(CopiedSandbox::create(request, self.reached.clone())?)),
        }
    }

    fn holds(&self, guarantee: Guarantee) -> bool {
        self.reached.guarantees.get(&guarantee).is_some_and(|reached| reached.held)
    }

    fn lacks(&self, guarantee: Guarantee) -> SandboxError {
        let by = self.reached.guarantees.get(&guarantee).map(|reached| reached.by.clone());
        let why = self.obstacles.iter().map(|obstacle| obstacle.why.clone()).chain(by);
        SandboxError::Required {
            guarantee: word(guarantee).to_owned(),
            why: why.collect::<Vec<_>>().join("; "),
            lift: self.obstacles.iter().find_map(|obstacle| obstacle.lift.clone()),
        }
    }
}

/// A guarantee as the command line writes it.
pub(super) fn word(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::Memory => "memory",
        Guarantee::Network => "network",
        Guarantee::Files => "files",
        Guarantee::Tree => "tree",
    }
}

/// The guarantees of a level, from what was seen.
#[cfg(target_os = "linux")]
pub(super) fn reached(
    level: IsolationLevel,
    seen: impl IntoIterator<Item = (Guarantee, bool, &'static str)>,
) -> ContainmentReached {
    let guarantees: BTreeMap<Guarantee, Reached> = seen
        .into_iter()
        .map(|(guarantee, held, by)| (guarantee, Reached { held, by: by.to_owned() }))
        .collect();
    ContainmentReached { level, guarantees }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_that_does_not_hold_names_the_obstacle_and_its_remedy() {
        let obstacle = Obstacle {
            level: IsolationLevel::Sealed,
            why: "no namespaces".to_owned(),
            lift: Some("sysctl -w x=0".to_owned()),
        };
        let bare = Containment::bare(vec![obstacle], IsolationLevel::Copied);
        let error = bare.lacks(Guarantee::Network);
        assert!(
            error.to_string().contains("network") && error.to_string().contains("no namespaces"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("sysctl -w x=0"));
    }

    #[test]
    fn nothing_that_was_not_tried_is_held() {
        let bare = Containment::bare(Vec::new(), IsolationLevel::BestEffort);
        for guarantee in [Guarantee::Memory, Guarantee::Network, Guarantee::Files, Guarantee::Tree] {
            assert!(!bare.holds(guarantee), "{guarantee:?}");
        }
        assert_eq!(bare.reached().level, IsolationLevel::BestEffort);
    }
}
