//! The configuration with types: each value is parsed and checked.
//!
//! Promises: reading it changes nothing; an error names the key and the source of the value; a configuration that makes
//! TCP unsafe is an error. Not here: opening what it names (`auth::secrets`, `os`, `process`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amem_host::paths;
use amem_memory::add::SecretPolicy;
use amem_query::time_phrase::zone_named;
use amem_store::Readers;
use jiff::tz::TimeZone;

use super::bounds::Limits;
use super::flags::Flags;
use super::grants::Grants;
use super::http::{HttpAddress, Origins};
use super::keys::{BRAINS, MODELS_FILE, READERS, TRACES, WEBHOOK_HOSTS, WEBHOOK_PRIVATE_HOSTS};
use super::layers::Layers;
use super::log_filter;
use super::names::AccountKind;
use super::role::Role;
use super::source::{Setting, SettingSource};
use super::webhooks::{HostList, WebhookHosts};
use crate::error::{Error, Result};
use amem_host::users::is_in_group;

/// Looks up an environment variable.
pub type Environment = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

impl std::str::FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("it is text or json"),
        }
    }
}

impl std::fmt::Display for LogFormat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

/// TCP: what identifies callers, for gRPC and for HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tcp {
    /// The address of gRPC; `None` if only HTTP is served by TCP.
    pub listen: Option<SocketAddr>,
    /// The role of callers that present a certificate and need no token.
    pub role: Role,
    /// The file of tokens; `None` if no token is required.
    pub tokens_file: Option<PathBuf>,
    /// TLS, if it is on.
    pub tls: Option<TlsFiles>,
}

/// Files of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates of the daemon.
    pub certificate: PathBuf,
    /// The key of the first certificate.
    pub key: PathBuf,
    /// The CA of client certificates, if callers must present one.
    pub client_ca: Option<PathBuf>,
}

/// The configuration; paths are absolute.
#[derive(Clone)]
pub struct Config {
    /// The folder of the brains.
    pub folder: PathBuf,
    /// True if no setting names the folder: then it is created if it is missing.
    pub default_folder: bool,
    /// True if the folder may be on a network file system.
    pub allow_network_folder: bool,
    /// The Unix socket.
    pub socket: PathBuf,
    /// The zone of times of day in the schedules of jobs.
    pub zone: TimeZone,
    /// What happens to secrets in what is to be remembered.
    pub memory_secrets: SecretPolicy,
    /// The group whose members may connect, besides the daemon's user.
    pub socket_group: Option<u32>,
    /// The roles of other users by it, for all brains.
    pub grants: Grants,
    /// The same for single brains, by name.
    pub brain_grants: BTreeMap<String, Grants>,
    /// Groups that read files of brains directly.
    pub readers: Readers,
    /// TCP, if it is on.
    pub tcp: Option<Tcp>,
    /// Where HTTP is served, if it is on.
    pub http: Option<HttpAddress>,
    /// The web pages that may call HTTP.
    pub http_origins: Origins,
    /// The address of metrics by HTTP, if they are on.
    pub metrics: Option<SocketAddr>,
    /// The collector of traces, if they are on.
    pub traces: Option<SocketAddr>,
    /// The hosts that webhooks may call; without any, webhooks are off.
    pub webhook_hosts: WebhookHosts,
    /// The file of the models; without one none is called.
    pub models_file: Option<PathBuf>,
    /// The filter of the log.
    pub log_filter: String,
    /// The format of the log.
    pub log_format: LogFormat,
    /// Limits.
    pub limits: Limits,
    /// Every setting with its source.
    pub settings: Vec<Setting>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    flags: Flags,
    environment: Environment,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(&self.settings).finish()
    }
}

