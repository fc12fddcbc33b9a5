//! What a project file says before MSBuild has evaluated it: a guess that Prepare replaces by MSBuild's own answer.
//!
//! In: bytes of a `.csproj` or `Directory.Build.props`. Out: [`Csproj`]. I/O: none.
//!
//! Conditions are not evaluated: a reference under a condition counts. What MSBuild then denies is left out later.

use polymut_schemas::{RepoDir, RepoPath};

use crate::formats::text;
use crate::formats::xml::{self, Element};

/// One project file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Csproj {
    /// `PackageReference`s in lower case: NuGet does not tell them apart by case.
    pub(super) packages: Vec<String>,
    /// `ProjectReference`s that stay in the repository.
    pub(super) references: Vec<RepoPath>,
    /// `Compile Include`s as written, `/` between parts.
    pub(super) compiled: Vec<String>,
    /// `IsTestProject` or `IsTestingPlatformApplication`, where it says.
    pub(super) test: Option<bool>,
}

/// Packages that make a project one of tests.
const TEST_PACKAGES: &[&str] = &[
    "microsoft.net.test.sdk",
    "mstest",
    "mstest.testadapter",
    "mstest.testframework",
    "nunit",
    "nunit3testadapter",
    "tunit",
    "xunit",
    "xunit.runner.visualstudio",
    "xunit.v3",
];

impl Csproj {
    /// Whether some package is a test framework or its adapter.
    pub(super) fn has_test_package(&self) -> bool {
        self.packages.iter().any(|package| is_test_package(package))
    }
}

/// Whether a package, in lower case, is a test framework or its adapter.
pub(super) fn is_test_package(package: &str) -> bool {
    TEST_PACKAGES.contains(&package) || is_platform_package(package)
}

/// Whether a package, in lower case, brings tests that `VSTest` finds but cannot switch mutants in: with xunit.v3 it
/// lets every mutant survive (seen with 5.1.0; its issue 3117).
pub(super) fn is_platform_package(package: &str) -> bool {
    package == "tunit" || package == "xunit.v3" || package.starts_with("xunit.v3.mtp")
}

/// Reads the project file at `path`; what cannot be read says nothing.
pub(super) fn read(path: &RepoPath, bytes: &[u8]) -> Csproj {
    let Ok(text) = text::lenient(path.as_str(), bytes) else { return Csproj::default() };
    let Some(root) = xml::read(&text).root else { return Csproj::default() };
    let mut project = Csproj::default();
    if sdks(&root).any(|sdk| sdk.to_lowercase().starts_with("mstest.sdk")) {
        project.packages.push("mstest".to_owned());
    }
    for element in root.all() {
        let included = element.attribute("Include").unwrap_or_default();
        match element.name.as_str() {
            "PackageReference" => project.packages.extend(parts(included).map(|name| name.to_lowercase())),
            "ProjectReference" => {
                project
                    .references
                    .extend(parts(included).filter_map(|name| in_repository(&path.dir(), &name)));
            }
            "Compile" => project.compiled.extend(parts(included).filter_map(|name| plain(&name))),
            "IsTestProject" => project.test = Some(is_true(element)),
            "IsTestingPlatformApplication" if is_true(element) => project.test = Some(true),
            _ => {}
        }
    }
    project
}

fn sdks(root: &Element) -> impl Iterator<Item = &str> {
    let own = root.attribute("Sdk").into_iter().flat_map(|text| text.split(';'));
    let listed = root.children.iter().filter(|child| child.name == "Sdk");
    own.chain(listed.filter_map(|child| child.attribute("Name")))
}

fn is_true(element: &Element) -> bool {
    element.text.trim().eq_ignore_ascii_case("true")
}

/// The parts of a list, `/` between the parts of paths.
fn parts(list: &str) -> impl Iterator<Item = String> {
    list.split(';').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.replace('\\', "/"))
}

/// A path without MSBuild expressions, those for the project's own folder aside.
fn plain(path: &str) -> Option<String> {
    let own = ["$(MSBuildThisFileDirectory)", "$(MSBuildProjectDirectory)/", "$(ProjectDir)"];
    let path = own.iter().fold(path.to_owned(), |path, word| path.replace(word, ""));
    (!path.contains("$(") && !path.contains("@(")).then_some(path)
}

fn in_repository(dir: &RepoDir, path: &str) -> Option<RepoPath> {
    dir.join(plain(path)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Csproj {
        read(&RepoPath::new("tests/T/T.csproj").unwrap(), text.as_bytes())
    }

    #[test]
    fn references_are_resolved_and_packages_are_lower_case() {
        let read = project(
            "<Project Sdk=\"Microsoft.NET.Sdk\"><ItemGroup><PackageReference Include=\"XUnit\" Version=\"2\"/>\
             <ProjectReference Include=\"..\\..\\src\\A\\A.csproj;$(Other)/B.csproj\" />\
             <Compile Include=\"../Shared/*.cs\" /></ItemGroup></Project>",
        );
        assert_eq!(read.references, [RepoPath::new("src/A/A.csproj").unwrap()]);
        assert_eq!(read.compiled, ["../Shared/*.cs"]);
        assert!(read.has_test_package());
    }

    #[test]
    fn frameworks_are_told_from_their_helpers() {
        let package = |name: &str| {
            project(&format!(
                "<Project><ItemGroup><PackageReference Include=\"{name}\" /></ItemGroup></Project>"
            ))
        };
        assert!(package("xunit.v3").has_test_package() && package("TUnit").has_test_package());
        assert!(!package("xunit.v3.assert").has_test_package());
        assert!(project("<Project Sdk=\"MSTest.Sdk/3.8.0\" />").has_test_package());
    }

    #[test]
    fn a_file_that_is_cut_or_no_xml_says_nothing_wrong() {
        assert_eq!(project("<Project><PropertyGroup><IsTestProject>true</IsTestPro"), Csproj::default());
        assert_eq!(project("no xml"), Csproj::default());
    }
}
