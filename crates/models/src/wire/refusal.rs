//! An answer that is no success: what the server says, and what can be done.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::HeaderMap;
use jiff::fmt::rfc2822;
use serde_json::Value;

use amem_memory::model::ModelFailure;

use super::parameter::Parameter;
use crate::limits::{MESSAGE_CHARS_MAX, RETRY_AFTER_MAX};

/// Words of errors about the form of an answer, in lower case.
const FORM_WORDS: [&str; 14] = [
    "response_format",
    "json_schema",
    "json_object",
    "schema",
    "grammar",
    "tool",
    "output_config",
    "responsemimetype",
    "response_mime_type",
    "json mode",
    "format",
    // Groq: the model did not keep to the schema.
    "json_validate_failed",
    "structured output",
    "guided",
];

/// Words of errors about the prompt: it is too long, or a filter stops it. Another time it would fare no better.
const PROMPT_WORDS: [&str; 8] = [
    "context_length_exceeded",
    "context length",
    "prompt is too long",
    "exceeds the available context size",
    "input token count",
    "content_filter",
    "content_policy",
    "content management policy",
];

/// A refusal; its message has no key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerRefusal {
    pub(crate) status: u16,
    /// Shortened.
    message: String,
    /// Message, field and code in lower case.
    words: String,
    retry_after: Option<Duration>,
}

impl ServerRefusal {
    /// Reads a refusal; `masked` takes secrets out of a text.
    pub(crate) fn read(
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
        masked: &dyn Fn(&str) -> String,
    ) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        // Some servers send a list of one.
        let value = value.get(0).unwrap_or(&value);
        let (message, fields) = match value {
            Value::Null => (plain_message(headers, body), String::new()),
            value => (message_of(value), fields_of(value)),
        };
        let message = masked(&message);
        Self {
            status,
            words: format!("{message} {}", masked(&fields)).to_lowercase(),
            message: shortened(&message),
            retry_after: retry_after(headers, value).map(|pause| pause.min(RETRY_AFTER_MAX)),
        }
    }

    /// The sent parameter that the server does not take.
    pub(crate) fn parameter(&self, sent: &[Parameter]) -> Option<Parameter> {
        let is_about_it = matches!(self.status, 400 | 422 | 500);
        is_about_it.then(|| Parameter::named_in(&self.words, sent))?
    }

    /// True if one text of a batch may be the cause.
    pub(crate) fn is_about_content(&self) -> bool {
        matches!(self.status, 400 | 413 | 422 | 500) && !self.is_about_key()
    }

    /// True if this prompt is refused, and others are not: patterns do what they can.
    pub(crate) fn is_about_prompt(&self) -> bool {
        let is_named = PROMPT_WORDS.iter().any(|word| self.words.contains(word));
        self.status == 413 || (matches!(self.status, 400 | 422 | 500) && is_named)
    }

    /// Google refuses a wrong key with 400.
    pub(crate) fn is_about_key(&self) -> bool {
        let is_named =
            self.words.contains("api key not valid") || self.words.contains("api_key_invalid");
        matches!(self.status, 401 | 403) || (self.status == 400 && is_named)
    }

    fn is_about_form(&self) -> bool {
        let is_named = FORM_WORDS.iter().any(|word| self.words.contains(word));
        matches!(self.status, 400 | 422 | 500) && is_named
    }

    /// The status and the server's words.
    pub(crate) fn text(&self) -> String {
        if self.message.is_empty() {
            return format!("the server answered {}", self.status);
        }
        format!("the server answered {}: {}", self.status, self.message)
    }

    /// The failure of the port; `has_form` if JSON was asked for.
    pub(crate) fn failure(&self, has_form: bool) -> ModelFailure {
        let text = self.text();
        match self.status {
            429 if self.words.contains("insufficient_quota") => ModelFailure::Budget(text),
            429 => ModelFailure::RateLimit(self.retry_after),
            _ if has_form
                && self.is_about_form()
                && !self.is_about_key()
                && !self.is_about_prompt() =>
            {
                ModelFailure::FormRefused(text)
            }
            // A page to sign in to a network; the address of the server may be right.
            302 | 303 | 307 => {
                ModelFailure::Unreachable(format!("{text} (redirects are not followed)"))
            }
            300..=399 => {
                ModelFailure::Refused(format!("{text} (redirects are not followed; see base_url)"))
            }
            404 | 405 => ModelFailure::Refused(format!("{text} (see base_url and model)")),
            408 | 425 | 500.. => ModelFailure::Unreachable(text),
            _ => ModelFailure::Refused(text),
        }
    }
}

/// The words of an error in one of the usual shapes.
fn message_of(value: &Value) -> String {
    let error = &value["error"];
    let text = [
        &error["message"],
        error,
        &value["message"],
        &value["detail"],
        &value["msg"],
    ];
    if let Some(text) = text.iter().find_map(|value| value.as_str()) {
        return text.to_owned();
    }
    // FastAPI: a list of places and messages.
    let list = value["detail"].as_array().into_iter().flatten();
    let parts: Vec<String> = list
        .map(|one| {
            let places = one["loc"].as_array().into_iter().flatten();
            let places: Vec<&str> = places.filter_map(Value::as_str).collect();
            format!(
                "{}: {}",
                places.join("."),
                one["msg"].as_str().unwrap_or("")
            )
        })
        .collect();
    parts.join("; ")
}

/// Field, code and type of an error, and what a relay says of the server behind it.
fn fields_of(value: &Value) -> String {
    let error = &value["error"];
    let inner = &error["metadata"]["raw"];
    let reason = &error["details"][0]["reason"];
    let fields = [
        &error["param"],
        &error["code"],
        &error["type"],
        &error["status"],
        inner,
        reason,
    ];
    let fields: Vec<&str> = fields.iter().filter_map(|field| field.as_str()).collect();
    fields.join(" ")
}

