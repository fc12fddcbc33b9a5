//! The ledger of accepted survivors: `.polymut/waivers/*.toml`.
//!
//! In: the ledger's files. Out: [`Waivers`]. I/O: reads that folder ([`load_waivers`]).

use std::collections::BTreeMap;
use std::io;

use jiff::civil::Date;
use polymut_schemas::{MutantId, Waiver, WaiverUse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::read::{strict, utf8};
use crate::paths::AbsPath;

/// The ledger's folder below the repository root.
pub const WAIVERS: &str = ".polymut/waivers";

/// One file of the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WaiverFile {
    /// Accepted survivors.
    #[serde(default, rename = "waiver")]
    pub waivers: Vec<Waiver>,
}

/// Every waiver of the ledger by mutant. Two files may hold the same mutant after a merge; each entry counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waivers(BTreeMap<MutantId, Vec<Waiver>>);

impl Waivers {
    /// A ledger of `waivers`.
    pub fn new(waivers: impl IntoIterator<Item = Waiver>) -> Self {
        let mut by_id: BTreeMap<MutantId, Vec<Waiver>> = BTreeMap::new();
        for waiver in waivers {
            by_id.entry(waiver.id.clone()).or_default().push(waiver);
        }
        Self(by_id)
    }

    /// The ledger that a report carries.
    pub fn of_report(uses: &[WaiverUse]) -> Self {
        Self::new(uses.iter().map(|used| used.waiver.clone()))
    }

    /// The waivers of a mutant.
    pub fn of(&self, id: &MutantId) -> &[Waiver] {
        self.0.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every waiver, by mutant.
    pub fn iter(&self) -> impl Iterator<Item = &Waiver> {
        self.0.values().flatten()
    }

    /// The first waiver that accepts the mutant on `today`.
    pub fn accepting(&self, id: &MutantId, today: Date) -> Option<&Waiver> {
        self.of(id).iter().find(|waiver| counts(waiver, today))
    }
}

/// Whether a waiver's last day is not over. A day that cannot be read counts as over: no doubt turns into a pass.
pub(crate) fn counts(waiver: &Waiver, today: Date) -> bool {
    match waiver.expires.as_deref().map(str::parse::<Date>) {
        None => true,
        Some(Ok(last)) => today <= last,
        Some(Err(_)) => false,
    }
}

/// Reads the repository's ledger; without the folder it is empty.
pub fn load_waivers(root: &AbsPath) -> Result<Waivers, ConfigError> {
    let refused = |file: &str| {
        let file = file.to_owned();
        move |source| ConfigError::Read { file, source }
    };
    let entries = match fs_err::read_dir(root.join(WAIVERS).as_std_path()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Waivers::default()),
        Err(source) => return Err(refused(WAIVERS)(source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(refused(WAIVERS))?.file_name().to_string_lossy().into_owned();
        if name.to_ascii_lowercase().ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    let mut waivers = Vec::new();
    for name in names {
        let at = format!("{WAIVERS}/{name}");
        let bytes = fs_err::read(root.join(&at)).map_err(refused(&at))?;
        waivers.extend(parse_waivers(&utf8(bytes, &at)?, &at)?.waivers);
    }
    Ok(Waivers::new(waivers))
}

/// Reads one file of the ledger; `at` is its name in messages.
pub fn parse_waivers(text: &str, at: &str) -> Result<WaiverFile, ConfigError> {
    let file: WaiverFile = strict(text, at)?;
    for waiver in &file.waivers {
        let wrong = |why: String, help: &str| ConfigError::Wrong {
            at: at.to_owned(),
            why: format!("waiver {}: {why}", waiver.id),
            help: Some(help.to_owned()),
        };
        if waiver.reason.trim().is_empty() {
            return Err(wrong("`reason` is empty".to_owned(), "say why the survivor is accepted"));
        }
        for (key, day) in [("date", Some(&waiver.date)), ("expires", waiver.expires.as_ref())] {
            if let Some(day) = day.filter(|day| day.parse::<Date>().is_err()) {
                return Err(wrong(format!("`{key} = \"{day}\"` is not a day"), "write it as YYYY-MM-DD"));
            }
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[waiver]]\nid = \"00000000000000aa\"\nreason = \"equal\"\ndate = \"2026-01-02\"\n";

    #[test]
    fn a_waiver_counts_through_its_last_day() {
        let file = parse_waivers(&format!("{ONE}expires = \"2026-03-01\"\n"), "a.toml").unwrap();
        let ledger = Waivers::new(file.waivers);
        let id = MutantId::parse("00000000000000aa").unwrap();
        assert!(ledger.accepting(&id, "2026-03-01".parse().unwrap()).is_some());
        assert!(ledger.accepting(&id, "2026-03-02".parse().unwrap()).is_none());
    }

    #[test]
    fn a_day_that_cannot_be_read_is_refused_in_a_file_and_over_in_a_report() {
        let error = parse_waivers(&format!("{ONE}expires = \"soon\"\n"), "a.toml").unwrap_err();
        assert_eq!(error.to_string(), "a.toml: waiver 00000000000000aa: `expires = \"soon\"` is not a day");
        let mut waiver = parse_waivers(ONE, "a.toml").unwrap().waivers.remove(0);
        waiver.expires = Some("soon".to_owned());
        assert!(!counts(&waiver, "2026-01-03".parse().unwrap()));
    }

    #[test]
    fn an_unknown_key_or_an_empty_reason_is_an_error() {
        let error = parse_waivers(&format!("{ONE}expire = \"2026-03-01\"\n"), "a.toml").unwrap_err();
        assert!(error.to_string().starts_with("a.toml:5:1: unknown key `expire`"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.starts_with("did you mean `expires`?")));
        let blank = ONE.replace("equal", " ");
        assert!(parse_waivers(&blank, "a.toml").is_err());
    }

    #[test]
    fn a_repository_without_a_ledger_has_no_waivers_and_one_with_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = AbsPath::new(camino::Utf8PathBuf::try_from(folder.path().to_path_buf()).unwrap()).unwrap();
        assert_eq!(load_waivers(&root).unwrap(), Waivers::default());
        fs_err::create_dir_all(root.join(WAIVERS)).unwrap();
        fs_err::write(root.join(format!("{WAIVERS}/core.toml")), ONE).unwrap();
        fs_err::write(root.join(format!("{WAIVERS}/README.md")), "not a ledger").unwrap();
        assert_eq!(load_waivers(&root).unwrap().iter().count(), 1);
    }
}
