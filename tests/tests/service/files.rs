//! The rest of `deploy`: the Debian package, the container, the settings of the service.

use std::fs;
use std::process::Command;

use amem_tests::programs::amemctl;
use toml::{Table, Value};
use yaml_rust2::{Yaml, YamlLoader};

use crate::process::Setup;
use crate::tools::{has, ran, repository, said, text_of};
use amem_tests::machine::skipped;

/// What the manifest says of the package.
fn package() -> Table {
    let manifest: Table = text_of("daemon/Cargo.toml").parse().unwrap();
    let metadata = &manifest["package"]["metadata"]["deb"];
    metadata.as_table().unwrap().clone()
}

/// The assets: from where, to where, with which mode.
fn assets() -> Vec<[String; 3]> {
    let package = package();
    let rows = package["assets"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |row: &Value| {
        let row: Vec<_> = row.as_array().unwrap().iter().map(text).collect();
        row.try_into().unwrap()
    };
    rows.map(row).collect()
}

#[test]
fn every_file_that_the_package_names_is_there_or_made_by_its_script() {
    let (made, release) = (text_of("deploy/deb/build"), text_of("deploy/build-release"));
    assert!(made.contains("deploy/build-release"));
    for [from, to, mode] in assets() {
        assert!(["644", "755"].contains(&mode.as_str()), "{from}: {mode}");
        assert!(!to.starts_with('/'), "{to}");
        let from = from.strip_prefix("../").unwrap_or(&from).to_owned();
        let (folder, name) = from.rsplit_once('/').unwrap_or(("", &from));
        if let Some(end) = from.strip_prefix("target/release/") {
            assert!(release.contains(&format!("-p {end}")), "{end} is not built");
            continue;
        }
        if let Some(kind) = folder.strip_prefix("target/deb-made/") {
            let is_made = made.contains(&format!("/{kind}/{name}\""))
                || made.contains(&format!("--folder \"$made/{kind}\""));
            assert!(is_made, "{from}: nothing makes it");
            continue;
        }
        let end = name.strip_prefix('*').unwrap_or(name);
        let there = fs::read_dir(repository(folder)).unwrap();
        let names = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(
            names.into_iter().any(|found| found.ends_with(end)),
            "{from}: nothing is there"
        );
    }
}

#[test]
fn the_package_has_every_file_of_the_service_and_keeps_its_settings() {
    let assets = assets();
    let target = |[from, to, _]: &[String; 3]| {
        if to.ends_with('/') {
            format!("/{to}{}", from.rsplit('/').next().unwrap())
        } else {
            format!("/{to}")
        }
    };
    let targets: Vec<_> = assets.iter().map(target).collect();
    let needed = [
        "/usr/bin/amemd",
        "/usr/bin/amemctl",
        "/usr/lib/systemd/system/amemd.service",
        "/usr/lib/systemd/system/amemd.socket",
        "/usr/lib/systemd/system/amemd-metrics.socket",
        "/usr/lib/systemd/user/amemd-metrics.socket",
        "/usr/lib/systemd/user/amemd.service",
        "/usr/lib/systemd/user/amemd.socket",
        "/usr/lib/sysusers.d/amemd.conf",
        "/usr/lib/tmpfiles.d/amemd.conf",
        "/etc/amemd/config.toml",
    ];
    for path in needed {
        assert!(targets.iter().any(|target| target == path), "{path}");
    }
    let package = package();
    let kept = package["conf-files"].as_array().unwrap();
    let below_etc: Vec<_> = targets.iter().filter(|t| t.starts_with("/etc/")).collect();
    assert_eq!(
        below_etc,
        kept.iter().map(|k| k.as_str().unwrap()).collect::<Vec<_>>()
    );
    for unit in ["amemd.service", "user/amemd.service"] {
        let unit = text_of(&format!("deploy/systemd/{unit}"));
        assert!(unit.contains("ExecStart=/usr/bin/amemd"));
    }
}

#[test]
fn the_package_scripts_are_valid_shell_and_remove_no_brain() {
    for name in ["postinst", "prerm", "postrm", "build"] {
        let path = repository(&format!("deploy/deb/{name}"));
        ran(Command::new("sh").arg("-n").arg(&path));
        let text = text_of(&format!("deploy/deb/{name}"));
        let removes = text
            .lines()
            .any(|line| line.contains("rm ") && line.contains("/var"));
        assert!(!removes, "{name}");
    }
    // Without systemd they have nothing to do, and say nothing.
    if !std::path::Path::new("/run/systemd/system").exists() {
        for (name, act) in [
            ("prerm", "remove"),
            ("postrm", "remove"),
            ("postinst", "triggered"),
        ] {
            let path = repository(&format!("deploy/deb/{name}"));
            assert_eq!(ran(Command::new(path).arg(act)), "", "{name}");
        }
    }
}

/// A step of the Dockerfile, with continued lines as one.
fn steps() -> Vec<(String, String)> {
    let text = text_of("deploy/container/Dockerfile").replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(step, rest)| (step.to_owned(), rest.trim().to_owned()))
        .collect()
}

