//! The configuration file: TOML. An unknown key is an error.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::keys::{BRAINS, key, nearest};
use super::source::{RawValue, SettingSource};
use crate::error::{Error, Result};
use crate::limits::CONFIG_BYTES_MAX;
use amem_host::files::{FileFault, FileKind, TextPosition, read_text};
use amem_host::trust::OthersMay;

type FileValues = BTreeMap<&'static str, (RawValue, SettingSource)>;

/// Reads a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<FileValues>> {
    let kind = FileKind::Settings(OthersMay::Read);
    let text = read_text(path, kind, CONFIG_BYTES_MAX).map_err(|fault| match fault {
        FileFault::Io { source, .. } => Error::io("read the configuration in", path, source),
        fault => Error::File {
            origin: path.display().to_string(),
            why: fault.why(),
        },
    })?;
    text.map(|text| parse(path, &text)).transpose()
}

/// Parses the text of a file.
pub(super) fn parse(path: &Path, text: &str) -> Result<FileValues> {
    let file = ConfigText { path, text };
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().map_or(0, |span| span.start);
        file.wrong(at, e.message().to_owned())
    })?;
    let mut values = FileValues::new();
    file.collect("", table.get_ref(), &mut values)?;
    Ok(values)
}

struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl ConfigText<'_> {
    fn line(&self, at: usize) -> usize {
        TextPosition::of(self.text, at).line
    }

    fn wrong(&self, at: usize, why: String) -> Error {
        let origin = format!("{}:{}", self.path.display(), self.line(at));
        Error::File { origin, why }
    }

    fn collect(&self, section: &str, table: &DeTable<'_>, values: &mut FileValues) -> Result<()> {
        for (word, value) in table {
            let at = word.span().start;
            let name = match section {
                "" => word.get_ref().to_string(),
                section => format!("{section}.{}", word.get_ref()),
            };
            let raw = match (key(&name), value.get_ref()) {
                (Some(key), value) => Some((key.name, self.raw(at, &name, value)?)),
                (None, DeValue::Table(inner)) if is_section(&name) => {
                    self.collect(&name, inner, values)?;
                    None
                }
                (None, _) => {
                    let hint = nearest(&name).map(|near| format!("; did you mean {near}?"));
                    let hint =
                        hint.unwrap_or_else(|| "; `amemd --check-config` lists all keys".into());
                    return Err(self.wrong(at, format!("unknown key {name:?}{hint}")));
                }
            };
            if let Some((name, raw)) = raw {
                let source = SettingSource::File {
                    path: self.path.into(),
                    line: self.line(at),
                };
                values.insert(name, (raw, source));
            }
        }
        Ok(())
    }

    fn raw(&self, at: usize, name: &str, value: &DeValue<'_>) -> Result<RawValue> {
        let wrong = |what: &str| self.wrong(at, format!("{name}: {what}"));
        Ok(match value {
            DeValue::String(text) => RawValue::Text(text.to_string().into()),
            DeValue::Boolean(switch) => RawValue::Boolean(*switch),
            DeValue::Integer(number) => RawValue::Integer(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| wrong("the number is too large"))?,
            ),
            DeValue::Table(table) => {
                let mut words = BTreeMap::new();
                // Nested tables become one table, whose keys are the paths of the values.
                let depth = if name == BRAINS { 2 } else { 0 };
                if !flatten("", table, depth, &mut words) {
                    return Err(wrong("each value in the table must be a quoted string"));
                }
                RawValue::Table(words)
            }
            _ => return Err(wrong("a value of this type is not allowed here")),
        })
    }
}

/// Collects the texts of a table and of nested ones, to a depth; false if a value is not a text.
fn flatten(
    front: &str,
    table: &DeTable<'_>,
    depth: usize,
    words: &mut BTreeMap<String, String>,
) -> bool {
    table.iter().all(|(word, value)| {
        let word = format!("{front}{}", word.get_ref());
        match value.get_ref() {
            DeValue::String(text) => {
                words.insert(word, text.to_string());
                true
            }
            DeValue::Table(inner) if depth > 0 => {
                flatten(&format!("{word}/"), inner, depth - 1, words)
            }
            _ => false,
        }
    })
}

/// True if the name is a section of settings.
fn is_section(name: &str) -> bool {
    super::keys::keys().any(|key| {
        key.name
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_gives_values_with_their_lines() {
        let text =
            "folder = \"/b\"\n\n[access]\nusers = { 7 = \"read\" }\n[limits]\nconnections = 0x10\n";
        let values = parse(Path::new("/f.toml"), text).unwrap();
        let line = |name: &str| values[name].1.to_string();
        assert_eq!(values.len(), 3);
        assert_eq!(line("folder"), "/f.toml:1");
        assert_eq!(line("access.users"), "/f.toml:4");
        assert_eq!(values["limits.connections"].0, RawValue::Integer(16));
    }

    #[test]
    fn a_file_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "folder = \"/b\"").unwrap();
        for (mode, is_taken) in [(0o644, true), (0o646, false), (0o600, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let taken = read(&path);
            assert_eq!(taken.is_ok(), is_taken, "{mode:o}");
            let told = taken.err().map(|error| error.to_string());
            assert!(told.is_none_or(|told| told.contains("chmod go-w")));
        }
    }

    #[test]
    fn a_pipe_as_the_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let (mode, fifo) = (
            rustix::fs::Mode::from_raw_mode(0o600),
            rustix::fs::FileType::Fifo,
        );
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        let why = read(&path).unwrap_err().to_string();
        assert!(why.contains("not a regular file"), "{why}");
        assert!(read(Path::new("/dev/null")).unwrap().unwrap().is_empty());
    }

    #[test]
    fn what_is_unknown_or_wrong_is_named_with_file_and_line() {
        for (text, words) in [
            ("\nfoldr = 1", vec!["/f.toml:2", "\"foldr\"", "folder"]),
            (
                "[tcp]\nlissen = 1",
                vec!["/f.toml:2", "tcp.lissen", "tcp.listen"],
            ),
            ("[tpc]\nlisten = 1", vec!["/f.toml:1", "\"tpc\""]),
            ("[folder]\nx = 1", vec!["/f.toml:1", "quoted"]),
            ("folder = [1]", vec!["/f.toml:1", "folder"]),
            ("\n\nfolder = ", vec!["/f.toml:3"]),
            ("folder = \"/a\"\nfolder = \"/b\"", vec!["/f.toml:2"]),
        ] {
            let error = parse(Path::new("/f.toml"), text).unwrap_err().to_string();
            for word in words {
                assert!(error.contains(word), "{text:?}: {error}");
            }
        }
    }
}
