//! Sockets that the service manager made and lends (LISTEN_FDS), as systemd does.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use amem_client::{Client, v1};
use tonic::transport::Endpoint;

use crate::process::{Daemon, Setup, ask};
use crate::tools::{has, refuses, said, status};
use amem_tests::machine::skipped;

/// A daemon about to start with one or two sockets as its descriptors 3 and 4. A shell puts them there, and becomes the
/// daemon, so that LISTEN_PID is its own number.
fn lending(place: &Setup, sockets: Vec<OwnedFd>) -> Command {
    lending_by(&[], place, sockets)
}

/// The same, by way of a program that becomes the daemon, too.
fn lending_by(way: &[&str], place: &Setup, sockets: Vec<OwnedFd>) -> Command {
    let real = place.command();
    let mut command = Command::new("sh");
    command
        .env_clear()
        .env("LISTEN_FDS", sockets.len().to_string());
    let mut sockets = sockets.into_iter();
    let first = sockets.next().unwrap();
    command.stdin(Stdio::from(first));
    let script = match sockets.next() {
        None => "exec 3<&0 </dev/null; LISTEN_PID=$$ exec \"$@\"",
        Some(second) => {
            command.stdout(Stdio::from(second));
            "exec 3<&0 4>&1 </dev/null >/dev/null; LISTEN_PID=$$ exec \"$@\""
        }
    };
    command.args(["-c", script, "sh"]).args(way);
    command.arg(real.get_program());
    command.args(real.get_args()).stderr(Stdio::piped());
    command
}

/// A socket as systemd makes it, on a path that the settings do not name.
fn unix(place: &Setup) -> (UnixListener, std::path::PathBuf) {
    let path = place.socket().with_file_name("lent");
    (UnixListener::bind(&path).unwrap(), path)
}

#[tokio::test]
async fn an_inherited_socket_is_used_and_stays_for_the_next_daemon() {
    let place = Setup::new("");
    let (made, path) = unix(&place);
    let mut command = lending(&place, vec![made.try_clone().unwrap().into()]);
    let daemon = Daemon::start(place, command);
    let client = Client::connect_unix(&path).await.unwrap();
    assert_eq!(Path::new(&status(&client).await.socket), path);
    assert!(!daemon.place.socket().exists(), "it made one of its own");
    drop(client);
    let place = daemon.end();
    assert!(
        path.exists(),
        "a socket that was lent is not the daemon's to remove"
    );

    // A caller that connects while no daemon runs waits, and the next one answers.
    let waiting = tokio::spawn(async move {
        let client = Client::connect_unix(path).await.unwrap();
        status(&client).await.pid
    });
    command = lending(&place, vec![made.into()]);
    let daemon = Daemon::start(place, command);
    let pid = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    assert_ne!(pid.expect("nobody answered").unwrap(), 0);
    daemon.end();
}

/// Says the first words of HTTP/2; prints how many bytes it is answered.
const STRANGER: &str = r#"
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
try:
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    print(len(s.recv(9)))
except (BrokenPipeError, ConnectionResetError):
    print(0)
"#;

#[test]
fn callers_of_an_inherited_socket_are_authorized_by_user_and_not_by_its_mode() {
    use std::os::unix::process::CommandExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        skipped("only root can be other users");
        return;
    }
    if !has("python3", "who is let in by a socket that is lent") {
        return;
    }
    let (granted, stranger) = (65_531, 65_532);
    let settings = format!("[access]\nsocket_group = 0\nusers = {{ {granted} = \"read\" }}\n");
    let place = Setup::new(&settings);
    let (made, path) = unix(&place);
    // Everybody could connect, if it were for the socket.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path.parent().unwrap(), everybody).unwrap();
    let command = lending(&place, vec![made.into()]);
    let daemon = Daemon::start(place, command);
    let answered = |uid: u32| {
        let mut command = Command::new("python3");
        command.args(["-c", STRANGER]).arg(&path).uid(uid).gid(uid);
        said(&command.output().unwrap()).trim().to_owned()
    };
    assert_eq!(
        (answered(granted).as_str(), answered(stranger).as_str()),
        ("9", "0")
    );
    daemon.says("user 65532");
}

#[tokio::test]
async fn an_inherited_tcp_socket_is_used_only_if_the_settings_name_its_address() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let named =
        |address: &str| format!("[tcp]\nlisten = \"{address}\"\ntokens_file = \"tokens.toml\"\n");
    for (settings, words) in [
        (String::new(), "TCP is off"),
        (named("127.0.0.1:1"), "tcp.listen is 127.0.0.1:1"),
    ] {
        let place = Setup::new(&settings);
        let (made, path) = unix(&place);
        let lent = vec![made.into(), tcp.try_clone().unwrap().into()];
        let (code, told) = refuses(lending(&place, lent));
        assert_eq!(code, Some(1), "{told}");
        let remedy = format!("tcp.listen = \"{address}\"");
        assert!(told.contains(words) && told.contains(&remedy), "{told}");
        assert!(path.exists());
    }
    let place = Setup::new(&named(&address.to_string()));
    let (made, path) = unix(&place);
    let command = lending(&place, vec![made.into(), tcp.into()]);
    let daemon = Daemon::start(place, command);
    assert_eq!(daemon.tcp, Some(address));
    // The socket is not where the settings have it.
    let client = Client::connect_unix(path).await.unwrap();
    let request = v1::CreateTokenRequest {
        name: "test".into(),
        permission: v1::Permission::Read.into(),
        ..Default::default()
    };
    let made = client.admin().create_token(request).await.unwrap();
    let token = format!("Bearer {}", made.into_inner().token);
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.connect().await.unwrap();
    ask(channel, &[("authorization", &token)]).await.unwrap();
}

