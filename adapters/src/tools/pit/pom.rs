//! What a `pom.xml` says that matters before Maven has run: modules, names, the PIT plugin and its version.
//!
//! In: bytes of one POM. Out: [`Pom`]. I/O: none.
//!
//! No effective POM is built here: parents outside the repository, profiles and plugin management of others are
//! Maven's to resolve. What matters of those is read from Maven's own output in Prepare.

use std::collections::BTreeMap;

use super::xml::{self, Element};
use crate::formats::text;

/// One POM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pom {
    /// `artifactId`.
    pub(crate) artifact: String,
    /// `modules`, those of profiles included, as written.
    pub(crate) modules: Vec<String>,
    /// `properties`.
    pub(crate) properties: BTreeMap<String, String>,
    /// `artifactId`s of the dependencies.
    pub(crate) dependencies: Vec<String>,
    /// Whether the PIT plugin is named.
    pub(crate) has_pit: bool,
    /// Its version as written, when it is.
    pub(crate) pit_version: Option<String>,
    /// `testSourceDirectory`, as written.
    pub(crate) test_sources: Option<String>,
}

/// Reads a POM; `None` when it is not one.
pub(crate) fn read(bytes: &[u8]) -> Option<Pom> {
    let text = text::lenient("pom.xml", bytes).ok()?;
    let root = xml::read(&text).root.filter(|root| root.name == "project")?;
    let mut pom =
        Pom { artifact: root.text_of("artifactId").unwrap_or_default().to_owned(), ..Pom::default() };
    for modules in root.all().into_iter().filter(|element| element.name == "modules") {
        let names = modules.children.iter().filter(|child| child.name == "module");
        pom.modules.extend(names.map(|child| child.text.trim().to_owned()));
    }
    if let Some(properties) = root.child("properties") {
        pom.properties = properties
            .children
            .iter()
            .map(|property| (property.name.clone(), property.text.trim().to_owned()))
            .collect();
    }
    let profiles = root.child("profiles").map(|list| list.children.as_slice()).unwrap_or_default();
    pom.dependencies = std::iter::once(&root)
        .chain(profiles)
        .filter_map(|owner| owner.child("dependencies"))
        .flat_map(|list| list.children.iter())
        .filter_map(|dependency| dependency.text_of("artifactId").map(str::to_owned))
        .collect();
    let plugins = root.all().into_iter().filter(|element| element.name == "plugin");
    for plugin in plugins.filter(|plugin| plugin.text_of("artifactId") == Some("pitest-maven")) {
        pom.has_pit = true;
        pom.pit_version = pom.pit_version.or_else(|| plugin.text_of("version").map(str::to_owned));
    }
    pom.test_sources = test_sources(&root);
    Some(pom)
}

fn test_sources(root: &Element) -> Option<String> {
    let written = root.child("build")?.text_of("testSourceDirectory")?;
    let below = written.replace("${project.basedir}/", "").replace("${basedir}/", "");
    (!below.contains("${")).then_some(below)
}

/// `text` with `${…}` replaced as far as `properties` know; `None` when one is unknown.
pub(crate) fn interpolate(text: &str, properties: &BTreeMap<String, String>) -> Option<String> {
    let mut value = text.to_owned();
    // Properties may refer to properties; a circle ends here.
    for _ in 0..8 {
        let Some((before, rest)) = value.split_once("${") else { return Some(value) };
        let (name, after) = rest.split_once('}')?;
        value = format!("{before}{}{after}", properties.get(name)?);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_the_plugin_are_read_wherever_they_stand() {
        let text = "<project><artifactId>a</artifactId><properties><v>1.20.0</v></properties>\
            <modules><module>core</module></modules>\
            <profiles><profile><modules><module> it </module></modules></profile></profiles>\
            <build><pluginManagement><plugins><plugin><artifactId>pitest-maven</artifactId><version>${v}</version>\
            <dependencies><dependency><artifactId>x</artifactId></dependency></dependencies></plugin></plugins>\
            </pluginManagement></build></project>";
        let pom = read(text.as_bytes()).unwrap();
        assert_eq!((pom.artifact.as_str(), pom.modules), ("a", vec!["core".to_owned(), "it".to_owned()]));
        assert!(pom.has_pit && pom.dependencies.is_empty());
        assert_eq!(interpolate(&pom.pit_version.unwrap(), &pom.properties).as_deref(), Some("1.20.0"));
        assert_eq!(read(b"<settings/>"), None);
        assert_eq!(interpolate("${a}", &[("a".to_owned(), "${a}".to_owned())].into()), None);
    }
}
