//! Bytes of texts: filters, settings, attributes, configuration, tokens; and blocks of headers.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use amem_client::v1;
use amem_format::attributes;
use amem_format::base::settings::Settings;
use amem_query::filter::Filter;
use amemd::http2::Authority;
use amemd::{Config, Flags, Tokens};

use super::files::view;

fn owned(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Filters as JSON.
pub(super) fn filter_seeds() -> Vec<Vec<u8>> {
    owned(&[
        r#"{"and": [{"a.b": 3}, {"or": [{"not": {"user": "u"}}, {"type": {"in": ["fact", "decision"]}}]}]}"#,
        r#"{"field": "created_at", "op": "gte", "value": "2024-01-01T00:00:00Z"}"#,
        r#"{"confidence": {"gte": 0.1, "lt": 0.9}, "text": {"icontains": "GRÖSSE"}, "id": {"nin": [1, 2]}}"#,
        r#"{"happened_at": {"lt": 1700000000000000}, "strength": {"ne": 0.5}, "attributes.type": null}"#,
    ])
}

/// A filter: what is read can be said again, and events are held against it.
pub(super) fn filters(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(json) = serde_json::from_str(text) else {
        return;
    };
    if let Ok(filter) = Filter::parse(&json) {
        let again = Filter::parse(&filter.to_json());
        assert!(
            again.as_ref().is_ok_and(|again| *again == filter),
            "{filter:?} became {again:?}"
        );
    }
    let filter_json = text.to_owned();
    let selection = Some(v1::Selection {
        filter_json,
        ..Default::default()
    });
    let listed = v1::PatternRequest {
        selection: selection.clone(),
        ..Default::default()
    };
    let _ = amem_client::Question::ask(listed, &view());
    let found = v1::TextRequest {
        text: "river stone".into(),
        selection,
        ..Default::default()
    };
    let _ = amem_client::Question::ask(found, &view());
}

/// Settings and attributes as JSON.
pub(super) fn settings_seeds() -> Vec<Vec<u8>> {
    owned(&[
        r#"{"decay": {"fact": 0.01}, "fading_below": 0.2, "embed": false, "jobs": {"decay": "24h", "scrub": "off"}}"#,
        r#"{"jobs": {"compress": "03:00", "compress_after": "7d", "session_idle": "6h", "checkpoint": "sun 04:00"}}"#,
        r#"{"amem.origin": {"instance": "00000000-0000-0000-0000-000000000001", "event": 3}, "a": [1, {"b": null}]}"#,
    ])
}

/// Settings of a brain, and attributes of an event: what is read can be said again.
pub(super) fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(settings) = Settings::parse(text) {
        let again = Settings::parse(&settings.to_json());
        assert!(again.is_ok_and(|again| again == settings), "{settings:?}");
    }
    if let Ok(parsed) = attributes::parse(text) {
        let json = attributes::to_json(&parsed).unwrap_or_else(|e| panic!("{parsed:?}: {e}"));
        let again = attributes::parse(&json);
        assert!(again.is_ok_and(|again| again == parsed), "{json}");
    }
}

/// Files of settings of the daemon.
pub(super) fn config_seeds() -> Vec<Vec<u8>> {
    owned(&[
        "folder = \"/tmp/brains\"\nsocket = \"/tmp/s\"\n[limits]\nconnections = 9\n[log]\nfilter = \"info\"\n",
        "[tcp]\nlisten = \"127.0.0.1:7411\"\ntokens_file = \"/tmp/t\"\n[access]\nreaders = [\"*=0\"]\n",
        "[access]\nsocket_group = 0\nread = [\"user:1\"]\n[metrics]\nlisten = \"127.0.0.1:1\"\n",
    ])
}

/// Runs on a path at which the bytes stand, for their owner alone.
fn in_file(data: &[u8], run: impl FnOnce(&std::path::Path)) {
    let made = tempfile::NamedTempFile::new().and_then(|file| {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600))?;
        fs::write(file.path(), data)?;
        Ok(file)
    });
    run(made.unwrap_or_else(|e| panic!("a file: {e}")).path());
}

