//! A server: a listener on this machine, and one thread for each connection.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use amem_locks::LockResultExt;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fault::Fault;
use crate::protocols::{
    AnthropicProtocol, AskedCall, AskedForm, AskedRequest, Finish, GoogleProtocol, OllamaProtocol,
    OpenaiProtocol, ProviderProtocol,
};
use crate::request::RecordedRequest;
use crate::script::{Script, ServerRule, Step};

/// The key that every server but Ollama's wants.
pub const KEY: &str = "sk-scripted-0123456789abcdefghijklmnop";
/// Values of a vector if the request names no number.
const DIMENSIONS: usize = 8;
/// How long a connection may be silent.
const SILENT_AFTER: Duration = Duration::from_secs(30);

/// The protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI, below `/v1`.
    Openai,
    /// Azure.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google.
    Google,
    /// Ollama.
    Ollama,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Openai,
        Self::Azure,
        Self::Anthropic,
        Self::Google,
        Self::Ollama,
    ];

    /// The name of the provider in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Ollama => "ollama",
        }
    }

    fn with_key(self, key: &str) -> Box<dyn ProviderProtocol> {
        let key = key.to_owned();
        match self {
            Self::Openai | Self::Azure => Box::new(OpenaiProtocol {
                key,
                is_azure: self == Self::Azure,
            }),
            Self::Anthropic => Box::new(AnthropicProtocol { key }),
            Self::Google => Box::new(GoogleProtocol { key }),
            Self::Ollama => Box::new(OllamaProtocol),
        }
    }
}

struct ServerState {
    protocol: Box<dyn ProviderProtocol>,
    script: Mutex<Script>,
    requests: Mutex<Vec<RecordedRequest>>,
    connections: AtomicUsize,
    /// Requests that are answered now, and the most at once.
    load: Mutex<(usize, usize)>,
}

/// A running server; it ends when it is dropped.
pub struct ScriptedServer {
    state: Arc<ServerState>,
    address: SocketAddr,
    path: &'static str,
    authority: Option<String>,
    is_over: Arc<AtomicBool>,
}

impl ScriptedServer {
    /// Starts a server on a free port of this machine.
    ///
    /// # Errors
    /// If this machine has no port.
    pub fn start(protocol: Protocol, script: Script) -> io::Result<Self> {
        Self::listen(protocol, script, None)
    }

    /// The same with TLS, by a certificate of its own authority.
    ///
    /// # Errors
    /// If this machine has no port, or no certificate can be made.
    pub fn start_tls(protocol: Protocol, script: Script) -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1", "models.example"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .map_err(io::Error::other)?;
        Self::listen(protocol, script, Some((Arc::new(config), made.cert.pem())))
    }

    fn listen(
        protocol: Protocol,
        script: Script,
        tls: Option<(Arc<ServerConfig>, String)>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = Arc::new(ServerState {
            protocol: protocol.with_key(KEY),
            script: Mutex::new(script),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            load: Mutex::default(),
        });
        let is_over = Arc::new(AtomicBool::new(false));
        let (config, authority) = tls.unzip();
        let (serving, over) = (state.clone(), is_over.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (state, config) = (serving.clone(), config.clone());
                // A peer that leaves is no fault of the server.
                thread::spawn(move || _ = state.connection(stream, config));
            }
        });
        let path = if protocol == Protocol::Openai {
            "/v1"
        } else {
            ""
        };
        Ok(Self {
            state,
            address,
            path,
            authority,
            is_over,
        })
    }

    /// The base URL for settings.
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}{}", self.address, self.path)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate to trust, as PEM; `None` without TLS.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.requests.lock().unpoisoned().clone()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// The most requests that were answered at once.
    pub fn load_max(&self) -> usize {
        self.state.load.lock().unpoisoned().1
    }

    /// Replaces the script.
    pub fn set_script(&self, script: Script) {
        *self.state.script.lock().unpoisoned() = script;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener; one that is gone already needs none.
        _ = TcpStream::connect(self.address);
    }
}

