//! The manual pages: amemd(8) from its flags, amemd.toml(5) from the sample that explains every setting.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::config::Flags;
use crate::error::{Error, Result};

/// Every setting with its meaning and default; `the_sample_has_every_setting_…` compares it with the code.
const SAMPLE: &str = include_str!("../../../deploy/amemd.toml");

const DAEMON_TAIL: &str = "\
.SH SIGNALS
.TP
SIGTERM, SIGINT
Stops the daemon: calls under way end within ten seconds, acknowledged writes are durable.
.TP
SIGHUP
Reads the settings again, as `amemctl reload` does.
.SH EXIT STATUS
.TP
0
Stopped in order, or the configuration is valid.
.TP
1
It could not start or serve, or the configuration is invalid.
.TP
2
Invalid flags.
.TP
75
Another daemon has the folder or the socket.
.SH FILES
.TP
~/.config/amemd/config.toml
The settings, see amemd.toml(5). Below $XDG_CONFIG_HOME, if that is set.
.TP
~/.local/share/amem/brains
The brains, a file each. Below $XDG_DATA_HOME, if that is set.
.TP
~/.local/share/amem/run/amemd.sock
The socket.
.TP
/etc/amemd/config.toml, /var/lib/amemd, /run/amemd/amemd.sock
The same of the service for all users.
.SH SEE ALSO
amemctl(1), amemd.toml(5), systemctl(1)
";

const SETTINGS_HEAD: &str = ".ie \\n(.g .ds Aq \\(aq
.el .ds Aq '
.TH amemd.toml 5
.SH NAME
amemd.toml \\- the settings of amemd(8)
.SH DESCRIPTION
";

const SETTINGS_TAIL: &str = ".SH SEE ALSO\namemd(8), amemctl(1)\n";

/// Writes both pages into a folder, which is created if it is missing.
pub(super) fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    let mut daemon = Vec::new();
    Man::new(Flags::command())
        .section("8")
        .render(&mut daemon)
        .map_err(|e| Error::io("write", folder, e))?;
    daemon.extend(DAEMON_TAIL.bytes());
    for (name, page) in [
        ("amemd.8", daemon),
        ("amemd.toml.5", settings().into_bytes()),
    ] {
        let path = folder.join(name);
        fs::write(&path, page).map_err(|e| Error::io("write", &path, e))?;
    }
    Ok(())
}

/// The sample as a page: its comments are the texts, its disabled settings the items.
fn settings() -> String {
    let mut page = String::from(SETTINGS_HEAD);
    let mut comment = Vec::new();
    let mut lines = SAMPLE.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(section) = line.strip_prefix('[') {
            page.push_str(&format!(".SH [{}\n", escaped(section)));
            put_text(&mut page, &mut comment);
        } else if line == "#" || line.starts_with("# ") {
            comment.push(line.trim_start_matches('#').trim());
        } else if let Some(setting) = line.strip_prefix('#') {
            page.push_str(&format!(".TP\n\\fB{}\\fR\n", escaped(setting)));
            // Several settings may share one text.
            while let Some(next) = lines.next_if(|next| is_setting(next)) {
                page.push_str(&format!(".TQ\n\\fB{}\\fR\n", escaped(&next[1..])));
            }
            put_text(&mut page, &mut comment);
        } else if !comment.is_empty() && page.ends_with(".SH DESCRIPTION\n") {
            put_text(&mut page, &mut comment);
        }
    }
    page.push_str(SETTINGS_TAIL);
    page
}

/// A disabled setting: a `#` without a space.
fn is_setting(line: &str) -> bool {
    line.len() > 1 && line.starts_with('#') && !line.starts_with("# ")
}

/// Paragraphs end at an empty line; rows of tables stay lines.
fn put_text(page: &mut String, comment: &mut Vec<&str>) {
    for line in comment.drain(..) {
        if line.is_empty() {
            page.push_str(".sp\n");
        } else if line.starts_with('|') {
            page.push_str(&format!(".nf\n{}\n.fi\n", escaped(line)));
        } else {
            page.push_str(&format!("{}\n", escaped(line)));
        }
    }
}

/// A line of text as roff reads it.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_settings_has_each_of_them() {
        let page = settings();
        for key in crate::config::keys() {
            let key = key.name;
            let last = key.rsplit('.').next().unwrap_or_default();
            let item = format!("\\fB{last} =");
            let is_table = key == "access.brains";
            assert!(is_table || page.contains(&item), "{key}");
        }
        // A macro such as .B would take the quotes away.
        assert!(page.contains("\\fBformat = \"text\"\\fR"));
        assert!(page.contains(".SH [limits]"));
        assert!(page.contains("AMEMD_LIMITS_CONNECTIONS,"));
        assert!(!page.contains("\n'"), "roff reads such a line as a request");
    }

    #[test]
    fn the_page_of_the_daemon_has_its_flags() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let page = fs::read_to_string(folder.path().join("amemd.8")).unwrap();
        for part in ["check\\-config", ".TH amemd 8", "SIGHUP", "amemd.toml(5)"] {
            assert!(page.contains(part), "{part}");
        }
    }
}
