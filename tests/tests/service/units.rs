//! The units of `deploy/systemd`, as systemd's own tools judge them, and users and folders as they make them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::tools::{has, ran, said, text_of};
use amem_tests::machine::skipped;

/// The unit that lends the socket of the metrics.
const METRICS: &str = "amemd-metrics.socket";

/// What a manager before 253 says of the unit, which is written for it, too.
const BEFORE_253: &str = "Failed to parse service type, ignoring: notify-reload";

/// Units in a folder of their own, as they would be installed.
struct Units(TempDir);

impl Units {
    /// Service and socket of a folder of `deploy`, with drop-ins for them, and with that of the metrics if it is among
    /// these; the program is one that is there.
    fn of(folder: &str, drop_ins: &[&str]) -> Self {
        let units = Self(tempfile::tempdir().unwrap());
        let service = text_of(&format!("{folder}/amemd.service"));
        let program = env!("CARGO_BIN_EXE_amem-tested-daemon");
        let start = "ExecStart=/usr/bin/amemd";
        assert_eq!(service.matches(start).count(), 1);
        units.put(
            "amemd.service",
            &service.replace(start, &format!("ExecStart={program}")),
        );
        units.put("amemd.socket", &text_of(&format!("{folder}/amemd.socket")));
        for &name in drop_ins {
            if name == METRICS {
                units.put(name, &text_of(&format!("deploy/systemd/{name}")));
                continue;
            }
            let text = text_of(&format!("deploy/systemd/drop-ins/{name}"));
            let unit = if text.contains("\n[Socket]\n") {
                "socket"
            } else {
                "service"
            };
            units.put(&format!("amemd.{unit}.d/{name}"), &text);
        }
        units
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Each folder of units with every set of drop-ins that makes a difference.
const ROWS: [(&str, &[&str]); 8] = [
    ("deploy/systemd", &[]),
    ("deploy/systemd", &["before-253.conf", "tcp.conf"]),
    ("deploy/systemd", &["models.conf"]),
    ("deploy/systemd", &[METRICS]),
    ("deploy/systemd/user", &[]),
    ("deploy/systemd/user", &["before-253.conf", "tcp.conf"]),
    ("deploy/systemd/user", &["models.conf"]),
    ("deploy/systemd/user", &[METRICS]),
];

#[test]
fn systemd_accepts_the_units() {
    if !has("systemd-analyze", "what systemd says of the units") {
        return;
    }
    for (folder, drop_ins) in ROWS {
        let units = Units::of(folder, drop_ins);
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--man=no", "--recursive-errors=yes"]);
        if folder.ends_with("user") {
            // A user's manager wants to know where its sockets would be.
            command.arg("--user").env("XDG_RUNTIME_DIR", units.0.path());
        }
        command.args([units.path("amemd.service"), units.path("amemd.socket")]);
        if drop_ins.contains(&METRICS) {
            command.arg(units.path(METRICS));
        }
        let output = command.output().unwrap();
        let told = said(&output);
        let faults: Vec<_> = told
            .lines()
            .filter(|line| !line.contains(BEFORE_253))
            .collect();
        assert_eq!(faults, Vec::<&str>::new(), "{folder} {drop_ins:?}");
    }
    // What is judged is not nothing: a fault is found.
    let units = Units::of("deploy/systemd", &[]);
    units.put(
        "amemd.service.d/odd.conf",
        "[Service]\nProtectSytem=strict\n",
    );
    let mut command = Command::new("systemd-analyze");
    command
        .args(["verify", "--man=no"])
        .arg(units.path("amemd.service"));
    assert!(said(&command.output().unwrap()).contains("ProtectSytem"));
}

#[test]
fn the_units_bound_memory_and_write_no_core_dumps() {
    for folder in ["deploy/systemd", "deploy/systemd/user"] {
        let unit = text_of(&format!("{folder}/amemd.service"));
        for setting in ["MemoryMax=75%", "LimitCORE=0"] {
            let is_set = unit.lines().any(|line| line == setting);
            assert!(is_set, "{folder}: {setting}");
        }
    }
}

/// The exposure of a service, if it is at most this many tenths.
fn exposure(units: &Units, tenths_max: u32) -> Option<String> {
    let output = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager"])
        .arg(format!("--threshold={tenths_max}"))
        .arg(units.path("amemd.service"))
        .output()
        .unwrap();
    let told = said(&output);
    let (_, rest) = told.split_once("Overall exposure level for amemd.service: ")?;
    let found = rest.split(' ').next()?.to_owned();
    output.status.success().then_some(found)
}

/// Units, how exposed they may be, and the document that says so.
struct ExposureCase {
    folder: &'static str,
    drop_ins: &'static [&'static str],
    /// A line of the machine's administrator.
    more: &'static str,
    /// In tenths, as systemd-analyze takes it.
    tenths_max: u32,
    /// Pages, and their words.
    told: &'static [(&'static str, &'static str)],
}

const PAGE: &str = "deploy/README.md";
const MODELS: &str = "deploy/systemd/drop-ins/models.conf";

const EXPOSED: [ExposureCase; 9] = [
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &[],
        more: "",
        tenths_max: 10,
        told: &[
            (
                "deploy/systemd/amemd.service",
                "EXPOSURE of 10 (systemd 252)",
            ),
            (PAGE, "| amemd.service | EXPOSURE |"),
            ("README.md", "rates its exposure EXPOSURE of 10"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &["before-253.conf", "tcp.conf"],
        more: "",
        tenths_max: 10,
        told: &[
            (
                "deploy/systemd/drop-ins/tcp.conf",
                "with it: EXPOSURE of 10, as without",
            ),
            (PAGE, "tcp.conf) | EXPOSURE |"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &[METRICS],
        more: "",
        tenths_max: 10,
        told: &[
            (
                "deploy/systemd/amemd-metrics.socket",
                "with it: EXPOSURE of 10, as without",
            ),
            (PAGE, "amemd-metrics.socket) | EXPOSURE |"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd/user",
        drop_ins: &[METRICS],
        more: "",
        tenths_max: 65,
        told: &[(PAGE, "| user/amemd.service | EXPOSURE |")],
    },
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &["readers.conf"],
        more: "",
        tenths_max: 10,
        told: &[
            (
                "deploy/systemd/drop-ins/readers.conf",
                "with it: EXPOSURE of 10",
            ),
            (PAGE, "readers.conf) | EXPOSURE |"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &["models.conf"],
        more: "",
        tenths_max: 15,
        told: &[
            (MODELS, "with it: EXPOSURE of 10"),
            (PAGE, "models.conf) | EXPOSURE |"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd",
        drop_ins: &["models.conf"],
        more: "IPAddressAllow=192.0.2.7",
        tenths_max: 15,
        told: &[
            (MODELS, "the exposure to EXPOSURE."),
            (PAGE, "EXPOSURE with another's"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd/user",
        drop_ins: &[],
        more: "",
        tenths_max: 65,
        told: &[
            (
                "deploy/systemd/user/amemd.service",
                "EXPOSURE of 10 (systemd 252)",
            ),
            (PAGE, "| user/amemd.service | EXPOSURE |"),
        ],
    },
    ExposureCase {
        folder: "deploy/systemd/user",
        drop_ins: &["models.conf"],
        more: "",
        tenths_max: 70,
        told: &[(MODELS, "of the user's, EXPOSURE.")],
    },
];

#[test]
fn the_units_exposure_is_at_most_the_documented_one() {
    if !has("systemd-analyze", "how exposed the units are") {
        return;
    }
    let version = ran(Command::new("systemd-analyze").arg("--version"));
    let is_measured = version.starts_with("systemd 252 ");
    for ExposureCase {
        folder,
        drop_ins,
        more,
        tenths_max,
        told,
    } in EXPOSED
    {
        let units = Units::of(folder, drop_ins);
        if !more.is_empty() {
            units.put("amemd.service.d/more.conf", &format!("[Service]\n{more}\n"));
        }
        let found = exposure(&units, tenths_max);
        let found =
            found.unwrap_or_else(|| panic!("{folder} {drop_ins:?}: more than {tenths_max}"));
        // Another version counts a little differently: the threshold holds, the figure is of this one.
        for (page, words) in told.iter().filter(|_| is_measured) {
            let text = text_of(page).replace("\n# ", " ");
            let words = words.replace("EXPOSURE", &found);
            assert!(text.contains(&words), "{page} should say: {words}");
        }
    }
    // The threshold is what decides.
    let units = Units::of("deploy/systemd", &[]);
    units.put(
        "amemd.service.d/odd.conf",
        "[Service]\nUser=\nPrivateNetwork=no\n",
    );
    assert_eq!(exposure(&units, 10), None);
}

#[test]
fn every_authorized_user_is_identified() {
    for folder in ["deploy/systemd", "deploy/systemd/user"] {
        let unit = text_of(&format!("{folder}/amemd.service"));
        let set = unit.lines().find(|line| line.starts_with("PrivateUsers="));
        assert_eq!(set, None, "with it the peers of a socket are nobody");
    }
}

#[test]
fn users_and_folders_are_made_as_the_units_need_them() {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        skipped("only root can make users and give folders away");
        return;
    }
    if !has("systemd-sysusers", "making users") || !has("systemd-tmpfiles", "making folders") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    fs::create_dir(at("etc")).unwrap();
    let root_of = format!("--root={}", root.path().display());
    let put = |name: &str, source: &str| {
        fs::write(at(name), text_of(source)).unwrap();
        at(name).display().to_string()
    };
    let users = put("users.conf", "deploy/systemd/sysusers.conf");
    ran(Command::new("systemd-sysusers").args([&root_of, &users]));
    let id = |table: &str, name: &str| -> u32 {
        let table = fs::read_to_string(at(table)).unwrap();
        let mut rows = table
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let row = rows
            .find(|row| row[0] == name)
            .unwrap_or_else(|| panic!("{name}: {table}"));
        row[2].parse().unwrap()
    };
    let (user, group) = (id("etc/passwd", "amemd"), id("etc/group", "amem"));
    assert!(user != 0 && group != 0 && group != id("etc/group", "amemd"));
    let passwd = fs::read_to_string(at("etc/passwd")).unwrap();
    let row = passwd
        .lines()
        .find(|line| line.starts_with("amemd:"))
        .unwrap();
    assert!(
        row.contains(":/var/lib/amemd:") && row.ends_with("/nologin"),
        "{row}"
    );

    let folders = put("folders.conf", "deploy/systemd/tmpfiles.conf");
    ran(Command::new("systemd-tmpfiles").args(["--create", &root_of, &folders]));
    let own = id("etc/group", "amemd");
    for (path, mode, gid) in [("run/amemd", 0o750, group), ("var/lib/amemd", 0o700, own)] {
        let meta = fs::metadata(at(path)).unwrap();
        let found = (meta.permissions().mode() & 0o7777, meta.uid(), meta.gid());
        assert_eq!(found, (mode, user, gid), "{path}");
    }
    let unit = text_of("deploy/systemd/amemd.socket");
    for line in ["SocketUser=amemd", "SocketGroup=amem", "SocketMode=0660"] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
}
