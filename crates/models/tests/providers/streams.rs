//! Chat in pieces.

use std::time::Duration;

use amem_memory::model::ModelFailure;
use amem_models::{ChatStream, LanguageModel};
use amem_scripted::{Protocol, Script, ServerRule, Step};

use crate::support::{model, runtime, server, settings, user};

const TEXT: &str = "Grüße aus Gdańsk, it is fine today.";

fn pieces(stream: &mut ChatStream) -> Result<Vec<String>, ModelFailure> {
    stream.collect()
}

#[test]
fn pieces_come_as_they_are_sent_and_the_end_has_the_tokens() {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::steps([Step::Text(TEXT.into())]));
        let mut stream = model(protocol, &server).chat_stream("Be kind.", vec![user("Hi")]);
        let pieces = pieces(&mut stream).unwrap();
        assert!(pieces.len() > 4, "{protocol:?}: {pieces:?}");
        assert_eq!(pieces.concat(), TEXT, "{protocol:?}");
        let reply = stream.reply().unwrap();
        assert_eq!((reply.text.as_str(), reply.is_cut), (TEXT, false));
        assert_eq!(reply.tokens_in, 11, "{protocol:?}");
        let sent = server.requests().remove(0);
        assert!(sent.body.to_string().contains("Be kind."));
    }
}

#[test]
fn a_stream_that_fails_says_so_at_its_end() {
    for protocol in Protocol::ALL {
        for (step, has_text, expected) in [
            (
                Step::BrokenStream(TEXT.into()),
                true,
                "the stream ended before",
            ),
            (
                Step::ErrorInside("upstream".into()),
                false,
                "an error: upstream",
            ),
            (Step::Page, false, "text/html"),
            (Step::Slow(Duration::from_secs(3)), false, "within 1 s"),
            (Step::Huge(20_000), true, "longer than 50000 bytes"),
        ] {
            let server = server(protocol, Script::steps([step.clone()]));
            let mut own = settings(protocol, &server.url());
            own.call_secs = 1;
            own.answer_bytes_max = 50_000;
            let model = LanguageModel::new(own, runtime()).unwrap();
            let stream = model.chat_stream("", vec![user("Hi")]);
            let items: Vec<_> = stream.collect();
            let (last, front) = items.split_last().unwrap();
            assert!(
                format!("{last:?}").contains(expected),
                "{protocol:?} {step:?}: {last:?}"
            );
            assert_eq!(
                front.iter().any(Result::is_ok),
                has_text,
                "{protocol:?} {step:?}"
            );
        }
    }
}

#[test]
fn a_stream_cut_by_the_limit_says_so() {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::steps([Step::Cut(TEXT.into())]));
        let mut stream = model(protocol, &server).chat_stream("", vec![user("Hi")]);
        pieces(&mut stream).unwrap();
        assert!(stream.reply().unwrap().is_cut, "{protocol:?}");
    }
}

#[test]
fn refused_options_of_streams_are_dropped() {
    let script = Script::rules([ServerRule::NoStreamOptions, ServerRule::NoTemperature]);
    let server = server(Protocol::Openai, script);
    let mut stream = model(Protocol::Openai, &server).chat_stream("", vec![user("Hi")]);
    assert_eq!(
        pieces(&mut stream).unwrap().concat(),
        "Hello from the script."
    );
    assert_eq!(server.requests().len(), 3);
    assert_eq!(stream.reply().unwrap().tokens_out, 6, "estimated");
}

#[test]
fn tasks_read_a_stream_too() {
    let server = server(Protocol::Openai, Script::default());
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let on_it = amem_models::ModelRuntime::of(tokio.handle().clone());
    let own = settings(Protocol::Openai, &server.url());
    let model = LanguageModel::new(own, &on_it).unwrap();
    let text = tokio.block_on(async {
        let mut stream = model.chat_stream("", vec![user("Hi")]);
        let mut text = String::new();
        while let Some(piece) = stream.piece().await {
            text += &piece.unwrap();
        }
        text
    });
    assert_eq!(text, "Hello from the script.");
}
