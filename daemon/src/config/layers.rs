//! The layers of a setting's value: flags, then environment, then file, then default.
//!
//! Promises: every value is recorded with its source; an error about a value names the source.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use amem_host::paths;
use amem_store::Readers;

use super::file;
use super::flags::Flags;
use super::grants::Grants;
use super::keys::{key, keys};
use super::names::AccountKind;
use super::role::Role;
use super::source::{RawValue, Setting, SettingSource};
use crate::error::{Error, Result};

/// Looks up an environment variable.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The values of all layers.
pub(super) struct Layers {
    values: BTreeMap<&'static str, (RawValue, SettingSource)>,
    /// The file that was read.
    pub(super) file: Option<PathBuf>,
    /// The settings that were read, in the order of `--check-config`.
    pub(super) shown: Vec<Setting>,
}

/// Makes errors about one setting.
pub(super) struct InvalidSetting<'a> {
    name: &'static str,
    source: &'a SettingSource,
}

impl InvalidSetting<'_> {
    pub(super) fn because(&self, why: impl Display) -> Error {
        Error::Setting {
            origin: self.source.to_string(),
            key: self.name,
            why: why.to_string(),
        }
    }
}

impl Layers {
    pub(super) fn gather(flags: &Flags, variable: Lookup<'_>) -> Result<Self> {
        let (file, mut values) = read_file(flags, variable)?;
        for key in keys() {
            if let Some(value) = variable(key.variable) {
                let source = SettingSource::Variable(key.variable);
                values.insert(key.name, (RawValue::Text(value), source));
            }
        }
        for (name, raw, source) in flags.values()? {
            values.insert(name, (raw, source));
        }
        Ok(Self {
            values,
            file,
            shown: Vec::new(),
        })
    }

    /// Reads a setting with `parse`, and records it as `show` prints it. An empty text is an error.
    fn read<T>(
        &mut self,
        name: &'static str,
        default: Option<T>,
        parse: impl FnOnce(&RawValue, &InvalidSetting<'_>) -> Result<T>,
        show: impl FnOnce(&T) -> String,
    ) -> Result<Option<T>> {
        let (value, source) = match self.values.get(name) {
            Some((raw, source)) => {
                let wrong = InvalidSetting { name, source };
                if *raw == RawValue::Text(OsString::new()) {
                    return Err(wrong.because("the value is empty: set one, or remove the setting"));
                }
                (Some(parse(raw, &wrong)?), source.clone())
            }
            None => (default, SettingSource::Default),
        };
        let live = key(name).is_some_and(|key| key.live);
        self.shown.push(Setting {
            key: name,
            value: value.as_ref().map(show),
            source,
            live,
        });
        Ok(value)
    }

    /// A path. A relative one starts at the folder of the file, or at the working directory.
    pub(super) fn path(
        &mut self,
        name: &'static str,
        default: Option<PathBuf>,
    ) -> Result<Option<PathBuf>> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let RawValue::Text(text) = raw else {
                return Err(wrong.because("it must be a quoted path"));
            };
            let path = Path::new(text);
            if path.is_absolute() {
                return Ok(path.into());
            }
            let from_here = match wrong.source {
                SettingSource::File { path: file, .. } => file.parent().unwrap_or(file).join(path),
                _ => path.into(),
            };
            // The working directory must exist only if the path is still relative.
            std::path::absolute(&from_here).map_err(|e| Error::io("resolve", path, e))
        };
        self.read(name, default, parse, |path| path.display().to_string())
    }

    /// A value that parses from a text, a number or a switch.
    pub(super) fn value<T: FromStr<Err: Display> + Display>(
        &mut self,
        name: &'static str,
        default: Option<T>,
    ) -> Result<Option<T>> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let text = match raw {
                RawValue::Text(text) => text
                    .to_str()
                    .ok_or_else(|| wrong.because("it is not UTF-8"))?
                    .to_owned(),
                RawValue::Integer(number) => number.to_string(),
                RawValue::Boolean(switch) => switch.to_string(),
                RawValue::Table(_) => return Err(wrong.because("it must be a single value")),
            };
            let trimmed = text.trim();
            trimmed
                .parse()
                .map_err(|e| wrong.because(format_args!("{trimmed:?} is invalid: {e}")))
        };
        self.read(name, default, parse, T::to_string)
    }

    /// An integer within bounds.
    pub(super) fn whole(
        &mut self,
        name: &'static str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64> {
        let value = self.value(name, Some(default))?.unwrap_or(default);
        if range.contains(&value) {
            return Ok(value);
        }
        let (least, most) = range.into_inner();
        Err(self
            .wrong(name)
            .because(format_args!("{value} is not between {least} and {most}")))
    }

    /// The id of a user or a group.
    pub(super) fn id(&mut self, name: &'static str, names: AccountKind) -> Result<Option<u32>> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let text = match raw {
                RawValue::Text(text) => text.to_string_lossy().into_owned(),
                RawValue::Integer(number) => number.to_string(),
                _ => return Err(wrong.because("it must be a name or a number")),
            };
            names.id(text.trim()).map_err(|why| wrong.because(why))
        };
        self.read(name, None, parse, u32::to_string)
    }

    /// Users or groups with a value each: a table in a file, `7=read,ann=write` elsewhere.
    pub(super) fn words<T: FromStr<Err: Display> + Display>(
        &mut self,
        name: &'static str,
        names: AccountKind,
    ) -> Result<BTreeMap<u32, T>> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let mut out = BTreeMap::new();
            for (id, word) in pairs(raw, wrong, "ids and roles")? {
                let number = names.id(&id).map_err(|why| wrong.because(why))?;
                let word = word
                    .parse()
                    .map_err(|e| wrong.because(format_args!("{word:?} of {id} is invalid: {e}")))?;
                out.insert(number, word);
            }
            Ok(out)
        };
        let show = |words: &BTreeMap<u32, T>| {
            let pairs: Vec<_> = words.iter().map(|(id, w)| format!("{id}={w}")).collect();
            pairs.join(",")
        };
        Ok(self.read(name, None, parse, show)?.unwrap_or_default())
    }

    /// Roles of users and groups for some brains: tables in a file, `work/users/ann=read` elsewhere.
    pub(super) fn brain_grants(&mut self, name: &'static str) -> Result<BTreeMap<String, Grants>> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let mut out: BTreeMap<String, Grants> = BTreeMap::new();
            for (path, word) in pairs(raw, wrong, "brains, users or groups, and roles")? {
                let (brain, names, id) = granted(&path).map_err(|why| wrong.because(why))?;
                let id = names.id(id).map_err(|why| wrong.because(why))?;
                let role = word.parse::<Role>().map_err(|why| {
                    wrong.because(format_args!("{word:?} of {path} is invalid: {why}"))
                })?;
                let grants = out.entry(brain.to_owned()).or_default();
                let roles = match names {
                    AccountKind::Users => &mut grants.users,
                    AccountKind::Groups => &mut grants.groups,
                };
                roles.insert(id, role);
            }
            Ok(out)
        };
        self.read(name, None, parse, show_grants)
            .map(Option::unwrap_or_default)
    }

    /// The group of readers of each brain, and of all others (`*`).
    pub(super) fn readers(&mut self, name: &'static str) -> Result<Readers> {
        let parse = |raw: &RawValue, wrong: &InvalidSetting<'_>| {
            let mut out = Readers::default();
            for (brain, group) in pairs(raw, wrong, "brains and groups")? {
                let id = AccountKind::Groups
                    .id(&group)
                    .map_err(|why| wrong.because(why))?;
                if brain == "*" {
                    out.others = Some(id);
                    continue;
                }
                amem_store::folder::file_name(&brain).map_err(|why| wrong.because(why))?;
                out.brains.insert(brain, id);
            }
            Ok(out)
        };
        let show = |readers: &Readers| {
            let brains = readers
                .brains
                .iter()
                .map(|(brain, id)| format!("{brain}={id}"));
            let others = readers.others.map(|id| format!("*={id}"));
            brains.chain(others).collect::<Vec<_>>().join(",")
        };
        Ok(self.read(name, None, parse, show)?.unwrap_or_default())
    }

    /// For errors about a setting that was read.
    pub(super) fn wrong(&self, name: &'static str) -> InvalidSetting<'_> {
        let source = self.values.get(name).map(|(_, source)| source);
        InvalidSetting {
            name,
            source: source.unwrap_or(&SettingSource::Default),
        }
    }
}

