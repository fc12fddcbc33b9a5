//! What `polymut.toml` says of one project.
//!
//! In: a configuration and a project. Out: [`JobSettings`]. I/O: none.

use std::collections::BTreeSet;
use std::time::Duration;

use polymut_adapters::adapter::OwnCommand;
use polymut_adapters::{OperatorSet, Project, ProjectSettings};
use polymut_schemas::RepoDir;

use super::{Config, Network, Operators, ProjectConfig};

/// The settings of one job: the adapter's part, and the executor's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobSettings {
    /// What the adapter sees.
    pub adapter: ProjectSettings,
    /// Longest that one mutant's tests may take, in place of the measured limit.
    pub timeout: Option<Duration>,
    /// Memory ceiling in bytes.
    pub memory: Option<u64>,
    /// Network of tests.
    pub network: Network,
    /// Why the network stays on.
    pub network_reason: Option<String>,
    /// Things that only one job at a time may use.
    pub exclusive: BTreeSet<String>,
}

impl Config {
    /// The settings of `project`: of every matching entry, each setting from the last that has it; `[run]` below.
    pub fn settings_for(&self, project: &Project) -> JobSettings {
        let mut settings = JobSettings {
            memory: self.run.memory.map(|bytes| bytes.0),
            network: self.run.network.unwrap_or_default(),
            network_reason: self.run.reason.clone(),
            ..JobSettings::default()
        };
        for entry in self.entries(&project.dir) {
            if entry.tool.as_ref().is_none_or(|tool| *tool == project.tool.0) {
                settings.overlay(entry);
            }
        }
        settings
    }

    /// Entries that name a tool, in order: path pattern and tool. They choose where several tools could run.
    pub fn tool_choices(&self) -> Vec<(String, String)> {
        let named = |entry: &ProjectConfig| Some((entry.path.as_str().to_owned(), entry.tool.clone()?));
        self.projects.iter().filter_map(named).collect()
    }

    /// The projects that run a command of their own: folder and command.
    pub fn own_commands(&self) -> impl Iterator<Item = (RepoDir, OwnCommand)> + '_ {
        self.projects.iter().filter_map(|entry| Some((entry.path.plain()?, entry.own_command()?)))
    }

    fn entries(&self, dir: &RepoDir) -> impl Iterator<Item = &ProjectConfig> {
        self.projects.iter().filter(move |entry| entry.path.is_dir(dir))
    }
}

impl ProjectConfig {
    /// The project's own command, when one is configured.
    pub fn own_command(&self) -> Option<OwnCommand> {
        let (command, reports, format) = (self.command.clone()?, self.reports.clone()?, self.format.clone()?);
        Some(OwnCommand { command, reports, format })
    }
}

impl JobSettings {
    fn overlay(&mut self, entry: &ProjectConfig) {
        let adapter = &mut self.adapter;
        take(&mut adapter.version, entry.version.as_ref().map(|version| version.as_str().to_owned()));
        take(&mut adapter.test_command, entry.test_command.clone());
        adapter.env.extend(entry.env.clone());
        if let Some(args) = &entry.args {
            adapter.args.clone_from(args);
        }
        if let Some(operators) = entry.operators {
            adapter.operators = match operators {
                Operators::Logic => OperatorSet::Logic,
                Operators::Default => OperatorSet::Default,
                Operators::All => OperatorSet::All,
            };
        }
        take(&mut self.timeout, entry.timeout.map(|period| period.0));
        take(&mut self.memory, entry.memory.map(|bytes| bytes.0));
        if let Some(network) = entry.network {
            self.network = network;
            self.network_reason.clone_from(&entry.reason);
        }
        if let Some(exclusive) = &entry.exclusive {
            self.exclusive = exclusive.iter().cloned().collect();
        }
    }
}

fn take<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use polymut_schemas::ToolId;

    use super::super::{Bytes, PathGlob};
    use super::*;

    fn entry(path: &str) -> ProjectConfig {
        let text = format!("path = \"{path}\"");
        toml::from_str(&text).unwrap()
    }

    fn project(tool: &str, dir: &str) -> Project {
        let dir = RepoDir::new(dir).unwrap();
        Project { tool: ToolId::from(tool), owns: vec![dir.clone()], dir, memo: BTreeMap::new() }
    }

    #[test]
    fn each_setting_comes_from_the_last_entry_that_has_it() {
        let wide = ProjectConfig {
            memory: Some(Bytes(1)),
            args: Some(vec!["a".to_owned()]),
            network: Some(Network::Host),
            reason: Some("queue".to_owned()),
            ..entry("services/**")
        };
        let narrow = ProjectConfig { memory: Some(Bytes(2)), ..entry("services/pay") };
        let config = Config { projects: vec![wide, narrow], ..Config::default() };
        let pay = config.settings_for(&project("alpha", "services/pay"));
        assert_eq!((pay.memory, pay.adapter.args.as_slice()), (Some(2), &["a".to_owned()][..]));
        assert_eq!((pay.network, pay.network_reason.as_deref()), (Network::Host, Some("queue")));
        assert_eq!(config.settings_for(&project("alpha", "apps")), JobSettings::default());
    }

    #[test]
    fn an_entry_that_names_a_tool_is_for_that_tool_alone() {
        let only =
            ProjectConfig { tool: Some("beta".to_owned()), operators: Some(Operators::All), ..entry("lib") };
        let config = Config { projects: vec![only], ..Config::default() };
        assert_eq!(config.settings_for(&project("beta", "lib")).adapter.operators, OperatorSet::All);
        assert_eq!(config.settings_for(&project("alpha", "lib")).adapter.operators, OperatorSet::Default);
        assert_eq!(config.tool_choices(), [("lib".to_owned(), "beta".to_owned())]);
    }

    #[test]
    fn an_own_command_is_listed_with_its_folder() {
        let own = ProjectConfig {
            command: Some(vec!["make".to_owned()]),
            reports: Some(vec!["out/*.xml".to_owned()]),
            format: Some("alpha".to_owned()),
            path: PathGlob::new("app").unwrap(),
            ..entry("app")
        };
        let config = Config { projects: vec![own, entry("b")], ..Config::default() };
        let dirs: Vec<String> = config.own_commands().map(|(dir, _)| dir.to_string()).collect();
        assert_eq!(dirs, ["app"]);
    }
}