/// What a valid request gets.
enum Outcome {
    Json(u16, Vec<(&'static str, String)>, Value),
    /// A success, after which the connection ends without a word.
    Hangup(Value),
    Body(u16, &'static str, Vec<u8>),
    /// A stream, without its length.
    Frames(&'static str, Vec<String>),
    /// The announced length, and less.
    Short(Vec<u8>),
    Nothing,
}

impl ServerState {
    fn connection(&self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<()> {
        stream.set_read_timeout(Some(SILENT_AFTER))?;
        stream.set_nodelay(true)?;
        match tls {
            None => self.serve(stream),
            Some(config) => {
                let session = ServerConnection::new(config).map_err(io::Error::other)?;
                self.serve(StreamOwned::new(session, stream))
            }
        }
    }

    fn serve(&self, stream: impl Read + Write) -> io::Result<()> {
        self.connections.fetch_add(1, Ordering::SeqCst);
        let mut stream = BufReader::new(stream);
        while let Some(request) = RecordedRequest::read(&mut stream)? {
            self.requests.lock().unpoisoned().push(request.clone());
            {
                let mut load = self.load.lock().unpoisoned();
                load.0 += 1;
                load.1 = load.1.max(load.0);
            }
            let outcome = self.outcome(&request);
            self.load.lock().unpoisoned().0 -= 1;
            let is_last = request.header("connection") == Some("close");
            if !write_outcome(stream.get_mut(), outcome)? || is_last {
                break;
            }
        }
        Ok(())
    }

    fn refusal(&self, fault: &Fault) -> Outcome {
        let mut headers = Vec::new();
        // Google says it in the body.
        if let Some(after) = &fault.retry_after
            && self.protocol.error(fault)["error"]["details"].is_null()
        {
            headers.push(("retry-after", after.clone()));
        }
        Outcome::Json(fault.status, headers, self.protocol.error(fault))
    }

    fn outcome(&self, request: &RecordedRequest) -> Outcome {
        let asked = match self.protocol.read(request) {
            Ok(asked) => asked,
            Err(fault) => return self.refusal(&fault),
        };
        if let Some(fault) = self.ruled_out(&asked) {
            return self.refusal(&fault);
        }
        let (step, answer) = {
            let mut script = self.script.lock().unpoisoned();
            let is_empty = script.steps.is_empty();
            let step = if is_empty {
                Step::Usual
            } else {
                script.steps.remove(0)
            };
            (step, script.answer.clone())
        };
        self.take(step, &asked, &|| answer(&request.body))
    }

    /// The refusal of a rule, or of a model that is named after a status.
    fn ruled_out(&self, asked: &AskedRequest) -> Option<Fault> {
        if let Some(status) = asked.model.strip_prefix("status-") {
            let status = status.parse().unwrap_or(400);
            return Some(Fault::new(
                status,
                format!("the model {} refuses", asked.model),
            ));
        }
        let script = self.script.lock().unpoisoned();
        for rule in &script.rules {
            let fault = match (rule, &asked.call) {
                (ServerRule::NoSchema(status), AskedCall::Chat { form, .. })
                    if *form == AskedForm::Schema =>
                {
                    self.protocol.form_refusal(*status, *form)
                }
                (ServerRule::NoJson(status), AskedCall::Chat { form, .. })
                    if *form != AskedForm::Plain =>
                {
                    self.protocol.form_refusal(*status, *form)
                }
                (ServerRule::NoTemperature, _) if asked.has_temperature => Fault::new(
                    400,
                    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value \
                     is supported.",
                )
                .about("temperature"),
                (ServerRule::NoMaxTokens, _) => match asked.token_field {
                    Some(field) if field != "max_completion_tokens" => Fault::new(
                        400,
                        format!(
                            "Unsupported parameter: '{field}' is not supported with this model. Use \
                             'max_completion_tokens' instead."
                        ),
                    )
                    .about(field),
                    _ => continue,
                },
                (
                    ServerRule::NoStreamOptions,
                    AskedCall::Chat {
                        is_stream: true,
                        has_usage: true,
                        ..
                    },
                ) => Fault::new(400, "Unknown parameter: 'stream_options'.").about("stream_options"),
                (ServerRule::NoSystem, _) if asked.has_system => {
                    Fault::new(400, "System role not supported")
                }
                (
                    ServerRule::NoDimensions,
                    AskedCall::Embed {
                        dimensions: Some(_),
                        ..
                    },
                ) => Fault::new(400, "This model does not support specifying dimensions.")
                    .about("dimensions"),
                (ServerRule::BadText(bad), AskedCall::Embed { texts, .. })
                    if texts.contains(bad) =>
                {
                    Fault::new(400, "the input is too long for the context")
                }
                _ => continue,
            };
            return Some(fault);
        }
        None
    }

    fn take(&self, step: Step, asked: &AskedRequest, usual: &dyn Fn() -> String) -> Outcome {
        match step {
            Step::Refuse {
                status,
                message,
                retry_after,
            } => {
                let mut fault = Fault::new(status, message);
                fault.retry_after = retry_after;
                return self.refusal(&fault);
            }
            Step::ErrorInside(message) => {
                let body = self.protocol.error(&Fault::new(502, message));
                return Outcome::Json(200, Vec::new(), body);
            }
            Step::Redirect(to) => {
                return Outcome::Json(307, vec![("location", to)], Value::Null);
            }
            Step::Compressed => {
                let headers = vec![("content-encoding", "gzip".into())];
                return Outcome::Json(200, headers, Value::Null);
            }
            Step::CutHead => return Outcome::Nothing,
            Step::EmptyBody => return Outcome::Body(200, "application/json", Vec::new()),
            Step::Malformed => {
                return Outcome::Body(200, "application/json", b"{\"choices\": [{".to_vec());
            }
            Step::Page => {
                let page = b"<!doctype html><title>Sign in</title>".to_vec();
                return Outcome::Body(200, "text/html; charset=utf-8", page);
            }
            Step::Slow(pause) => thread::sleep(pause),
            _ => {}
        }
        match &asked.call {
            AskedCall::Embed {
                texts,
                dimensions,
                is_base64,
            } => {
                let size = dimensions.unwrap_or(DIMENSIONS);
                let body = self.embed(&step, asked, texts, size, *is_base64);
                Outcome::Json(200, Vec::new(), body)
            }
            AskedCall::Chat { is_stream, .. } => self.chat(step, asked, *is_stream, usual),
        }
    }

    fn chat(
        &self,
        step: Step,
        asked: &AskedRequest,
        is_stream: bool,
        usual: &dyn Fn() -> String,
    ) -> Outcome {
        let is_forced = matches!(step, Step::Stream(_) | Step::BrokenStream(_));
        let is_broken = matches!(step, Step::BrokenStream(_));
        let is_cut_body = step == Step::CutBody;
        let is_hangup = step == Step::Hangup;
        let (parts, finish) = match step {
            Step::Text(text) | Step::Stream(text) | Step::BrokenStream(text) => {
                (vec![text], Finish::Stop)
            }
            Step::Cut(text) => (vec![text], Finish::Length),
            Step::Parts(parts) => (parts, Finish::Stop),
            Step::EmptyText => (Vec::new(), Finish::Stop),
            Step::Huge(bytes) => (vec!["x".repeat(bytes)], Finish::Stop),
            _ => (vec![usual()], Finish::Stop),
        };
        if is_stream || is_forced {
            let pieces: Vec<String> = parts.iter().flat_map(|text| pieces(text)).collect();
            let stream = self.protocol.stream(asked, &pieces, finish);
            let mut frames = stream.frames;
            if is_broken {
                frames.truncate(frames.len() / 2);
            }
            return Outcome::Frames(stream.content_type, frames);
        }
        let body = self.protocol.whole(asked, &parts, finish);
        if is_hangup {
            return Outcome::Hangup(body);
        }
        if is_cut_body {
            return Outcome::Short(body.to_string().into_bytes());
        }
        Outcome::Json(200, Vec::new(), body)
    }

    fn embed(
        &self,
        step: &Step,
        asked: &AskedRequest,
        texts: &[String],
        size: usize,
        is_base64: bool,
    ) -> Value {
        let count = texts.len() - usize::from(*step == Step::VectorMissing);
        let size = size - usize::from(*step == Step::VectorShort);
        let vectors = texts[..count].iter().enumerate().map(|(at, text)| {
            let vector = vector(text, size);
            if at == 0 && *step == Step::VectorNotNumber {
                return json!(["NaN", 1.0]);
            }
            if is_base64 {
                let bytes: Vec<u8> = vector
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect();
                return json!(BASE64_STANDARD.encode(&bytes));
            }
            json!(vector)
        });
        self.protocol.vectors(asked, vectors.collect())
    }
}

/// Writes an answer; false if the connection ends with it.
fn write_outcome(out: &mut impl Write, outcome: Outcome) -> io::Result<bool> {
    let mut is_open = false;
    match outcome {
        Outcome::Json(status, headers, body) => {
            let body = body.to_string().into_bytes();
            write_head(out, status, "application/json", &headers, Some(body.len()))?;
            out.write_all(&body)?;
            is_open = true;
        }
        Outcome::Hangup(body) => {
            let body = body.to_string().into_bytes();
            write_head(out, 200, "application/json", &[], Some(body.len()))?;
            out.write_all(&body)?;
        }
        Outcome::Body(status, kind, body) => {
            write_head(out, status, kind, &[], Some(body.len()))?;
            out.write_all(&body)?;
            is_open = true;
        }
        Outcome::Frames(kind, frames) => {
            write_head(out, 200, kind, &[("connection", "close".into())], None)?;
            for frame in frames {
                // A piece may end anywhere, also inside a letter.
                let (front, back) = frame.as_bytes().split_at(frame.len() / 2);
                out.write_all(front)?;
                out.flush()?;
                out.write_all(back)?;
                out.flush()?;
            }
        }
        Outcome::Short(body) => {
            write_head(out, 200, "application/json", &[], Some(body.len() * 2))?;
            out.write_all(&body)?;
        }
        Outcome::Nothing => out.write_all(b"HTTP/1.1 200 OK\r\ncontent-")?,
    }
    out.flush()?;
    Ok(is_open)
}

/// Pieces of some letters each.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(5)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// A vector of length one that depends on the text alone.
fn vector(text: &str, size: usize) -> Vec<f32> {
    let mut state = 0x811c_9dc5_u32;
    let values: Vec<f32> = (0..size)
        .map(|at| {
            for byte in text.bytes().chain([u8::try_from(at % 251).unwrap_or(0)]) {
                state = (state ^ u32::from(byte)).wrapping_mul(0x0100_0193);
            }
            f32::from(u16::try_from(state >> 16).unwrap_or(0)) / 32_768.0 - 1.0
        })
        .collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter().map(|value| value / length).collect()
}

fn write_head(
    out: &mut impl Write,
    status: u16,
    kind: &str,
    headers: &[(&'static str, String)],
    length: Option<usize>,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if let Some(length) = length {
        head += &format!("content-length: {length}\r\n");
    }
    out.write_all(format!("{head}\r\n").as_bytes())
}
