//! Which variables look like credentials, by their names alone.
//!
//! In: a variable's name. Out: a yes or no. I/O: none.
//!
//! A wrong yes is cheap: the name is reported, and allowing it is one line of configuration. A wrong no hands a CI
//! job's secrets to code that was broken on purpose.

/// Words that mark a credential wherever they stand between underscores.
const WORDS: &[&str] = &[
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Words that mark a credential as the last one of several (`API_KEY`; neither `KEYBOARD` nor a lone `KEY`).
const LAST_WORDS: &[&str] = &["AUTH", "COOKIE", "KEY", "KEYS", "PASS", "PAT", "PEM", "PW", "PWD"];

/// Endings that mark a credential without an underscore: `PGPASSWORD`, `_authToken`.
const ENDINGS: &[&str] = &["APIKEY", "PASSPHRASE", "PASSWD", "PASSWORD", "SECRET", "TOKEN"];

/// Whole families that open clouds and vaults.
const PREFIXES: &[&str] =
    &["ACTIONS_ID_TOKEN_", "AWS_", "AZURE_", "CLOUDSDK_", "GCLOUD_", "GOOGLE_", "TWINE_", "VAULT_"];

/// Names that no rule catches.
const NAMES: &[&str] = &[
    "DOCKER_AUTH_CONFIG",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "KUBECONFIG",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SUDO_ASKPASS",
];

/// Names that a rule catches although every shell sets them.
const HARMLESS: &[&str] = &["OLDPWD", "OLD_PWD", "PWD"];

/// Whether the variable `name` looks like a credential.
pub(crate) fn is_credential(name: &str) -> bool {
    let upper = name.to_uppercase();
    if HARMLESS.contains(&upper.as_str()) {
        return false;
    }
    let words: Vec<&str> =
        upper.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let last_of_several = match words.as_slice() {
        [] | [_] => false,
        [.., last] => LAST_WORDS.contains(last),
    };
    last_of_several
        || words.iter().any(|word| WORDS.contains(word))
        || ENDINGS.iter().any(|ending| upper.ends_with(ending))
        || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        || NAMES.contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_recognised() {
        let names = [
            "GITHUB_TOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_URL",
            "CI_JOB_TOKEN",
            "CI_JOB_JWT_V2",
            "NPM_TOKEN",
            "NODE_AUTH_TOKEN",
            "npm_config_//registry.example/:_authToken",
            "npm_config__auth",
            "npm_config__password",
            "CARGO_REGISTRIES_INTERNAL_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_PROFILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AZURE_CLIENT_ID",
            "STRIPE_API_KEY",
            "OPENAI_APIKEY",
            "SIGNING_KEY",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "GH_PAT",
            "SENTRY_DSN",
            "GPG_PASSPHRASE",
            "SSH_AUTH_SOCK",
            "KUBECONFIG",
            "VAULT_ADDR",
        ];
        for name in names {
            assert!(is_credential(name), "{name} should be withheld");
        }
    }

    #[test]
    fn ordinary_names_are_left() {
        let names = [
            "HOME",
            "PATH",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "KEY",
            "XKB_DEFAULT_LAYOUT",
            "MONKEY_MODE",
            "TOKENIZERS_PARALLELISM",
            "SECRETARY",
            "PATTERN",
            "COMPASS",
            "AUTHOR",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
            "CARGO_HOME",
            "JAVA_HOME",
            "GOPROXY",
            "PASSED",
            "CI",
        ];
        for name in names {
            assert!(!is_credential(name), "{name} should be left");
        }
    }
}