impl Config {
    /// Reads all layers.
    pub fn load(flags: Flags, environment: Environment) -> Result<Self> {
        let variable = |name: &str| environment(name);
        let mut layers = Layers::gather(&flags, &variable)?;
        let places = places(variable);
        let folder = layers
            .path("folder", places.folder())?
            .ok_or(Error::Missing {
                what: "folder for the brains",
                remedy: "give --folder, or set AMEMD_FOLDER, XDG_DATA_HOME or HOME",
            })?;
        let default_folder = layers
            .shown
            .last()
            .is_some_and(|s| s.source == SettingSource::Default);
        let allow_network_folder = layers.value("allow_network_folder", Some(false))?;
        let socket = layers
            .path("socket", places.socket())?
            .ok_or(Error::Missing {
                what: "socket to listen on",
                remedy: "give --socket, or set AMEMD_SOCKET, XDG_DATA_HOME or HOME",
            })?;
        let zone = layers.value("zone", Some("UTC".to_owned()))?;
        let zone = zone_named(&zone.unwrap_or_default());
        let zone = zone.map_err(|why| layers.wrong("zone").because(why))?;
        let memory_secrets = layers.value("secrets", Some(SecretPolicy::default()))?;
        let socket_group = layers.id("access.socket_group", AccountKind::Groups)?;
        let grants = grants(&mut layers, socket_group)?;
        let brain_grants = brain_grants(&mut layers, socket_group)?;
        let readers = layers.readers(READERS)?;
        let tokens = paths::config_file(variable).map(|file| file.with_file_name("tokens.toml"));
        let tcp = TcpSettings::read(&mut layers)?;
        let http: Option<HttpAddress> = layers.value("http.listen", None)?;
        let http_origins = layers.value("http.origins", None)?;
        let tcp = tcp.check(
            &mut layers,
            http.as_ref().and_then(HttpAddress::tcp),
            tokens,
        )?;
        let metrics = metrics(&mut layers)?;
        let traces = traces(&mut layers)?;
        let hosts: Option<HostList> = layers.value(WEBHOOK_HOSTS, None)?;
        let private_hosts: Option<HostList> = layers.value(WEBHOOK_PRIVATE_HOSTS, None)?;
        let webhook_hosts =
            WebhookHosts::new(hosts.unwrap_or_default(), private_hosts.unwrap_or_default());
        let models_file = layers.path(MODELS_FILE, None)?;
        let log_filter = layers.value("log.filter", Some("info".to_owned()))?;
        let log_filter = log_filter.unwrap_or_default();
        log_filter::parse(&log_filter).map_err(|why| layers.wrong("log.filter").because(why))?;
        let log_format = layers.value("log.format", Some(LogFormat::Text))?;
        let limits = Limits::read(|name, default, range| layers.whole(name, default, range))?;
        Ok(Self {
            folder,
            default_folder,
            allow_network_folder: allow_network_folder.unwrap_or(false),
            socket,
            zone,
            memory_secrets: memory_secrets.unwrap_or_default(),
            socket_group,
            grants,
            brain_grants,
            readers,
            tcp,
            http,
            http_origins: http_origins.unwrap_or_default(),
            metrics,
            traces,
            webhook_hosts,
            models_file,
            log_filter,
            log_format: log_format.unwrap_or(LogFormat::Text),
            limits,
            settings: layers.shown,
            file: layers.file,
            flags,
            environment,
        })
    }

    /// Writes where this daemon is, for callers whose environment names no folder. A daemon whose folder comes from a
    /// flag is one of several, and the machine's has a place that everybody knows.
    pub(crate) fn record_place(&self) -> std::io::Result<()> {
        let folder = self.settings.iter().find(|setting| setting.key == "folder");
        let is_flag = folder.is_some_and(|folder| matches!(folder.source, SettingSource::Flag(_)));
        if is_flag || self.socket == Path::new(paths::SYSTEM_SOCKET) {
            return Ok(());
        }
        places(|name: &str| (self.environment)(name)).record(&self.folder, &self.socket)
    }

    /// Reads the same layers again.
    pub fn again(&self) -> Result<Self> {
        Self::load(self.flags.clone(), self.environment.clone())
    }

    /// Refuses groups of readers that the daemon is not in: only a member can give files to a group.
    pub(crate) fn check_readers(&self) -> Result<()> {
        let mut groups = self.readers.brains.values().chain(&self.readers.others);
        match groups.find(|group| !is_in_group(**group)) {
            None => Ok(()),
            Some(group) => Err(self.wrong(
                READERS,
                format_args!(
                    "amemd is not a member of group {group} and cannot give files to it: add it to the group \
                     (SupplementaryGroups= in its unit), and restart it"
                ),
            )),
        }
    }

    /// An error about a setting.
    pub(crate) fn wrong(&self, key: &'static str, why: impl std::fmt::Display) -> Error {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        Error::Setting {
            origin: setting.map_or("default".into(), |setting| setting.source.to_string()),
            key,
            why: why.to_string(),
        }
    }
}

fn places(variable: impl Fn(&str) -> Option<OsString>) -> paths::UserPaths {
    let uid = rustix::process::getuid().as_raw();
    paths::UserPaths::new(variable, paths::password_home, Some(uid))
}

fn grants(layers: &mut Layers, socket_group: Option<u32>) -> Result<Grants> {
    let users = layers.words("access.users", AccountKind::Users)?;
    let groups = layers.words("access.groups", AccountKind::Groups)?;
    for (name, named) in [
        ("access.users", !users.is_empty()),
        ("access.groups", !groups.is_empty()),
    ] {
        if named && socket_group.is_none() {
            return Err(layers.wrong(name).because(NO_SOCKET_GROUP));
        }
    }
    Ok(Grants { users, groups })
}

/// The error where other users are named but cannot connect.
const NO_SOCKET_GROUP: &str = "only amemd's own user can connect to the socket: set access.socket_group to a group that the \
     others are members of";

