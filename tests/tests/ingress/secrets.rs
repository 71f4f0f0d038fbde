//! Where a token in use never appears: what the system shows of processes, and what it would dump of them.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};

use amem_client::v1;
use amem_tests::programs::amemctl;

use crate::process::{Daemon, Setup, write_private};

const TCP: &str = "[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"\n";

/// The same program, started where core dumps are as large as they may be.
fn dumping(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell
        .args([
            "-c",
            "ulimit -S -c \"$(ulimit -H -c)\" && exec \"$0\" \"$@\"",
        ])
        .arg(command.get_program())
        .args(command.get_args());
    shell
}

/// It is killed when it is dropped.
struct Tool(Child);

impl Drop for Tool {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What the system shows of a process contains no secret, and it dumps nothing.
fn check(who: &str, pid: u32, secret: &str) {
    for file in ["cmdline", "environ"] {
        match fs::read(format!("/proc/{pid}/{file}")) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains(secret), "{who}: {file}: {text}");
                assert!(file != "cmdline" || text.contains("--"), "{who}: {text}");
            }
            // It is not read.
            Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{who}: {file}"),
        }
    }
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let core: Vec<_> = core.unwrap().split_whitespace().skip(4).collect();
    assert_eq!(core, ["0", "0", "bytes"], "{who}: {limits}");
    // A dump that is taken nonetheless has none of the memory.
    let parts = fs::read_to_string(format!("/proc/{pid}/coredump_filter")).unwrap();
    assert_eq!(parts.trim().trim_start_matches('0'), "", "{who}: {parts}");
}

#[tokio::test]
async fn no_argument_environment_or_core_dump_contains_a_token() {
    // It may have to be built: no connection waits so long.
    let mut tool = amemctl();
    let place = Setup::new(TCP);
    let mut command = dumping(&place.command());
    command.env_clear().stderr(Stdio::piped());
    let daemon = Daemon::start(place, command);
    let client = daemon.client().await;
    let request = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(request).await.unwrap();
    let event = v1::NewEvent {
        text: "seen".into(),
        ..Default::default()
    };
    let opened = client.brain("b").await.unwrap();
    opened.ingest(vec![event]).await.unwrap();
    let token = daemon.token().await;
    let file = daemon.place.path("a.token");
    write_private(&file, &token);
    tool.arg("--address").arg(daemon.tcp.unwrap().to_string());
    tool.arg("--token-file").arg(&file);
    tool.args(["watch", "b", "--after", "0"]);
    let mut watches = dumping(&tool);
    let mut watches = Tool(watches.stdout(Stdio::piped()).spawn().unwrap());
    // It is answered because of its token.
    let mut line = String::new();
    let mut out = BufReader::new(watches.0.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    let secret = &token[5..21];
    check("amemctl", watches.0.id(), secret);
    check("amemd", daemon.pid(), secret);
}
