//! The key of a provider: from a variable, a file or a command, read at the first call.
//!
//! A key that the server refuses is read again for the next call: it may have been changed meanwhile.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use amem_host::child::foreign_command;
use amem_host::files::{FileKind, read_text};
use amem_host::trust::OthersMay;
use amem_locks::LockResultExt;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::limits::{KEY_BYTES_MAX, KEY_COMMAND_AFTER};
use crate::secret::Secret;
use crate::settings::ModelSettings;

enum KeySource {
    /// Variables that are asked in order; a key is not needed.
    Usual(&'static [&'static str]),
    Variable(String),
    File(PathBuf),
    Command(Vec<String>),
    /// No key is sent.
    Nothing,
}

/// Reads a key and keeps it. It has no Debug: words of a command may be secrets too.
pub(crate) struct KeyReader {
    source: KeySource,
    /// True if calls without a key are senseless: the provider's own server.
    is_needed: bool,
    read: Mutex<Option<Secret>>,
}

type Result<T, E = String> = std::result::Result<T, E>;

impl KeyReader {
    /// `is_plain`: the server is called by plain http.
    pub(crate) fn new(settings: &ModelSettings, is_plain: bool) -> Self {
        let usual = settings.provider.key_variables();
        let source = match settings {
            ModelSettings {
                key_env: Some(name),
                ..
            } => KeySource::Variable(name.clone()),
            ModelSettings {
                key_file: Some(path),
                ..
            } => KeySource::File(path.clone()),
            ModelSettings {
                key_command: Some(words),
                ..
            } => KeySource::Command(words.clone()),
            // The variable is meant for the provider. Over plain http others could read it.
            _ if is_plain => KeySource::Nothing,
            _ => KeySource::Usual(usual),
        };
        let is_own = settings.base_url.is_none() && settings.provider.base_url().is_some();
        Self {
            source,
            is_needed: is_own && !is_plain,
            read: Mutex::default(),
        }
    }

    /// The key, if there is one.
    pub(crate) async fn key(&self) -> Result<Option<Secret>> {
        if let Some(known) = self.known() {
            return Ok(Some(known));
        }
        let text = match &self.source {
            KeySource::Nothing => None,
            KeySource::Usual(names) => names.iter().find_map(|name| env::var(name).ok()),
            KeySource::Variable(name) => {
                let value = env::var(name);
                Some(value.map_err(|_| format!("no key: the variable {name} is not set"))?)
            }
            KeySource::File(path) => Some(of_file(path)?),
            KeySource::Command(words) => Some(of_command(words).await?),
        };
        let text = text.map(|text| text.trim().to_owned());
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return if self.is_needed
                || !matches!(self.source, KeySource::Usual(_) | KeySource::Nothing)
            {
                Err(self.missing())
            } else {
                Ok(None)
            };
        };
        if text.len() > KEY_BYTES_MAX || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the key has spaces or letters that no key has".into());
        }
        let key = Secret::new(text);
        *self.read.lock().unpoisoned() = Some(key.clone());
        Ok(Some(key))
    }

    /// The key that was read.
    pub(crate) fn known(&self) -> Option<Secret> {
        let read = self.read.lock();
        read.unpoisoned().clone()
    }

    /// Forgets a key that the server refuses.
    pub(crate) fn forget(&self) {
        *self.read.lock().unpoisoned() = None;
    }

    fn missing(&self) -> String {
        match &self.source {
            KeySource::Usual(names) => format!(
                "no key: set {}, or key_env, key_file or key_command in the settings",
                names.join(" or ")
            ),
            KeySource::Variable(name) => format!("no key: the variable {name} is empty"),
            KeySource::File(path) => format!("no key: {} is empty", path.display()),
            KeySource::Command(_) => "no key: key_command printed nothing".into(),
            KeySource::Nothing => "no key".into(),
        }
    }
}

/// Reads a file that only its owner can read.
fn of_file(path: &Path) -> Result<String> {
    let limit = u64::try_from(KEY_BYTES_MAX + 2).unwrap_or(u64::MAX);
    let read = read_text(path, FileKind::Settings(OthersMay::Nothing), limit);
    let text = read.map_err(|why| format!("no key: {why}"))?;
    text.ok_or_else(|| format!("no key: there is no file {}", path.display()))
}

