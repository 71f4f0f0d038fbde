//! The configuration in force, its reload, and the shutdown of the daemon.
//!
//! Promises: an invalid configuration changes nothing; a valid one is in force as a whole, and the outcome names
//! settings that need a restart; a task that waits for a change is woken once the change is in force.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use amem_locks::LockResultExt;
use amem_memory::add::SecretPolicy;
use amem_proto::answer::Code;
use arc_swap::ArcSwap;
use jiff::tz::TimeZone;
use tokio::sync::watch;

use crate::auth::{AccessControl, Role, Secrets, TokenRights, Tokens};
use crate::config::{Config, Limits, Origins, Setting};
use crate::error::Result;
use crate::log;
use crate::os::notify;
use crate::refusal::{self, Refusal};

/// The part of the configuration that a reload can change.
#[derive(Debug, Clone)]
pub(crate) struct LiveConfig {
    /// Grows by one with every change, from 1.
    pub(crate) change: u64,
    pub(crate) access: AccessControl,
    pub(crate) limits: Limits,
    /// The zone of times of day in schedules.
    pub(crate) zone: TimeZone,
    /// What happens to secrets in what is to be remembered.
    pub(crate) memory_secrets: SecretPolicy,
    pub(crate) secrets: Secrets,
    /// The role of callers by TCP that present a certificate and need no token.
    pub(crate) tcp_role: Role,
    /// The web pages that may call HTTP.
    pub(crate) origins: Origins,
    /// The settings file that was read, if any.
    pub(crate) settings_file: Option<PathBuf>,
}

/// The outcome of a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReloadOutcome {
    /// Settings whose new value is in force.
    pub(crate) changed: Vec<String>,
    /// Settings whose new value needs a restart.
    pub(crate) needs_restart: Vec<String>,
}

/// Controls the daemon; all clones control the same one.
#[derive(Debug, Clone)]
pub(crate) struct Control(Arc<ControlState>);

#[derive(Debug)]
struct ControlState {
    live: ArcSwap<LiveConfig>,
    running: Mutex<RunningConfig>,
    /// Counts the changes of `live`.
    changes: watch::Sender<u64>,
    stop: watch::Sender<bool>,
}

#[derive(Debug)]
struct RunningConfig {
    config: Config,
    /// The values in force.
    values: BTreeMap<&'static str, Option<String>>,
}

fn values(settings: &[Setting]) -> BTreeMap<&'static str, Option<String>> {
    settings.iter().map(|s| (s.key, s.value.clone())).collect()
}

fn live(config: &Config, secrets: Secrets) -> LiveConfig {
    LiveConfig {
        change: 1,
        access: AccessControl::new(
            config.grants.clone(),
            config.brain_grants.clone(),
            config.readers.clone(),
        ),
        limits: config.limits.clone(),
        zone: config.zone.clone(),
        memory_secrets: config.memory_secrets,
        secrets,
        tcp_role: config.tcp.as_ref().map_or(Role::Read, |tcp| tcp.role),
        origins: config.http_origins.clone(),
        settings_file: config.file.clone(),
    }
}

#[cfg(test)]
impl LiveConfig {
    pub(crate) fn with(limits: Limits) -> Self {
        Self {
            change: 1,
            access: AccessControl::default(),
            limits,
            zone: TimeZone::UTC,
            memory_secrets: SecretPolicy::default(),
            secrets: Secrets::default(),
            tcp_role: Role::Read,
            origins: Origins::default(),
            settings_file: None,
        }
    }
}

/// Reads the secrets that a configuration names, and logs a warning about them.
fn load(config: &Config) -> Result<Secrets> {
    let secrets = Secrets::load(config)?;
    if let Some(warning) = secrets.warning() {
        tracing::warn!("{warning}");
    }
    Ok(secrets)
}

/// The tokens in force; an error if no caller needs one.
pub(crate) fn tokens(live: &LiveConfig) -> refusal::Result<&Tokens> {
    live.secrets.tokens.as_ref().ok_or_else(|| {
        let message = "no caller needs a token: tokens are for TCP (tcp.listen, http.listen); if certificates identify callers \
                       (tcp.tls_client_ca), set tcp.tokens_file and restart or reload amemd";
        Refusal::new(Code::FailedPrecondition, "NO_TOKENS", message)
    })
}

