//! A daemon with settings of its own, and what it says.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use amem_client::v1;
use amem_client::v1::admin_service_client::AdminServiceClient;
use tempfile::TempDir;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::{Body as HttpBody, Bytes, StdError};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder for brains with a file of settings.
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    /// The path of a socket is short: it lies among the temporary files.
    sockets: TempDir,
}

impl Setup {
    /// Settings that follow those of folder and socket.
    pub(crate) fn new(settings: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
            sockets: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.path("brains")).unwrap();
        place.configure(settings);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.sockets.path().join("s")
    }

    /// Writes the file of settings.
    pub(crate) fn configure(&self, settings: &str) {
        let socket = self.socket();
        let text = format!("folder = \"brains\"\nsocket = {socket:?}\n{settings}\n");
        fs::write(self.path("amemd.toml"), text).unwrap();
    }

    /// A daemon that is about to start with these settings.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_amem-tested-daemon"));
        command.env_clear().stderr(Stdio::piped());
        command.arg("--config").arg(self.path("amemd.toml"));
        command
    }

    /// What becomes of a daemon that does not start.
    pub(crate) fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output: Output = self.command().args(arguments).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), told)
    }

    pub(crate) fn start(self) -> Daemon {
        let command = self.command();
        Daemon::start(self, command)
    }
}

/// A running daemon; it is killed when it is dropped.
pub(crate) struct Daemon {
    child: ChildProcess,
    log: Receiver<String>,
    /// What was taken of it.
    heard: Mutex<Vec<String>>,
    pub(crate) place: Setup,
    /// Where it listens by TCP.
    pub(crate) tcp: Option<SocketAddr>,
    /// Where it serves metrics.
    pub(crate) metrics: Option<SocketAddr>,
    /// Where it serves HTTP by TCP.
    pub(crate) http: Option<SocketAddr>,
}

/// Its process.
struct ChildProcess(Child);

impl Daemon {
    /// Starts one and waits until it is ready.
    pub(crate) fn start(place: Setup, mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (send, log) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                drop(send.send(line));
            }
        });
        let mut daemon = Self {
            child: ChildProcess(child),
            log,
            heard: Mutex::default(),
            place,
            tcp: None,
            metrics: None,
            http: None,
        };
        let ready = daemon.says("ready");
        let address = |name: &str| {
            let (_, rest) = ready.split_once(&format!("{name}=\""))?;
            rest.split('"').next()?.parse().ok()
        };
        (daemon.tcp, daemon.metrics) = (address("tcp"), address("metrics"));
        daemon.http = address("http");
        daemon
    }

    /// Waits for a line of the log with these words.
    pub(crate) fn says(&self, words: &str) -> String {
        let mut said = Vec::new();
        loop {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.heard.lock().unwrap().push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                    said.push(line);
                }
                Err(error) => panic!("{error}; it never said {words:?}, but: {said:#?}"),
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.0.id().to_string();
        let sent = Command::new("kill").arg(name).arg(pid).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it by SIGTERM.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal("-TERM");
        self.wait().0
    }

    /// Waits until it has ended; gives its place back.
    pub(crate) fn wait(mut self) -> (ExitStatus, Setup) {
        (self.child.0.wait().unwrap(), self.place)
    }

    /// Ends it in order, for another one in its place.
    pub(crate) fn end(self) -> Setup {
        self.signal("-TERM");
        let (status, place) = self.wait();
        assert!(status.success(), "{status}");
        place
    }

    /// Ends it in order; gives its place back, and all that it ever said.
    pub(crate) fn end_and_tell(self) -> (Setup, String) {
        self.signal("-TERM");
        let Self {
            mut child,
            log,
            heard,
            place,
            ..
        } = self;
        assert!(child.0.wait().unwrap().success());
        let heard = heard.into_inner().unwrap().into_iter();
        let all: Vec<_> = heard.chain(log).collect();
        (place, all.join("\n"))
    }

    /// SIGKILL.
    pub(crate) fn kill(self) -> Setup {
        self.signal("-KILL");
        self.wait().1
    }

    /// A client by its socket.
    pub(crate) async fn client(&self) -> amem_client::Client {
        amem_client::Client::connect_unix(self.place.socket())
            .await
            .unwrap()
    }

    /// A token of this name, with which callers by TCP may do so much with all brains.
    pub(crate) async fn token_of(&self, name: &str, permission: v1::Permission) -> String {
        self.token_for(name, permission, &[]).await
    }

    /// The same with these brains only.
    pub(crate) async fn token_for(
        &self,
        name: &str,
        permission: v1::Permission,
        brains: &[&str],
    ) -> String {
        let request = v1::CreateTokenRequest {
            name: name.into(),
            permission: permission.into(),
            brains: brains.iter().map(|brain| (*brain).to_owned()).collect(),
            ..Default::default()
        };
        let client = self.client().await;
        let made = client.admin().create_token(request).await;
        made.unwrap().into_inner().token
    }

    /// One with which they may write.
    pub(crate) async fn token(&self) -> String {
        self.token_of("test", v1::Permission::Write).await
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Asks how the daemon is, with these headers.
pub(crate) async fn ask<S>(
    channel: S,
    headers: &[(&'static str, &str)],
) -> Result<tonic::Response<v1::GetStatusResponse>, Status>
where
    S: GrpcService<Body>,
    S::Error: Into<StdError>,
    S::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
    <S::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
{
    let mut request = Request::new(v1::GetStatusRequest {});
    for (name, value) in headers {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    AdminServiceClient::new(channel).get_status(request).await
}

/// A refusal must have this code, this reason, and these words.
pub(crate) fn check_refused<T: std::fmt::Debug>(
    answer: Result<T, Status>,
    code: Code,
    reason: &str,
    words: &[&str],
) {
    let status = answer.expect_err(reason);
    assert_eq!(status.code(), code, "{status}");
    let found = status.get_details_error_info().map(|info| info.reason);
    assert_eq!(found.as_deref(), Some(reason), "{status}");
    for word in words {
        assert!(status.message().contains(word), "{word}: {status}");
    }
}

/// Makes a file that only we may read.
pub(crate) fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
