//! Which events: filters that listings and searches share, and the moment to ask about.

use amem_client::v1;
use amem_format::Micros;
use amem_format::types::EventType;

use amem_format::view::AsOf;
use clap::Args;

use crate::brain::opened::BrainHandle;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::TimeAxis;
use crate::output::context::CommandContext;
use crate::types::{event_type_number, parse_event_type};
use crate::when::{as_of, now, parse_moment, parse_time, resolve_filter, timestamp, zone_name};

#[derive(Debug, Args)]
pub(crate) struct MomentArgs {
    /// As of a moment: an LSN, or a time such as "2 days ago".
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// Include forgotten events.
    #[arg(long, visible_alias = "forgotten")]
    pub(crate) include_forgotten: bool,
}

impl MomentArgs {
    pub(crate) fn as_of(&self) -> Option<v1::AsOf> {
        as_of(self.as_of)
    }

    pub(crate) fn moment(&self) -> Option<AsOf> {
        self.as_of
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which events")]
pub(crate) struct TypeArgs {
    /// Only events of this type (fact, decision, inference, correction, skill, episode); may be repeated.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_event_type)]
    types: Vec<EventType>,
    /// Only events of this session, by number or key (key:7 for a key of digits); may be repeated.
    #[arg(long = "session", value_name = "SESSION")]
    sessions: Vec<String>,
}

impl TypeArgs {
    pub(crate) fn types(&self) -> Vec<i32> {
        self.types.iter().map(|t| event_type_number(*t)).collect()
    }

    pub(crate) fn session_ids(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
    ) -> Result<Vec<u32>, Failure> {
        let names = self.sessions.iter();
        names.map(|name| session_id(cx, opened, name)).collect()
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which events")]
pub(crate) struct ScopeArgs {
    /// Only events of this user.
    #[arg(long, value_name = "USER", hide_short_help = true)]
    scope_user: Option<String>,
    /// Only events of this agent.
    #[arg(long, value_name = "AGENT", hide_short_help = true)]
    scope_agent: Option<String>,
    /// Only events of this run.
    #[arg(long, value_name = "RUN", hide_short_help = true)]
    scope_run: Option<String>,
    /// Only events of this app.
    #[arg(long, value_name = "APP", hide_short_help = true)]
    scope_app: Option<String>,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Option<v1::Scope> {
        let scope = v1::Scope {
            user: self.scope_user.clone(),
            agent: self.scope_agent.clone(),
            run: self.scope_run.clone(),
            app: self.scope_app.clone(),
        };
        (scope != v1::Scope::default()).then_some(scope)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which events")]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    kinds: TypeArgs,
    /// Only events at or after this time.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Micros>,
    /// Only events before this time.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Micros>,
    /// Only events whose text contains all these words, in any spelling and, of English, in any inflection.
    #[arg(long, value_name = "WORDS")]
    keyword: Option<String>,
    /// Only events that match a filter, as JSON: '{"speaker":"Ada"}', '{"event_time":{"gte":"last Tuesday"}}'.
    #[arg(long = "where", value_name = "JSON")]
    condition: Option<String>,
    /// Only events of at least this strength.
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    min_strength: Option<f32>,
    /// Only events of at least this confidence.
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    min_confidence: Option<f32>,
    /// Only events recorded by this user: a name, a number, or a principal such as uid:1000; may be repeated. With
    /// --agent NAME, only those that this agent recorded.
    #[arg(long, value_name = "USER", value_parser = crate::authors::parse_principal)]
    by: Vec<String>,
    #[command(flatten)]
    scoped: ScopeArgs,
    /// Include events that an episode summarises.
    #[arg(long, visible_alias = "compressed")]
    include_compressed: bool,
}

impl SelectionArgs {
    /// `by` is the time that --since and --until filter.
    pub(crate) fn selection(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        looking: &MomentArgs,
        by: TimeAxis,
    ) -> Result<v1::Selection, Failure> {
        let is_windowed = self.since.is_some() || self.until.is_some();
        let window = is_windowed.then(|| v1::Window {
            from: self.since.map(timestamp),
            until: self.until.map(timestamp),
        });
        let (recorded, happened) = match by {
            TimeAxis::Recorded => (window, None),
            TimeAxis::Happened => (None, window),
        };
        let at_least = |min: Option<f32>| {
            min.map(|min| v1::Bounds {
                min: Some(min),
                max: None,
            })
        };
        Ok(v1::Selection {
            types: self.kinds.types(),
            session_ids: self.kinds.session_ids(cx, opened)?,
            recorded,
            happened,
            confidence: at_least(self.min_confidence),
            strength: at_least(self.min_strength),
            keyword: self.keyword.clone().unwrap_or_default(),
            filter_json: self
                .condition
                .as_deref()
                .map_or_else(String::new, resolve_filter),
            scope: self.scoped.scope(),
            include_forgotten: looking.include_forgotten,
            include_compressed: self.include_compressed,
            by: self.by.clone(),
            agents: cx.reach().agent_on_line.clone().into_iter().collect(),
            // Times that a question names are those of who asks.
            now: Some(timestamp(now())),
            zone: zone_name(),
            ..Default::default()
        })
    }
}

/// A session as typed: its number, or its key; `key:7` is the key "7".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionName<'n> {
    Number(u32),
    Key(&'n str),
}

impl<'n> SessionName<'n> {
    pub(crate) fn of(text: &'n str) -> Self {
        if let Some(key) = text.strip_prefix("key:") {
            return Self::Key(key);
        }
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_number => Self::Number(number),
            _ => Self::Key(text),
        }
    }
}

pub(crate) fn session_id(
    cx: &mut CommandContext,
    opened: &BrainHandle,
    name: &str,
) -> Result<u32, Failure> {
    match SessionName::of(name) {
        SessionName::Number(number) => Ok(number),
        SessionName::Key(_) => Ok(session(cx, opened, name)?.id),
    }
}

pub(crate) fn session(
    cx: &mut CommandContext,
    opened: &BrainHandle,
    name: &str,
) -> Result<v1::Session, Failure> {
    use v1::get_session_request::Session;
    let session = match SessionName::of(name) {
        SessionName::Number(number) => Session::SessionId(number),
        SessionName::Key(key) => Session::Key(key.to_owned()),
    };
    let request = v1::GetSessionRequest {
        session: Some(session),
        ..Default::default()
    };
    let found = opened.ask(cx, request)?.session;
    found.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            "unknown_session",
            format!("there is no session {name:?}"),
            "`amemctl sessions list BRAIN` lists sessions",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_unless_a_key_is_said() {
        let rows = [
            ("7", SessionName::Number(7)),
            ("key:7", SessionName::Key("7")),
            ("+7", SessionName::Key("+7")),
            ("standup", SessionName::Key("standup")),
            ("key:key:7", SessionName::Key("key:7")),
            ("99999999999", SessionName::Key("99999999999")),
            ("", SessionName::Key("")),
        ];
        for (text, expected) in rows {
            assert_eq!(SessionName::of(text), expected, "{text}");
        }
    }
}
