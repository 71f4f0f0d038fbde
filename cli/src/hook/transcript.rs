//! What was said in a session: from the client's transcript, or as the client sends it along.

use std::env;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use amem_client::v1;
use amem_format::Micros;
use amem_hooks::limits::{ANSWER_CHARS_MAX, SAID_CHARS_MAX};
use amem_hooks::{HookInput, HookMoment};
use amem_host::files::{FileKind, open_file};
use amem_host::trust::OthersMay;
use amem_sources::{
    ItemType, ReadOptions, SecretPolicy, SkippedEntry, SourceItem, SourceKind, SourceSink, TurnRole,
};

use super::request::HookResult;
use crate::when::{self, timestamp};

/// Everything that was said so far, in its order.
pub(super) fn turns(input: &HookInput) -> HookResult<Vec<v1::HookTurn>> {
    if !input.messages.is_empty() {
        let of = |message: &amem_hooks::HookMessage| {
            let time = message.time.map(Micros);
            turn(message.id.clone(), message.is_agents, &message.text, time)
        };
        return Ok(input.messages.iter().map(of).collect());
    }
    if input.moment == HookMoment::Prompt {
        // Without an id: the same words are said again at another time.
        let id = input.turn.clone().unwrap_or_default();
        return Ok(vec![turn(id, false, &input.prompt, Some(now()))]);
    }
    let kind = input.client.agent().transcript_kind();
    let kind = kind.and_then(SourceKind::named);
    let (Some(path), Some(kind)) = (&input.transcript, kind) else {
        return Ok(Vec::new());
    };
    let file = open_transcript(path)?;
    let options = ReadOptions {
        zone: when::time_zone(),
        home: env::var_os("HOME").map(PathBuf::from),
        secrets: SecretPolicy::Mask,
        ..ReadOptions::default()
    };
    let mut said = SaidTurns(Vec::new());
    // A line that is being written is skipped, and read at the next moment.
    let read = amem_sources::read_opened((file, path), kind, &options, &mut said);
    read.map_err(|e| e.to_string())?;
    Ok(said.0)
}

/// The client's input names the path: it must be a file of this user, and no pipe, device or folder.
fn open_transcript(path: &Path) -> HookResult<File> {
    let opened = open_file(path, FileKind::Settings(OthersMay::Write));
    match opened.map_err(|fault| format!("the transcript is not read: {fault}"))? {
        Some((file, _)) => Ok(file),
        None => Err(format!("there is no transcript {}", path.display())),
    }
}

fn now() -> Micros {
    Micros(jiff::Timestamp::now().as_microsecond())
}

/// A turn, cut where the daemon would cut it.
fn turn(id: String, is_agents: bool, text: &str, time: Option<Micros>) -> v1::HookTurn {
    let (role, chars) = match is_agents {
        true => (v1::FactRole::Assistant, ANSWER_CHARS_MAX),
        false => (v1::FactRole::User, SAID_CHARS_MAX),
    };
    v1::HookTurn {
        id,
        role: role.into(),
        text: text.chars().take(chars).collect(),
        time: time.map(timestamp),
    }
}

struct SaidTurns(Vec<v1::HookTurn>);

impl SourceSink for SaidTurns {
    fn item(&mut self, item: SourceItem) -> ControlFlow<()> {
        let is_agents = match &item.role {
            Some(TurnRole::User) => false,
            Some(TurnRole::Assistant) => true,
            _ => return ControlFlow::Continue(()),
        };
        if item.item_type == ItemType::Turn {
            let time = item.time.map(|time| Micros(time.0));
            self.0
                .push(turn(item.id.to_string(), is_agents, &item.text, time));
        }
        ControlFlow::Continue(())
    }

    fn skip(&mut self, _entry: SkippedEntry) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