impl Control {
    /// Puts a configuration in force, and reads the secrets that it names.
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let secrets = load(config)?;
        Ok(Self(Arc::new(ControlState {
            live: ArcSwap::from_pointee(live(config, secrets)),
            running: Mutex::new(RunningConfig {
                config: config.clone(),
                values: values(&config.settings),
            }),
            changes: watch::Sender::new(0),
            stop: watch::Sender::new(false),
        })))
    }

    /// The configuration in force.
    pub(crate) fn live(&self) -> Arc<LiveConfig> {
        self.0.live.load_full()
    }

    /// Receives every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Puts it in force; the caller holds `running`.
    fn put(&self, mut live: LiveConfig) {
        live.change = self.live().change + 1;
        self.0.live.store(Arc::new(live));
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// Held by each change, so that changes follow one another. A change reads files: no thread of the runtime takes
    /// it.
    fn running(&self) -> MutexGuard<'_, RunningConfig> {
        let running = self.0.running.lock();
        running.unpoisoned()
    }

    /// Creates a token and returns its secret. The token is in force by then.
    pub(crate) fn create_token(&self, name: &str, rights: &TokenRights) -> refusal::Result<String> {
        self.change_tokens(|tokens| tokens.create(name, rights))
    }

    /// Revokes a token: calls under way with it end.
    pub(crate) fn revoke_token(&self, name: &str) -> refusal::Result<()> {
        self.change_tokens(|tokens| Ok((tokens.revoke(name)?, ())))
    }

    fn change_tokens<T>(
        &self,
        change: impl FnOnce(&Tokens) -> refusal::Result<(Tokens, T)>,
    ) -> refusal::Result<T> {
        let _one = self.running();
        let mut next = LiveConfig::clone(&self.live());
        let (tokens, done) = change(tokens(&next)?)?;
        next.secrets.tokens = Some(tokens);
        self.put(next);
        Ok(done)
    }

    /// Reads the configuration again and puts it in force; an invalid one changes nothing. It reads files, which may
    /// block.
    pub(crate) fn reload(&self) -> Result<ReloadOutcome> {
        notify::reloading();
        let done = self.try_reload();
        notify::reloaded(done.as_ref().err().map(|why| why as _));
        match &done {
            Ok(ReloadOutcome {
                changed,
                needs_restart,
            }) => tracing::info!(?changed, ?needs_restart, "reloaded the configuration"),
            Err(error) => {
                tracing::error!(%error, "cannot reload the configuration: the previous one stays in force")
            }
        }
        done
    }

    fn try_reload(&self) -> Result<ReloadOutcome> {
        let mut running = self.running();
        let config = running.config.again()?;
        config.check_readers()?;
        let secrets = load(&config)?;
        let before = self.live();
        let mut next = live(&config, secrets);
        // The addresses decide which secrets suffice: they change together, or not at all.
        let addresses = |values: &BTreeMap<_, Option<String>>| {
            ["tcp.listen", "http.listen"].map(|key| values.get(key).cloned())
        };
        let new_values = values(&config.settings);
        let moved = addresses(&new_values) != addresses(&running.values);
        let mut done = ReloadOutcome::default();
        if moved {
            next.secrets = before.secrets.clone();
            next.tcp_role = before.tcp_role;
        } else {
            let changed = next.secrets.changes(&before.secrets);
            done.changed.extend(changed.into_iter().map(str::to_owned));
        }
        log::set_filter(&config.log_filter).map_err(|why| config.wrong("log.filter", why))?;
        for setting in &config.settings {
            if running.values.get(setting.key) == Some(&setting.value) {
                continue;
            }
            if !setting.live || (moved && setting.key.starts_with("tcp.")) {
                done.needs_restart.push(setting.key.into());
                continue;
            }
            running.values.insert(setting.key, setting.value.clone());
            done.changed.push(setting.key.into());
        }
        done.changed.sort_unstable();
        done.changed.dedup();
        running.config = config;
        self.put(next);
        Ok(done)
    }

    /// Shuts the daemon down, as SIGTERM does.
    pub(crate) fn shutdown(&self) {
        self.0.stop.send_replace(true);
    }

    /// Ready once a shutdown was requested.
    pub(crate) async fn ending(&self) {
        // `self` owns the sender.
        drop(self.0.stop.subscribe().wait_for(|stop| *stop).await);
    }
}

#[cfg(test)]
mod tests;
