//! `amemctl dump-journal`: every commit since the last checkpoint, operation by operation.

use amem_format::base::commits::StoredFrame;
use amem_format::journal::field::FieldValue;
use amem_format::journal::frame::Header;
use amem_format::journal::op::{Op, Ops};
use amem_format::view::View;
use amem_interop::Layout;
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{Time, flag_names, number};
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, float, printable};
use crate::when::exact as time;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl dump-journal work                      a brain of amemd
  amemctl dump-journal work.amem
  amemctl dump-journal work.amem --since 100 --limit 20
  amemctl dump-journal --json work.amem          one line of JSON for each frame
  amemctl dump-journal work.amem --kept          with earlier frames that the base holds")]
pub(crate) struct DumpJournalArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// Only commits after this LSN.
    #[arg(long, value_name = "LSN")]
    since: Option<u64>,
    /// At most this many frames.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also frames of earlier journals that the base holds.
    #[arg(long)]
    kept: bool,
}

#[derive(Serialize)]
struct FrameLine<'a> {
    lsn: u64,
    kind: &'static str,
    time: Time,
    principal: &'a str,
    agent: &'a str,
    more: bool,
    /// The position of the payload; `None` for frames in the base.
    position: Option<u64>,
    bytes: usize,
    ops: Vec<Value>,
}

impl DumpJournalArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let source = opened.into_file("the journal")?;
        if source.layout != Layout::Native {
            return Err(Failure::refused(
                "no_journal",
                format!("a {} file has no journal", source.named.layout),
                "only brains of amemd have one: convert it with `amemctl import`",
            ));
        }
        let mut left = self.limit.unwrap_or(usize::MAX);
        let view = &source.view;
        if self.kept {
            let commits = view.brain().base().commits()?;
            for at in 0..commits.len() {
                let StoredFrame { header, payload } = commits.at(at)?;
                self.frame(cx, view, &header, None, &payload, &mut left)?;
            }
        }
        let brain = view.brain();
        for at in 0..view.delta_commits() {
            let Some(entry) = brain.delta().log.get(at) else {
                break;
            };
            for frame in brain.frames_at(entry.position, entry.end)? {
                let position = Some(frame.payload_position);
                self.frame(cx, view, &frame.header, position, frame.payload, &mut left)?;
            }
        }
        if !cx.is_json() {
            let mut page = cx.page();
            if view.delta_commits() == 0 {
                page.aside("the journal is empty: nothing was committed since the last checkpoint");
            }
            source.write_notes(&mut page);
            cx.text(&page)?;
        }
        Ok(Exit::Ok)
    }

    fn frame(
        &self,
        cx: &mut CommandContext,
        view: &View,
        header: &Header,
        position: Option<u64>,
        payload: &[u8],
        left: &mut usize,
    ) -> Result<(), Failure> {
        if self.since.is_some_and(|since| header.lsn.0 <= since) || *left == 0 {
            return Ok(());
        }
        *left -= 1;
        let actor = view.actor(header.actor)?;
        let ops = Ops::new(payload, position.unwrap_or(0));
        if cx.is_json() {
            let ops: Result<Vec<_>, _> = ops.map(|op| op.map(|op| op_json(&op))).collect();
            return cx.line(&FrameLine {
                lsn: header.lsn.0,
                kind: header.kind.name(),
                time: Time(header.time),
                principal: actor.principal,
                agent: actor.agent,
                more: header.more,
                position,
                bytes: payload.len(),
                ops: ops?,
            });
        }
        let mut page = cx.page();
        let who = match (actor.principal, actor.agent) {
            ("", "") => "unknown".to_owned(),
            (principal, agent) => printable(&format!("{principal} {agent}")),
        };
        let more = if header.more { "  (continues)" } else { "" };
        page.title(format!(
            "LSN {}  {}  {}  {}  {}{more}",
            header.lsn,
            header.kind.name(),
            time(header.time),
            who.trim(),
            bytes(payload.len() as u64),
        ));
        for op in ops {
            write(&op?, &mut page);
        }
        cx.text(&page)
    }
}

fn op_json(op: &Op<'_>) -> Value {
    let mut object = Map::new();
    object.insert("op".into(), op.name().into());
    op.walk(&mut |name, value| {
        let (name, value) = field_json(name, value);
        object.insert(name.into(), value);
    });
    Value::Object(object)
}

/// A field's key and value. Vectors are shown by their length, imported events by their flags.
fn field_json<'n>(name: &'n str, value: FieldValue<'_>) -> (&'n str, Value) {
    let json = match value {
        FieldValue::Event(id) => json!(id),
        FieldValue::EventType(event_type) => json!(event_type),
        FieldValue::EdgeType(edge_type) => json!(edge_type),
        FieldValue::Session(session) => json!(session),
        FieldValue::Actor(actor) => json!(actor),
        FieldValue::Time(time) => json!(time.map(Time)),
        FieldValue::Number(value) => number(value),
        FieldValue::Rates(rates) => json!(rates.map(number)),
        FieldValue::Flags(flags) => json!(flag_names(flags)),
        FieldValue::Fields(fields) => json!(fields.names()),
        FieldValue::Text(text) => json!(text),
        FieldValue::Json(json) => parsed(json),
        FieldValue::Touches(touches) => touches
            .iter()
            .map(|(id, times)| json!({"target": id, "times": times}))
            .collect(),
        FieldValue::Uuid(id) => json!(id),
        FieldValue::Hash(hash) => json!(format!("{hash:032x}")),
        FieldValue::Bytes(bytes) => json!(String::from_utf8_lossy(bytes)),
        FieldValue::Vector(vector) => return ("numbers", json!(vector.len() / 4)),
        FieldValue::ImportedState(carried) => {
            let flags = carried.map(|carried| flag_names(carried.flags));
            return ("flags", json!(flags));
        }
    };
    (name, json)
}

/// JSON text as a value; as a string if it is not JSON; null if it is empty.
fn parsed(json: &str) -> Value {
    match json {
        "" => Value::Null,
        json => serde_json::from_str(json).unwrap_or_else(|_| Value::from(json)),
    }
}

fn write(op: &Op<'_>, page: &mut TextPage) {
    let line = match op {
        Op::Event(node) => format!(
            "event {} {} session {} confidence {}{}: {}",
            node.id,
            node.event_type,
            node.session,
            float(node.confidence),
            if node.vector.is_empty() {
                ""
            } else {
                " with vector"
            },
            node.text
        ),
        Op::Link {
            source,
            target,
            edge_type,
            weight,
            ..
        } => format!(
            "link {source} {edge_type} {target} weight {}",
            float(*weight)
        ),
        Op::Unlink {
            source,
            target,
            edge_type,
        } => format!("unlink {source} {edge_type} {target}"),
        Op::Belief {
            target,
            confidence,
            flags,
            lambda,
        } => format!(
            "belief {target} confidence {} rate {} flags [{}]",
            float(*confidence),
            float(*lambda),
            flag_names(*flags).join(", ")
        ),
        Op::Touch { entries, .. } => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(id, n)| format!("{id} × {n}"))
                .collect();
            format!("touch {}", entries.join(", "))
        }
        Op::Request { id, answer, .. } => {
            format!("request {id} answered with {} bytes", answer.len())
        }
        other => {
            let mut fields = op_json(other);
            if let Value::Object(fields) = &mut fields {
                fields.shift_remove("op");
            }
            format!("{} {fields}", other.name())
        }
    };
    page.line(format!("  {}", printable(&line)));
}
