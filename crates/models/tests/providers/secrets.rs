//! Keys appear in one header and nowhere else.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use amem_memory::model::ReplyForm;
use amem_memory::store::Embedder;
use amem_models::{LanguageModel, TextEmbedder, probe};
use amem_scripted::{KEY, Protocol, Script, Step};

use crate::support::{call, runtime, server, settings, user};

/// Everything that is logged.
#[derive(Clone, Default)]
struct LogSink(Arc<Mutex<Vec<u8>>>);

impl Write for LogSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Every failure that a server can cause, with the key in its words where it has words.
fn accidents() -> Vec<Step> {
    let statuses = [
        301, 307, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529,
    ];
    let refuse = |status| Step::Refuse {
        status,
        message: format!("Incorrect API key provided: {KEY}. extra-header-s3cret"),
        retry_after: None,
    };
    let mut steps: Vec<Step> = statuses.into_iter().map(refuse).collect();
    steps.extend([
        Step::ErrorInside(format!("key {KEY} and extra-header-s3cret")),
        Step::Redirect(format!("http://127.0.0.1:9/?key={KEY}")),
        Step::CutBody,
        Step::CutHead,
        Step::EmptyBody,
        Step::Malformed,
        Step::Page,
        Step::Usual,
    ]);
    steps
}

#[test]
fn keys_are_in_no_error_log_dump_or_url() {
    let sink = LogSink::default();
    let writer = sink.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // For every thread: calls run on one of their own.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let mut shown = String::new();
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::default());
        let mut own = settings(protocol, &server.url());
        own.headers
            .insert("x-gateway".into(), "extra-header-s3cret".into());
        shown += &format!("{own:?}");
        let model = LanguageModel::new(own.clone(), runtime()).unwrap();
        for step in accidents() {
            server.set_script(Script::steps([step.clone(), step.clone(), step]));
            shown += &format!("{:?}", call(&model, ReplyForm::Schema));
            let streamed: Vec<_> = model.chat_stream("", vec![user("Hi")]).collect();
            shown += &format!("{streamed:?} {:?} {:?}", model.check(), model.usage());
        }
        shown += &format!("{model:?} {:?} {:?}", model.begin(), probe(&model.begin()));
        if protocol != Protocol::Anthropic {
            let embedder = TextEmbedder::new(own, runtime()).unwrap();
            for step in accidents() {
                server.set_script(Script::steps([step]));
                shown += &format!("{:?}", embedder.embed(&["a"]));
            }
            shown += &format!("{embedder:?} {:?} {}", embedder.check(), embedder.space());
        }
        for sent in server.requests() {
            assert!(!sent.target.contains(KEY), "{}", sent.target);
            assert!(!sent.body.to_string().contains(KEY));
            let with_key = sent.headers.iter().filter(|(_, value)| value.contains(KEY));
            assert_eq!(with_key.count(), 1, "{:?}", sent.headers);
            assert_eq!(sent.header("x-gateway"), Some("extra-header-s3cret"));
        }
    }
    let logs = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    assert!(logs.contains("call"), "nothing was logged");
    for (name, text) in [("shown", &shown), ("logged", &logs)] {
        for secret in [KEY, "extra-header-s3cret"] {
            let at = text.find(secret);
            let near = at.map(|at| &text[at.saturating_sub(200)..at]);
            assert!(at.is_none(), "{name}: {near:?}");
        }
    }
}
