//! Event ids as they are typed: a number, as `ask` shows it (`e12`), or `last`.

use std::str::FromStr;

use amem_client::v1;

use crate::brain::opened::BrainHandle;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventId {
    Number(u64),
    /// The newest event that is not forgotten.
    Last,
}

impl FromStr for EventId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "last" {
            return Ok(Self::Last);
        }
        // Some people and tools write #12; `ask` and recall show [e12].
        let shown = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .unwrap_or(text);
        let digits = shown.strip_prefix(['#', 'e']).unwrap_or(shown);
        let number = digits.parse().ok().filter(|_| !digits.starts_with('+'));
        number
            .map(Self::Number)
            .ok_or_else(|| "an event is named by its number, or as \"last\"".to_owned())
    }
}

impl EventId {
    pub(crate) fn number(
        self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
    ) -> Result<u64, Failure> {
        self.number_at(cx, opened, None)
    }

    pub(crate) fn number_at(
        self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        as_of: Option<v1::AsOf>,
    ) -> Result<u64, Failure> {
        if let Self::Number(number) = self {
            return Ok(number);
        }
        let newest = v1::PatternRequest {
            order: v1::Order::Newest.into(),
            page_size: 1,
            as_of,
            selection: Some(v1::Selection {
                include_compressed: true,
                ..Default::default()
            }),
            ..Default::default()
        };
        let events = opened.ask(cx, newest)?.events;
        events.first().map(|event| event.id).ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                "unknown_event",
                "there is no last event: the brain has none",
                "`amemctl add BRAIN TEXT` adds one",
            )
        })
    }

    pub(crate) fn numbers(
        ids: &[Self],
        cx: &mut CommandContext,
        opened: &BrainHandle,
        as_of: Option<v1::AsOf>,
    ) -> Result<Vec<u64>, Failure> {
        let number = |id: &Self| id.number_at(cx, opened, as_of);
        ids.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_or_last() {
        assert_eq!("12".parse(), Ok(EventId::Number(12)));
        for shown in ["#12", "e12", "[e12]"] {
            assert_eq!(shown.parse(), Ok(EventId::Number(12)), "{shown}");
        }
        assert_eq!("last".parse(), Ok(EventId::Last));
        for bad in ["", "-1", "+1", "x", "1.5", "##1", "e", "e+1", "[12", "ee1"] {
            assert!(bad.parse::<EventId>().is_err(), "{bad}");
        }
    }
}