/// What the manager calls the Unix socket and that of the metrics.
const NAMES: [&str; 2] = ["LISTEN_FDNAMES", "amemd.socket:metrics"];

/// Settings with metrics on an address.
fn with_metrics(address: &str) -> String {
    format!("[metrics]\nlisten = \"{address}\"\n")
}

#[test]
fn an_inherited_metrics_socket_serves_a_daemon_without_network() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let place = Setup::new(&with_metrics(&address.to_string()));
    let (made, _path) = unix(&place);
    let can_part = Command::new("unshare").args(["--net", "true"]).output();
    let way: &[&str] = if can_part.is_ok_and(|of| of.status.success()) {
        &["unshare", "--net"]
    } else {
        skipped("no namespace can be made here: the daemon that is lent metrics has a network");
        &[]
    };
    let mut command = lending_by(way, &place, vec![made.into(), tcp.into()]);
    command.env(NAMES[0], NAMES[1]);
    let daemon = Daemon::start(place, command);
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    assert!(told.contains("amemd_ready 1\n"), "{told}");
    assert!(daemon.stop().success());
}

#[test]
fn an_inherited_metrics_socket_needs_its_name_and_the_configured_address() {
    let tcp = || TcpListener::bind("127.0.0.1:0").unwrap();
    // What is lent beside the Unix socket, its name, what is set, and what is said.
    let rows: [(OwnedFd, &str, String, &str); 6] = [
        (tcp().into(), "metrics", String::new(), "metrics are off"),
        (
            tcp().into(),
            "metrics",
            with_metrics("127.0.0.1:1"),
            "metrics.listen is 127.0.0.1:1",
        ),
        (tcp().into(), "amemd.socket", String::new(), "TCP is off"),
        (
            tcp().into(),
            "metric",
            String::new(),
            "descriptor 4 as \"metric\": the name is unknown: set FileDescriptorName=metrics",
        ),
        (
            UnixStream::pair().unwrap().0.into(),
            "metrics",
            String::new(),
            "not a TCP socket",
        ),
        (
            tcp().into(),
            "metrics:metrics",
            String::new(),
            "LISTEN_FDNAMES",
        ),
    ];
    for (lent, name, settings, words) in rows {
        let place = Setup::new(&settings);
        let (made, _path) = unix(&place);
        let mut command = lending(&place, vec![made.into(), lent]);
        command.env(NAMES[0], format!("amemd.socket:{name}"));
        let (code, told) = refuses(command);
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains(words), "{name}: {words}: {told}");
    }
    // Two for metrics: which one is meant?
    let place = Setup::new("");
    let mut command = lending(&place, vec![tcp().into(), tcp().into()]);
    command.env(NAMES[0], "metrics:metrics");
    let (_, told) = refuses(command);
    assert!(told.contains("descriptor 4"), "{told}");
    assert!(told.contains("a second socket for metrics"), "{told}");
}

#[test]
fn an_unusable_inherited_socket_is_refused_by_name() {
    let connection = || UnixStream::pair().unwrap().0;
    let null = || fs::File::open("/dev/null").unwrap();
    let rows: [(&str, OwnedFd, &str); 4] = [
        (
            "a datagram socket",
            UnixDatagram::unbound().unwrap().into(),
            "ListenStream=",
        ),
        ("a file", null().into(), "descriptor 3"),
        ("a connection", connection().into(), "Accept=no"),
        (
            "an abstract socket",
            abstract_socket().into(),
            "without a path",
        ),
    ];
    for (what, descriptor, words) in rows {
        let place = Setup::new("");
        let (code, told) = refuses(lending(&place, vec![descriptor]));
        assert_eq!(code, Some(1), "{what}: {told}");
        assert!(told.contains(words), "{what}: {told}");
        assert!(!place.socket().exists(), "{what}");
    }
    // Two of a kind: which one is meant?
    let place = Setup::new("");
    let (made, _path) = unix(&place);
    let both = vec![made.try_clone().unwrap().into(), made.into()];
    let (_, told) = refuses(lending(&place, both));
    assert!(
        told.contains("descriptor 4") && told.contains("second"),
        "{told}"
    );
}

/// A socket that has no path, and so no rights.
fn abstract_socket() -> UnixListener {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("amemd-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
    UnixListener::bind_addr(&address).unwrap()
}

#[test]
fn sockets_for_another_process_are_ignored() {
    let place = Setup::new("");
    let mut command = place.command();
    command.env("LISTEN_FDS", "1").env("LISTEN_PID", "1");
    let socket = place.socket();
    let daemon = Daemon::start(place, command);
    assert!(socket.exists());
    assert!(daemon.stop().success());
}

#[tokio::test]
async fn systemds_own_tool_starts_the_daemon_for_its_first_caller() {
    let tool = "systemd-socket-activate";
    if !has(tool, "the start by systemd's own tool") {
        return;
    }
    let place = Setup::new("");
    let path = place.socket().with_file_name("lent");
    let real = place.command();
    let mut command = Command::new(tool);
    command.arg("--listen").arg(&path).arg(real.get_program());
    command.args(real.get_args()).stderr(Stdio::piped());
    let connect = async {
        let mut tries = 0;
        loop {
            match Client::connect_unix(&path).await {
                Ok(client) => break status(&client).await,
                Err(why) => assert!(tries < 2000, "{why}"),
            }
            tries += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let starting = tokio::task::spawn_blocking(move || Daemon::start(place, command));
    let status = connect.await;
    let daemon = starting.await.unwrap();
    assert_eq!(Path::new(&status.socket), path);
    let _place = daemon.end();
    assert!(path.exists());
}
