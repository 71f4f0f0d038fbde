//! Conditions of a request by the state of what it is about: `If-Match`, `If-None-Match`, `Last-Event-ID`.
//!
//! The tag of a brain is its instance and LSN, which every answer of its calls names: `"INSTANCE.LSN"`. Counters of the
//! daemon about a brain do not change it. The tag of a memory is the hash of its text and when its version was stored.
//!
//! Promises: a condition that a request cannot have is refused, so that none is ignored in silence.

use amem_proto::answer::Code;
use amem_proto::v1;
use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use uuid::Uuid;

use super::output::Output;
use crate::refusal::{Refusal, Result};

/// Where a stream of events is to go on.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The detail of a refusal because of `If-Match`, with its value: the status is 412 then.
pub(super) const CONDITION: &str = "if_match";

/// The conditions of a request.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    if_match: Option<String>,
    if_none_match: Option<String>,
    pub(super) last_event: Option<String>,
}

impl Conditions {
    /// Those of a head. Each header may be there several times, as a list.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self> {
        let text = |name: &HeaderName| -> Result<Option<String>> {
            let mut texts = Vec::new();
            for value in headers.get_all(name) {
                let text = value.to_str();
                let text =
                    text.map_err(|_| Refusal::invalid(name.as_str(), "it must be text in ASCII"))?;
                texts.push(text);
            }
            Ok((!texts.is_empty()).then(|| texts.join(",")))
        };
        Ok(Self {
            if_match: text(&IF_MATCH)?,
            if_none_match: text(&IF_NONE_MATCH)?,
            last_event: text(&LAST_EVENT)?,
        })
    }

    /// Refuses `If-Match`: what the request is about has no such condition.
    pub(super) fn check_unmatched(&self, instead: &str) -> Result<()> {
        match &self.if_match {
            None => Ok(()),
            Some(_) => Err(Refusal::invalid("if-match", instead)),
        }
    }

    /// The state of the brain that `If-Match` requires: instance and LSN. Any state if it is `*`.
    pub(super) fn required(&self) -> Result<Option<(Uuid, u64)>> {
        let Some(text) = self.if_match.as_deref().filter(|text| *text != "*") else {
            return Ok(None);
        };
        let tag = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let state = tag.and_then(|tag| {
            let (instance, lsn) = tag.rsplit_once('.')?;
            Some((Uuid::try_parse(instance).ok()?, lsn.parse().ok()?))
        });
        state.map(Some).ok_or_else(|| {
            let why = "it must be the tag of the brain, as the header etag of GET /v1/brains/{brain} has it: \
                       \"INSTANCE.LSN\", one of them";
            Refusal::invalid("if-match", why)
        })
    }

    /// A refusal of a change, with the condition that did not hold if `If-Match` set it.
    pub(super) fn explained(&self, refusal: Refusal) -> Refusal {
        match &self.if_match {
            Some(text) if refusal.reason == "CONDITION" => refusal.with(CONDITION, text),
            _ => refusal,
        }
    }

    /// The refusal of a request whose `If-Match` names another instance of the brain.
    pub(super) fn foreign(&self) -> Refusal {
        let message = "if-match: the brain of this name is another one by now: read it again";
        let refusal = Refusal::new(Code::Aborted, "CONDITION", message);
        refusal.with(CONDITION, self.if_match.as_deref().unwrap_or_default())
    }

    /// The answer with a tag; without its body if the caller has it already.
    pub(super) fn tagged(&self, output: Output, tag: &str) -> Output {
        let Ok(value) = HeaderValue::from_str(tag) else {
            return output;
        };
        let mut output = match self.is_known(tag) {
            true => Output::empty(StatusCode::NOT_MODIFIED),
            false => output,
        };
        output.headers.insert(ETAG, value);
        output
    }

    /// True if `If-None-Match` names the tag.
    fn is_known(&self, tag: &str) -> bool {
        let known = self.if_none_match.as_deref().unwrap_or_default();
        known.split(',').map(str::trim).any(|one| {
            let one = one.strip_prefix("W/").unwrap_or(one);
            one == tag || one == "*"
        })
    }
}

/// The tag of a brain at a moment.
pub(super) fn brain_tag(moment: &v1::Moment) -> String {
    format!("\"{}.{}\"", moment.instance, moment.lsn)
}

/// The tag of a version of a memory.
pub(super) fn memory_tag(fact: &v1::Fact) -> String {
    let at = fact.updated_at.unwrap_or_default();
    format!("\"{}.{}.{}\"", fact.hash, at.seconds, at.nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(pairs: &[(HeaderName, &'static str)]) -> Conditions {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_static(value));
        }
        Conditions::of(&headers).unwrap()
    }

    #[test]
    fn a_tag_that_the_caller_has_is_answered_without_a_body() {
        let tag = "\"a.1\"";
        let whole = || Output::text(StatusCode::OK, "text/plain", "x".into());
        for (known, has) in [
            ("\"a.1\"", true),
            ("W/\"a.1\"", true),
            ("\"b.1\", \"a.1\"", true),
            ("*", true),
            ("\"a.2\"", false),
            ("a.1", false),
        ] {
            let output = conditions(&[(IF_NONE_MATCH, known)]).tagged(whole(), tag);
            assert_eq!(output.headers[ETAG], tag);
            assert_eq!(output.status == StatusCode::NOT_MODIFIED, has, "{known}");
        }
        let two = conditions(&[(IF_NONE_MATCH, "\"b\""), (IF_NONE_MATCH, "\"a.1\"")]);
        assert_eq!(two.tagged(whole(), tag).status, StatusCode::NOT_MODIFIED);
        assert_eq!(conditions(&[]).tagged(whole(), tag).status, StatusCode::OK);
    }

    #[test]
    fn a_required_state_is_one_tag_of_a_brain() {
        let moment = v1::Moment {
            instance: Uuid::from_u128(7).to_string(),
            lsn: 42,
            ..v1::Moment::default()
        };
        let required = |value: &'static str| conditions(&[(IF_MATCH, value)]).required();
        assert_eq!(
            brain_tag(&moment),
            "\"00000000-0000-0000-0000-000000000007.42\""
        );
        let state = required("\"00000000-0000-0000-0000-000000000007.42\"").unwrap();
        assert_eq!(state, Some((Uuid::from_u128(7), 42)));
        assert_eq!(required("*").unwrap(), None);
        assert_eq!(conditions(&[]).required().unwrap(), None);
        for bad in [
            "42",
            "\"42\"",
            "W/\"00000000-0000-0000-0000-000000000007.42\"",
            "\"00000000-0000-0000-0000-000000000007.42\", \"x\"",
            "\"00000000-0000-0000-0000-000000000007.-1\"",
            "",
        ] {
            assert!(required(bad).is_err(), "{bad}");
        }
    }
}