/// What stands in the last stage of it.
fn runs() -> Vec<(String, String)> {
    let steps = steps();
    let from = steps.iter().rposition(|(step, _)| step == "FROM").unwrap();
    // The build, its line tables, the image.
    assert_eq!(steps.iter().filter(|(step, _)| step == "FROM").count(), 3);
    steps[from..].to_vec()
}

/// The words of a command that is no shell's.
fn words(of: &str) -> Vec<String> {
    let (_, list) = of
        .split_once('[')
        .unwrap_or_else(|| panic!("{of}: it wants a shell"));
    serde_json::from_str(&format!("[{list}")).unwrap()
}

#[test]
fn the_image_runs_unprivileged_and_without_a_shell() {
    let runs = runs();
    let all = |step: &str| -> Vec<&str> {
        let found = runs.iter().filter(|(found, _)| found == step);
        found.map(|(_, rest)| rest.as_str()).collect()
    };
    assert_eq!(
        all("RUN"),
        Vec::<&str>::new(),
        "there is no shell to run it"
    );
    let [user] = all("USER")[..] else {
        panic!("one user")
    };
    let uid: u32 = user.split(':').next().unwrap().parse().unwrap();
    assert!(uid > 0);
    assert_eq!(words(all("ENTRYPOINT")[0]), ["/usr/bin/amemd"]);
    let volumes = words(all("VOLUME")[0]);
    assert!(
        volumes.contains(&"/var/lib/amemd".to_owned()),
        "{volumes:?}"
    );
    let sample = text_of("deploy/amemd.toml");
    let unit = text_of("deploy/systemd/amemd.service");
    for pair in all("ENV").iter().flat_map(|env| env.split_whitespace()) {
        let (name, _) = pair.split_once('=').unwrap();
        // What is not ours is the C library's, and the same wherever amemd is a service.
        let is_known = if name.starts_with("AMEMD_") {
            sample.contains(name)
        } else {
            unit.contains(&format!("\nEnvironment={pair}\n"))
        };
        assert!(is_known, "{pair} is no setting");
    }
    // What is copied out of the first stage is what it made.
    let all_steps = steps();
    let made: String = all_steps
        .iter()
        .filter(|(step, _)| step == "RUN")
        .map(|(_, rest)| rest.as_str())
        .collect();
    for copied in all("COPY") {
        let from = copied
            .split_whitespace()
            .find(|word| word.starts_with('/'))
            .unwrap();
        assert!(
            made.contains(from.trim_end_matches('/')),
            "{from} is not made"
        );
    }
}

#[test]
fn the_images_health_check_detects_a_daemon_that_does_not_serve() {
    let runs = runs();
    let (_, check) = runs.iter().find(|(step, _)| step == "HEALTHCHECK").unwrap();
    let check = words(check);
    assert_eq!(check[0], "/usr/bin/amemctl");
    let healthy = |socket: &std::path::Path| {
        let mut command = amemctl();
        command.args(&check[1..]).env("AMEMD_SOCKET", socket);
        let output = command.output().unwrap();
        (output.status.code(), said(&output))
    };
    let daemon = Setup::new("").start();
    let socket = daemon.place.socket();
    assert_eq!(healthy(&socket).0, Some(0));
    assert!(daemon.stop().success());
    let (code, told) = healthy(&socket);
    assert_eq!(code, Some(7), "{told}");
    assert!(!socket.exists(), "the check started one");
}