/// Splits `work/users/ann` into the brain, the kind of account, and its name.
fn granted(path: &str) -> Result<(&str, AccountKind, &str), String> {
    let parts: Vec<&str> = path.split('/').collect();
    let [brain, kind, id] = parts[..] else {
        let form = "each brain needs a table `users` or `groups` of names and roles";
        return Err(format!("{path:?} grants no role: {form}"));
    };
    amem_store::folder::file_name(brain).map_err(|why| why.to_string())?;
    match kind {
        "users" => Ok((brain, AccountKind::Users, id)),
        "groups" => Ok((brain, AccountKind::Groups, id)),
        _ => Err(format!("{kind:?} of {brain} is neither users nor groups")),
    }
}

/// Prints grants as `brain_grants` reads them.
fn show_grants(grants: &BTreeMap<String, Grants>) -> String {
    let mut out = Vec::new();
    for (brain, grants) in grants {
        for (kind, roles) in [("groups", &grants.groups), ("users", &grants.users)] {
            let pair = |(id, role): (&u32, &Role)| format!("{brain}/{kind}/{id}={role}");
            out.extend(roles.iter().map(pair));
        }
    }
    out.join(",")
}

/// The pairs of a table in a file, or of `a=b,c=d` elsewhere.
fn pairs(raw: &RawValue, wrong: &InvalidSetting<'_>, of: &str) -> Result<Vec<(String, String)>> {
    match raw {
        RawValue::Table(words) => Ok(words.clone().into_iter().collect()),
        RawValue::Text(text) => {
            let text = text.to_string_lossy();
            let pair = |pair: &str| {
                let (left, right) = pair.split_once('=').unwrap_or((pair, ""));
                (left.trim().to_owned(), right.trim().to_owned())
            };
            Ok(text.split(',').map(pair).collect())
        }
        _ => Err(wrong.because(format_args!("it must be a table of {of}"))),
    }
}

/// Reads the named file, which must exist, or the user's, which may be missing.
#[expect(
    clippy::type_complexity,
    reason = "the path and the values, nothing else"
)]
fn read_file(
    flags: &Flags,
    variable: Lookup<'_>,
) -> Result<(
    Option<PathBuf>,
    BTreeMap<&'static str, (RawValue, SettingSource)>,
)> {
    let named = flags.config.clone();
    let named = named.or_else(|| variable("AMEMD_CONFIG").map(PathBuf::from));
    if let Some(path) = named {
        return match file::read(&path)? {
            Some(values) => Ok((Some(path), values)),
            None => Err(Error::File {
                origin: path.display().to_string(),
                why: "the configuration file does not exist: name another, or none".into(),
            }),
        };
    }
    // The configuration of the system service is not read: it names that daemon's folder and group.
    match paths::config_file(variable) {
        Some(path) => Ok(match file::read(&path)? {
            Some(values) => (Some(path), values),
            None => (None, BTreeMap::new()),
        }),
        None => Ok((None, BTreeMap::new())),
    }
}