fn brain_grants(
    layers: &mut Layers,
    socket_group: Option<u32>,
) -> Result<BTreeMap<String, Grants>> {
    let grants = layers.brain_grants(BRAINS)?;
    if grants.is_empty() || socket_group.is_some() {
        return Ok(grants);
    }
    Err(layers.wrong(BRAINS).because(NO_SOCKET_GROUP))
}

/// The settings of TCP.
struct TcpSettings {
    listen: Option<SocketAddr>,
    role: Role,
    tokens_file: Option<PathBuf>,
    tls: Option<TlsFiles>,
}

impl TcpSettings {
    fn read(layers: &mut Layers) -> Result<Self> {
        let listen = layers.value("tcp.listen", None)?;
        let role = layers.value("tcp.role", Some(Role::Write))?;
        let tokens_file = layers.path("tcp.tokens_file", None)?;
        let certificate = layers.path("tcp.tls_certificate", None)?;
        let key = layers.path("tcp.tls_key", None)?;
        let client_ca = layers.path("tcp.tls_client_ca", None)?;
        let lacks = |name, what| Err(layers.wrong(name).because(what));
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(TlsFiles {
                certificate,
                key,
                client_ca,
            }),
            (None, None) if client_ca.is_none() => None,
            (Some(_), None) => {
                let what = "a certificate needs its key: set tcp.tls_key";
                return lacks("tcp.tls_certificate", what);
            }
            (None, Some(_)) => {
                let what = "a key needs its certificate: set tcp.tls_certificate";
                return lacks("tcp.tls_key", what);
            }
            (None, None) => {
                let what = "client certificates need TLS: set tcp.tls_certificate and tcp.tls_key";
                return lacks("tcp.tls_client_ca", what);
            }
        };
        Ok(Self {
            listen,
            role: role.unwrap_or(Role::Write),
            tokens_file,
            tls,
        })
    }

    /// TCP, if gRPC or HTTP is served by it. Refuses TCP without encryption on other than loopback, and TCP that
    /// identifies no caller.
    fn check(
        self,
        layers: &mut Layers,
        http: Option<SocketAddr>,
        default_tokens: Option<PathBuf>,
    ) -> Result<Option<Tcp>> {
        let addresses = [("tcp.listen", self.listen), ("http.listen", http)];
        for (name, address) in addresses {
            let Some(listen) = address.filter(|address| !address.ip().is_loopback()) else {
                continue;
            };
            if self.tls.is_none() {
                return Err(layers.wrong(name).because(format_args!(
                    "other machines can reach {listen}, and traffic would not be encrypted: set tcp.tls_certificate and \
                     tcp.tls_key (and tcp.tls_client_ca, unless callers use tokens), or listen on 127.0.0.1"
                )));
            }
        }
        if addresses.iter().all(|(_, address)| address.is_none()) {
            return Ok(None);
        }
        // A client certificate identifies the caller; without one a token does.
        let client_ca = self.tls.as_ref().and_then(|tls| tls.client_ca.as_ref());
        let tokens_file = match (self.tokens_file, client_ca) {
            (Some(file), _) => Some(file),
            (None, Some(_)) => None,
            (None, None) => {
                let file = default_tokens.ok_or(Error::Missing {
                    what: "file for the tokens of TCP",
                    remedy: "set tcp.tokens_file, or XDG_CONFIG_HOME or HOME",
                })?;
                if let Some(shown) = layers.shown.iter_mut().find(|s| s.key == "tcp.tokens_file") {
                    shown.value = Some(file.display().to_string());
                }
                Some(file)
            }
        };
        Ok(Some(Tcp {
            listen: self.listen,
            role: self.role,
            tokens_file,
            tls: self.tls,
        }))
    }
}

/// Requests for metrics are anonymous: they come from this machine only, unless a second setting allows others.
fn metrics(layers: &mut Layers) -> Result<Option<SocketAddr>> {
    let listen: Option<SocketAddr> = layers.value("metrics.listen", None)?;
    let allow_remote = layers.value("metrics.allow_remote", Some(false))?;
    match listen {
        Some(listen) if !listen.ip().is_loopback() && allow_remote != Some(true) => {
            Err(layers.wrong("metrics.listen").because(format_args!(
                "other machines can reach {listen}, and metrics show the names of brains and their load to anyone: \
                 listen on 127.0.0.1, or set metrics.allow_remote = true and restrict access by a firewall"
            )))
        }
        listen => Ok(listen),
    }
}

/// The collector must be on this machine: spans name callers, and are sent without TLS.
fn traces(layers: &mut Layers) -> Result<Option<SocketAddr>> {
    let collector: Option<SocketAddr> = layers.value(TRACES, None)?;
    match collector {
        Some(address) if !address.ip().is_loopback() => Err(layers.wrong(TRACES).because(format_args!(
            "{address} is on another machine, and spans are not encrypted: run a collector here, which forwards them"
        ))),
        collector => Ok(collector),
    }
}