/// A file of settings, and flags that say one, without an environment.
pub(super) fn config(data: &[u8]) {
    let nothing = || Arc::new(|_: &str| None::<OsString>);
    in_file(data, |path| {
        let flags = Flags {
            config: Some(path.into()),
            ..Flags::default()
        };
        if let Ok(config) = Config::load(flags, nothing()) {
            config
                .again()
                .map(drop)
                .unwrap_or_else(|e| panic!("read once: {e}"));
        }
    });
    if let Ok(text) = std::str::from_utf8(data) {
        let flags = Flags {
            folder: Some("/tmp".into()),
            socket: Some("/tmp/s".into()),
            set: text.lines().map(str::to_owned).collect(),
            ..Flags::default()
        };
        let _ = Config::load(flags, nothing());
    }
}

/// Files of tokens.
pub(super) fn token_seeds() -> Vec<Vec<u8>> {
    let hash = "0".repeat(64);
    let token = format!(
        "[[token]]\nname = \"n\"\nrole = \"read\"\nbrains = [\"a\"]\ncreated = 1\nhash = \"{hash}\"\n"
    );
    vec![
        token.clone().into_bytes(),
        format!("{token}{}", token.replace("\"n\"", "\"m\"")).into_bytes(),
    ]
}

/// A file of tokens.
pub(super) fn tokens(data: &[u8]) {
    in_file(data, |path| {
        let _ = Tokens::load(path);
    });
}

/// Frames of HTTP/2.
pub(super) fn header_seeds() -> Vec<Vec<u8>> {
    let frame = |kind: u8, flags: u8, body: &[u8]| {
        let mut out = vec![
            0,
            (body.len() >> 8) as u8,
            body.len() as u8,
            kind,
            flags,
            0,
            0,
            0,
            1,
        ];
        out.extend_from_slice(body);
        out
    };
    // :method POST, :scheme http, :path and :authority as they are, one with an index, and one by it.
    let block = b"\x83\x86\x44\x05/path\x41\x08/run/sck\x40\x01a\x01b\xbe\x41\x8c\xf1\xe3\xc2\xe5\xf2:k\xa0\xab\x90\xf4\xff";
    vec![
        frame(1, 4, block),
        [frame(1, 0, &block[..9]), frame(9, 4, &block[9..])].concat(),
        [
            frame(4, 0, &[0, 3, 0, 0, 0, 9]),
            frame(1, 0x2C, &[&[2, 0, 0, 0, 0, 7][..], block, &[0, 0]].concat()),
        ]
        .concat(),
        [
            frame(1, 5, block),
            frame(0, 1, b"data"),
            frame(1, 5, b"\xbe\x3f\xe1\x1f\xbe"),
        ]
        .concat(),
    ]
}

/// What a client sends by HTTP/2: it makes no difference how the bytes arrive.
pub(super) fn headers(data: &[u8]) {
    let whole = taken(data, data.len().max(1));
    for part in [1, 3, 100] {
        let parts = taken(data, part);
        assert_eq!(parts.1, whole.1, "in parts of {part}");
        // What is wrong ends it, and how much was passed on before that is open.
        if whole.1 {
            assert_eq!(parts.0, whole.0, "in parts of {part}");
        }
    }
}

/// What the server gets, and if it was to the end.
fn taken(data: &[u8], part: usize) -> (Vec<u8>, bool) {
    let (mut authority, mut all) = (Authority::default(), Vec::new());
    for mut input in data.chunks(part) {
        while !input.is_empty() {
            let mut out = Vec::new();
            let before = input.len();
            if authority.take(&mut input, &mut out).is_err() {
                return (all, false);
            }
            assert!(input.len() < before || !out.is_empty(), "it goes on");
            all.append(&mut out);
        }
    }
    (all, true)
}

/// Answers of models, nearly JSON.
pub(super) fn reply_seeds() -> Vec<Vec<u8>> {
    owned(&[
        "```json\n[\"User likes tea\", \"User lives in Porto\"]\n```",
        "<think>hm</think>{'facts': ('User said \"no\"', `b`,, {text: 'c', turns: [0],}), // d",
        r#"{"facts": [{"text": "a \u00e9 \ud83d\ude80", "turns": ["3", 4], "kind": "plan", "because": 0}]} prose [1]"#,
    ])
}

/// An answer of a model: whatever it is, it is read.
pub(super) fn replies(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = amem_memory::read_values(&text);
}
