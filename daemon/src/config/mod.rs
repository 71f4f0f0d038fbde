//! The configuration: flags before environment before file before defaults.
//!
//! Promises: an unknown key or an invalid value is an error that names its source; every value is recorded with its
//! source.
//! Not here: putting a new configuration in force (`control`).

mod flags;
mod settings;

mod bounds;
mod file;
mod grants;
mod http;
mod keys;
mod layers;
pub(crate) mod log_filter;
mod names;
mod role;
mod setting_key;
mod source;
mod webhooks;

pub use bounds::Limits;
pub use flags::Flags;
pub use grants::Grants;
pub use http::{HttpAddress, Origins};
#[cfg(test)]
pub(crate) use keys::keys;
pub(crate) use keys::{MODELS_FILE, READERS, TRACES, WEBHOOK_HOSTS};
pub use role::Role;
pub use settings::{Config, Environment, LogFormat, Tcp, TlsFiles};
pub use source::{Setting, SettingSource};
pub use webhooks::{WebhookHosts, WebhookTarget};

#[cfg(test)]
mod tests;