/// What a command prints. What it says besides may be a secret too, and is not repeated. It gets a cleaned environment
/// (`amem_host::child`): no keys of other providers.
async fn of_command(words: &[String]) -> Result<String> {
    let [program, arguments @ ..] = words else {
        return Err("no key: key_command is empty".into());
    };
    let failed = |why: std::io::Error| format!("no key: cannot run key_command: {why}");
    let mut child = Command::from(foreign_command(program))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let printed = async {
        let mut text = String::new();
        let limit = u64::try_from(KEY_BYTES_MAX + 2).unwrap_or(u64::MAX);
        if let Some(out) = child.stdout.take() {
            out.take(limit)
                .read_to_string(&mut text)
                .await
                .map_err(failed)?;
        }
        let status = child.wait().await.map_err(failed)?;
        if !status.success() {
            return Err(format!("no key: key_command failed ({status})"));
        }
        Ok(text)
    };
    timeout(KEY_COMMAND_AFTER, printed)
        .await
        .unwrap_or_else(|_| {
            let seconds = KEY_COMMAND_AFTER.as_secs();
            Err(format!("no key: key_command takes longer than {seconds} s"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;

    fn key_of(change: impl Fn(&mut ModelSettings)) -> Result<Option<String>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut settings = ModelSettings::new(Provider::Openai, "m");
        change(&mut settings);
        let reader = KeyReader::new(&settings, false);
        let key = runtime.block_on(reader.key())?;
        Ok(key.map(|key| key.reveal().to_owned()))
    }

    #[test]
    fn a_key_is_from_a_variable_a_file_or_a_command() {
        // Cargo sets this variable for tests.
        let name = key_of(|s| s.key_env = Some("CARGO_PKG_NAME".into()));
        assert_eq!(name.unwrap().as_deref(), Some("amem-models"));
        let command = ["printf", "s3cret-key\\n"].map(str::to_owned).to_vec();
        let printed = key_of(|s| s.key_command = Some(command.clone()));
        assert_eq!(printed.unwrap().as_deref(), Some("s3cret-key"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "s3cret-key\n").unwrap();
        set_mode(&path, 0o600);
        let read = key_of(|s| s.key_file = Some(path.clone()));
        assert_eq!(read.unwrap().as_deref(), Some("s3cret-key"));
    }

    #[test]
    fn a_command_for_the_key_gets_no_keys_of_others() {
        // Cargo sets this variable for tests.
        let command = [
            "sh",
            "-c",
            "printf 'key-%s%s' \"$CARGO_PKG_NAME\" \"${PATH:+with-path}\"",
        ];
        let command = command.map(str::to_owned).to_vec();
        let printed = key_of(|s| s.key_command = Some(command.clone()));
        assert_eq!(printed.unwrap().as_deref(), Some("key-with-path"));
    }

    fn set_mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_key_that_cannot_be_used_is_refused_without_being_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "s3cret-key").unwrap();
        set_mode(&path, 0o640);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (change, expected) in [
            (
                Box::new(|s: &mut ModelSettings| s.key_file = Some(path.clone()))
                    as Box<dyn Fn(&mut ModelSettings)>,
                "other users have access",
            ),
            (
                Box::new(|s| s.key_env = Some("AMEM_NO_SUCH_VARIABLE".into())),
                "AMEM_NO_SUCH_VARIABLE is not set",
            ),
            (
                Box::new(|s| s.key_command = Some(words("false s3cret"))),
                "key_command failed",
            ),
            (
                Box::new(|s| s.key_command = Some(words("printf s3cret\\040key"))),
                "spaces",
            ),
            (
                Box::new(|s| s.key_command = Some(words("true"))),
                "printed nothing",
            ),
        ] {
            let why = key_of(change).unwrap_err();
            assert!(why.contains(expected) && !why.contains("s3cret"), "{why}");
        }
    }
}