#[test]
fn compose_gives_the_container_only_what_it_needs() {
    let text = text_of("deploy/container/compose.yaml");
    let pages = YamlLoader::load_from_str(&text).unwrap();
    let service = &pages[0]["services"]["amemd"];
    let list = |of: &Yaml| -> Vec<String> {
        let items = of.as_vec().unwrap().iter();
        items
            .map(|item| item.as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(service["read_only"].as_bool(), Some(true));
    assert_eq!(list(&service["cap_drop"]), ["ALL"]);
    assert_eq!(list(&service["security_opt"]), ["no-new-privileges:true"]);
    assert!(service["privileged"].is_badvalue() && service["ports"].is_badvalue());
    assert_eq!(service["network_mode"].as_str(), Some("none"));
    let (_, user) = runs().into_iter().find(|(step, _)| step == "USER").unwrap();
    assert_eq!(service["user"].as_str(), Some(user.as_str()));
    let build = &service["build"];
    let context = repository("deploy/container").join(build["context"].as_str().unwrap());
    assert!(
        context
            .join(build["dockerfile"].as_str().unwrap())
            .is_file()
    );
    let (_, volumes) = runs()
        .into_iter()
        .find(|(step, _)| step == "VOLUME")
        .unwrap();
    let named = &pages[0]["volumes"];
    for (volume, path) in list(&service["volumes"]).iter().zip(words(&volumes)) {
        let (name, to) = volume.split_once(':').unwrap();
        assert_eq!(to, path);
        assert!(!named[name].is_badvalue(), "{name} is no volume");
    }
    // The ports that are shown as a comment are for this machine only.
    let ports = text.lines().find(|line| line.contains("ports:")).unwrap();
    assert!(ports.contains("\"127.0.0.1:"), "{ports}");
}

#[test]
fn docker_accepts_the_compose_file() {
    let there = has("docker", "what docker says of compose.yaml")
        && Command::new("docker")
            .args(["compose", "version"])
            .output()
            .unwrap()
            .status
            .success();
    if !there {
        skipped("there is no docker compose on this machine: compose.yaml is only read here");
        return;
    }
    let file = repository("deploy/container/compose.yaml");
    ran(Command::new("docker")
        .args(["compose", "-f"])
        .arg(file)
        .args(["config", "--quiet"]));
}

#[test]
fn the_settings_of_the_service_are_those_of_its_units() {
    let settings: Table = text_of("deploy/systemd/config.toml").parse().unwrap();
    let text = |name: &str| settings[name].as_str().unwrap().to_owned();
    let unit = text_of("deploy/systemd/amemd.service");
    let socket = text_of("deploy/systemd/amemd.socket");
    assert_eq!(text("folder"), "/var/lib/amemd");
    assert!(unit.contains("\nStateDirectory=amemd\n"));
    assert!(socket.contains(&format!("\nListenStream={}\n", text("socket"))));
    assert_eq!(text("socket"), amem_client::paths::SYSTEM_SOCKET);
    let group = settings["access"]["socket_group"].as_str().unwrap();
    assert!(socket.contains(&format!("\nSocketGroup={group}\n")));
    assert!(unit.contains(" --config /etc/amemd/config.toml\n"));
    // The daemon reads them, with a group that this machine has, and with TCP and metrics switched on.
    let text = text_of("deploy/systemd/config.toml")
        .replace("amem\"", "root\"")
        .replace("amem =", "root =");
    let lines = text.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest,
        _ => line,
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let flags = amemd::Flags {
        config: Some(file),
        ..amemd::Flags::default()
    };
    let config = amemd::Config::load(flags, std::sync::Arc::new(|_| None)).unwrap();
    assert_eq!(config.socket_group, Some(0));
    let tcp = text_of("deploy/systemd/drop-ins/tcp.conf");
    let listen = config.tcp.unwrap().listen.unwrap();
    assert!(tcp.contains(&format!("\nListenStream={listen}\n")));
    let metrics = text_of("deploy/systemd/amemd-metrics.socket");
    let listen = config.metrics.unwrap();
    assert!(metrics.contains(&format!("\nListenStream={listen}\n")));
}

#[test]
fn no_unit_hides_the_boot_id_from_the_daemon() {
    // Readers outside the unit believe a brain's live page only if it names the run that they see.
    for unit in [
        "deploy/systemd/amemd.service",
        "deploy/systemd/user/amemd.service",
        "deploy/systemd/drop-ins/before-253.conf",
        "deploy/systemd/drop-ins/models.conf",
        "deploy/systemd/drop-ins/readers.conf",
        "deploy/systemd/drop-ins/tcp.conf",
    ] {
        let text = text_of(unit);
        let hides = |line: &str| {
            line.starts_with("ProcSubset=pid")
                || ["InaccessiblePaths=", "TemporaryFileSystem="]
                    .iter()
                    .any(|key| line.starts_with(key) && line.contains("/proc"))
        };
        assert!(!text.lines().any(hides), "{unit}");
    }
    assert_ne!(amem_client::core::reader::boot_id(), [0, 0]);
}
