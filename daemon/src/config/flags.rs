//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use super::keys::{key, nearest};
use super::source::{RawValue, SettingSource};
use crate::error::{Error, Result};

/// The memory daemon for AI agents: it owns a folder of brains and is their one writer.
///
/// A setting comes from the flags, else from the environment (AMEMD_…), else from the configuration file, else it has
/// its default. `amemd --check-config` prints every setting with its source.
#[derive(Debug, Clone, Default, clap::Parser)]
#[command(name = "amemd", version)]
pub struct Flags {
    /// The configuration file (or AMEMD_CONFIG) [default: $XDG_CONFIG_HOME/amemd/config.toml, if it exists]
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
    /// Prints every setting with its source, checks the configuration, and exits: 0 if it is valid, 1 if not
    #[arg(long)]
    pub check_config: bool,
    /// Writes the manual pages, amemd.8 and amemd.toml.5, into this folder, and exits
    #[arg(long, value_name = "FOLDER")]
    pub man: Option<PathBuf>,
    /// Prints the description of all HTTP routes (OpenAPI 3.1), as /openapi.json serves it, and exits
    #[arg(long)]
    pub openapi: bool,
    /// The folder of the brains, which must exist [default: $XDG_DATA_HOME/amem/brains, created if missing]
    #[arg(long, value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// The Unix socket to listen on [default: run/amemd.sock beside the default
    /// folder]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// A TCP address to listen on in addition, such as 127.0.0.1:7411
    #[arg(long, value_name = "ADDRESS")]
    pub tcp_listen: Option<String>,
    /// Where to serve HTTP, such as 127.0.0.1:7412 or the path of a Unix socket
    #[arg(long, value_name = "ADDRESS")]
    pub http_listen: Option<String>,
    /// The file of the tokens; callers by TCP must send one of them
    #[arg(long, value_name = "PATH")]
    pub tokens_file: Option<PathBuf>,
    /// The certificate chain of the daemon for TCP, in PEM
    #[arg(long, value_name = "PATH")]
    pub tls_certificate: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "PATH")]
    pub tls_key: Option<PathBuf>,
    /// The CA that must have signed the certificates of callers by TCP, in PEM
    #[arg(long, value_name = "PATH")]
    pub tls_client_ca: Option<PathBuf>,
    /// The log filter: debug, info, warn, error, or such as amemd=trace,info [default: info]
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    /// The log format: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Any setting by its key in the configuration file, such as limits.connections=64
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl Flags {
    /// The settings that flags set.
    pub(super) fn values(&self) -> Result<Vec<(&'static str, RawValue, SettingSource)>> {
        let path = |path: &Option<PathBuf>| path.clone().map(OsString::from);
        let text = |text: &Option<String>| text.clone().map(OsString::from);
        let named = [
            ("folder", "--folder", path(&self.folder)),
            ("socket", "--socket", path(&self.socket)),
            ("tcp.listen", "--tcp-listen", text(&self.tcp_listen)),
            ("http.listen", "--http-listen", text(&self.http_listen)),
            ("tcp.tokens_file", "--tokens-file", path(&self.tokens_file)),
            (
                "tcp.tls_certificate",
                "--tls-certificate",
                path(&self.tls_certificate),
            ),
            ("tcp.tls_key", "--tls-key", path(&self.tls_key)),
            (
                "tcp.tls_client_ca",
                "--tls-client-ca",
                path(&self.tls_client_ca),
            ),
            ("log.filter", "--log", text(&self.log)),
            ("log.format", "--log-format", text(&self.log_format)),
        ];
        let mut values = Vec::new();
        for pair in &self.set {
            let wrong = |why: String| Error::File {
                origin: "--set".into(),
                why,
            };
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| wrong(format!("{pair:?} is not KEY=VALUE")))?;
            let known = key(name).ok_or_else(|| {
                let hint = nearest(name).map(|near| format!("; did you mean {near}?"));
                wrong(format!("unknown key {name:?}{}", hint.unwrap_or_default()))
            })?;
            values.push((
                known.name,
                RawValue::Text(value.into()),
                SettingSource::Flag("--set"),
            ));
        }
        for (key, flag, value) in named {
            values
                .extend(value.map(|value| (key, RawValue::Text(value), SettingSource::Flag(flag))));
        }
        Ok(values)
    }
}