/// A body that is no JSON: a line of text, or the fact that it is a page.
fn plain_message(headers: &HeaderMap, body: &[u8]) -> String {
    let kind = headers
        .get("content-type")
        .and_then(|value| value.to_str().ok());
    let text = String::from_utf8_lossy(body);
    if kind.is_some_and(|kind| kind.starts_with("text/html")) || text.trim_start().starts_with('<')
    {
        return "a page of HTML".into();
    }
    text.into_owned()
}

/// The first words, in one line.
pub(crate) fn shortened(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MESSAGE_CHARS_MAX {
        return line;
    }
    let front: String = line.chars().take(MESSAGE_CHARS_MAX).collect();
    format!("{front}…")
}

/// Milliseconds, seconds, a date, or Google's delay in the body.
fn retry_after(headers: &HeaderMap, value: &Value) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let of_seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
    if let Some(millis) = header("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    if let Some(text) = header("retry-after") {
        return of_seconds(text).or_else(|| {
            let until = http_date(text)?;
            // By the clock of the server, if it shows it.
            let now = header("date").and_then(http_date).or_else(|| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
                i64::try_from(now.as_secs()).ok()
            })?;
            let seconds = until.saturating_sub(now).max(0);
            Some(Duration::from_secs(u64::try_from(seconds).ok()?))
        });
    }
    let details = value["error"]["details"].as_array().into_iter().flatten();
    let mut delays = details.filter_map(|one| one["retryDelay"].as_str()?.strip_suffix('s'));
    delays.next().and_then(of_seconds)
}

fn http_date(text: &str) -> Option<i64> {
    let time = rfc2822::parse(text).ok()?;
    Some(time.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(status: u16, headers: &[(&'static str, &str)], body: &str) -> ServerRefusal {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        ServerRefusal::read(status, &map, body.as_bytes(), &|text| {
            text.replace("s3cret", "[key]")
        })
    }

    #[test]
    fn a_refusal_is_classified_by_status_and_words() {
        let named = json!({"error": {"message": "no", "param": "response_format"}}).to_string();
        let fast =
            json!({"detail": [{"loc": ["body", "response_format"], "msg": "extra"}]}).to_string();
        let llama =
            json!({"error": {"code": 500, "message": "failed to parse grammar"}}).to_string();
        let quota =
            json!({"error": {"message": "no money", "code": "insufficient_quota"}}).to_string();
        let google =
            json!([{"error": {"code": 400, "message": "API key not valid. Tool"}}]).to_string();
        for (status, body, has_form, expected) in [
            (400, named.as_str(), true, "FormRefused"),
            (400, named.as_str(), false, "Refused"),
            (422, fast.as_str(), true, "FormRefused"),
            (500, llama.as_str(), true, "FormRefused"),
            (500, llama.as_str(), false, "Unreachable"),
            (502, llama.as_str(), true, "Unreachable"),
            (400, google.as_str(), true, "Refused"),
            (401, "", true, "Refused"),
            (403, "", true, "Refused"),
            (404, "", true, "Refused"),
            (413, "", true, "Refused"),
            (408, "", true, "Unreachable"),
            (529, "", true, "Unreachable"),
            (307, "", true, "Unreachable"),
            (301, "", true, "Refused"),
            (429, "", true, "RateLimit(None)"),
            (429, quota.as_str(), true, "Budget"),
        ] {
            let failure = format!("{:?}", read(status, &[], body).failure(has_form));
            assert!(failure.starts_with(expected), "{status} {body}: {failure}");
        }
    }

    #[test]
    fn messages_are_short_lines_without_keys() {
        let long =
            json!({"error": {"message": format!("key s3cret\n {}", "x".repeat(999))}}).to_string();
        let text = read(401, &[], &long).text();
        assert!(
            text.starts_with("the server answered 401: key [key] xxx"),
            "{text}"
        );
        assert!(text.chars().count() < MESSAGE_CHARS_MAX + 40 && text.ends_with('…'));
        let page = read(502, &[("content-type", "text/html")], "<html>s3cret");
        assert_eq!(page.text(), "the server answered 502: a page of HTML");
        assert_eq!(read(503, &[], "").text(), "the server answered 503");
        assert_eq!(
            read(500, &[], "oops s3cret").text(),
            "the server answered 500: oops [key]"
        );
    }

    #[test]
    fn the_pause_is_read_from_seconds_dates_and_bodies() {
        let google =
            json!({"error": {"details": [{"@type": "x"}, {"retryDelay": "1.5s"}]}}).to_string();
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        type PauseCase<'c> = (&'c [(&'static str, &'c str)], &'c str, Option<u64>);
        let cases: [PauseCase<'_>; 8] = [
            (&[("retry-after", "7")], "", Some(7000)),
            (&[("retry-after", "0.25")], "", Some(250)),
            (
                &[("retry-after-ms", "40"), ("retry-after", "7")],
                "",
                Some(40),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2026 07:28:09 GMT"), date],
                "",
                Some(9000),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"), date],
                "",
                Some(0),
            ),
            (&[("retry-after", "soon")], "", None),
            (&[("retry-after", "-5")], "", None),
            (&[], google.as_str(), Some(1500)),
        ];
        for (headers, body, expected) in cases {
            let wanted = ModelFailure::RateLimit(expected.map(Duration::from_millis));
            assert_eq!(
                read(429, headers, body).failure(true),
                wanted,
                "{headers:?}"
            );
        }
        let far = read(429, &[("retry-after", "99999999")], "").failure(true);
        assert_eq!(far, ModelFailure::RateLimit(Some(RETRY_AFTER_MAX)));
    }
}
