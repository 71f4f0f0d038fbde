//! Steering a running daemon: its configuration read again, and its end.
//!
//! Promises: a configuration that does not do changes nothing; what it changes it changes as a whole; what it can't
//! change is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::access::{Access, Role};
use crate::config::{Config, Limits, Setting};
use crate::error::Result;
use crate::folder::check_readers;
use crate::secrets::Secrets;
use crate::{log, notify};

/// What may change while the daemon runs.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    pub(crate) secrets: Secrets,
    /// What callers by TCP may do.
    pub(crate) tcp_role: Role,
}

/// What a reload did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reloaded {
    /// Settings with another value than before, from now on.
    pub(crate) changed: Vec<String>,
    /// Settings with another value that need a restart.
    pub(crate) needs_restart: Vec<String>,
}

/// Steers the daemon; all clones steer the same one.
#[derive(Debug, Clone)]
pub(crate) struct Control(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    live: ArcSwap<Live>,
    running: Mutex<Running>,
    stop: watch::Sender<bool>,
}

#[derive(Debug)]
struct Running {
    config: Config,
    /// The values in force.
    values: BTreeMap<&'static str, Option<String>>,
}

fn values(settings: &[Setting]) -> BTreeMap<&'static str, Option<String>> {
    settings.iter().map(|s| (s.key, s.value.clone())).collect()
}

fn live(config: &Config, secrets: Secrets) -> Live {
    Live {
        access: Access::new(config.grants.clone(), config.readers.clone()),
        limits: config.limits.clone(),
        secrets,
        tcp_role: config.tcp.as_ref().map_or(Role::Read, |tcp| tcp.role),
    }
}

impl Control {
    /// Puts a configuration into force; reads the secrets that it names, and makes a token that is missing.
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let secrets = Secrets::load(config, true)?;
        Ok(Self(Arc::new(Inner {
            live: ArcSwap::from_pointee(live(config, secrets)),
            running: Mutex::new(Running {
                config: config.clone(),
                values: values(&config.settings),
            }),
            stop: watch::Sender::new(false),
        })))
    }

    /// What is in force now.
    pub(crate) fn live(&self) -> Arc<Live> {
        self.0.live.load_full()
    }

    /// Reads the configuration again and applies what can change. If it does not do, nothing changes.
    pub(crate) fn reload(&self) -> Result<Reloaded> {
        notify::reloading();
        let done = self.try_reload();
        notify::reloaded(done.as_ref().err().map(|why| why as _));
        match &done {
            Ok(Reloaded {
                changed,
                needs_restart,
            }) => tracing::info!(?changed, ?needs_restart, "read the configuration again"),
            Err(error) => tracing::error!(%error, "the configuration stays as it was"),
        }
        done
    }

    fn try_reload(&self) -> Result<Reloaded> {
        // One after the other: the later one sees what the earlier did.
        let mut running = self
            .0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let config = running.config.again()?;
        check_readers(&config)?;
        let secrets = Secrets::load(&config, true)?;
        let before = self.live();
        let mut next = live(&config, secrets);
        // Whether keys and tokens suffice depends on the address: they change together or not at all.
        let address = |values: &BTreeMap<_, Option<String>>| values.get("tcp.listen").cloned();
        let new_values = values(&config.settings);
        let moved = address(&new_values) != address(&running.values);
        let mut done = Reloaded::default();
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
        self.0.live.store(Arc::new(next));
        Ok(done)
    }

    /// Has the daemon end as on SIGTERM.
    pub(crate) fn shutdown(&self) {
        self.0.stop.send_replace(true);
    }

    /// Ready once somebody asked for the end.
    pub(crate) async fn ending(&self) {
        // The sender lives as long as we do.
        drop(self.0.stop.subscribe().wait_for(|stop| *stop).await);
    }
}

#[cfg(test)]
mod tests;
