//! The options of a request: those of its query and of its body as one.
//!
//! Promises: an option that is given twice with different values is refused, unless it may be a list; what a handler
//! does not take is ignored and named in the answer. Options in camelCase, as clients for JavaScript send them, mean
//! the same.

use amem_format::Micros;
use amem_memory::{SCOPE_FIELDS, time_from_json};
use amem_proto::answer::{Code, timestamp};
use amem_proto::{Timestamp, v1};
use hyper::Uri;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::limits::HTTP_QUERY_OPTIONS_MAX;
use crate::refusal::{Refusal, Result};

/// Characters of a day, as 2026-03-01.
const DAY_CHARS: usize = 10;
/// Microseconds of a day.
const DAY_MICROS: i64 = 86_400_000_000;

/// The options that were not taken yet.
#[derive(Debug, Default)]
pub(super) struct Options(Map<String, Value>);

impl Options {
    /// The options of a query and of a body; both may have the same if the values are equal.
    pub(super) fn new(uri: &Uri, body: Map<String, Value>) -> Result<Self> {
        let mut options = Self::default();
        for (name, value) in body {
            options.add(name, value)?;
        }
        let mut texts = Map::new();
        for (name, text) in query(uri)? {
            let text = Value::String(text);
            match texts.get_mut(&name) {
                Some(before) if *before == text => {}
                // A list, for the options that may be one.
                Some(Value::Array(list)) => list.push(text),
                Some(before) => *before = Value::Array(vec![before.take(), text]),
                None => _ = texts.insert(name, text),
            }
        }
        for (name, value) in texts {
            options.add(name, value)?;
        }
        Ok(options)
    }

    /// `null` is the value of an option that is not set; it is added, so that it is not named as ignored.
    fn add(&mut self, name: String, value: Value) -> Result<()> {
        let name = snake_case(name);
        match self.0.get(&name) {
            Some(before) if !before.is_null() && !value.is_null() && !is_same(before, &value) => {
                let why = "it is there twice, with different values: send it once";
                return Err(Refusal::invalid(&name, why));
            }
            Some(before) if !before.is_null() => {}
            _ => {
                self.0.insert(name, value);
            }
        }
        Ok(())
    }

    /// Takes an option of any kind.
    pub(super) fn any(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::invalid(name, "it must be one text")),
        }
    }

    /// Takes names: a list, or a text with commas. Empty if it is not there.
    pub(super) fn names(&mut self, name: &str) -> Result<Vec<String>> {
        let wrong = || Refusal::invalid(name, "it must be a list of texts");
        let split = |text: &str| text.split(',').map(|one| one.trim().to_owned()).collect();
        match self.any(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(split(&text)),
            Some(Value::Array(list)) => {
                let text = |one: Value| one.as_str().map(str::to_owned).ok_or_else(wrong);
                list.into_iter().map(text).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Takes the first of these texts that is there.
    pub(super) fn text_of(&mut self, names: &[&str]) -> Result<Option<String>> {
        let mut found = None;
        for name in names {
            let text = self.text(name)?;
            found = found.or(text);
        }
        Ok(found)
    }

    /// Takes a number; a query has it as text.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<f64>> {
        let number = match self.any(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        let number = number.filter(|number| number.is_finite());
        number
            .map(Some)
            .ok_or_else(|| Refusal::invalid(name, "it must be a number"))
    }

    /// Takes a count from 1 on.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u32>> {
        let Some(number) = self.number(name)? else {
            return Ok(None);
        };
        let is_count = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
        if !is_count {
            return Err(Refusal::invalid(
                name,
                "it must be a whole number from 1 on",
            ));
        }
        Ok(Some(number as u32))
    }

    /// Takes the first of these counts that is there.
    pub(super) fn count_of(&mut self, names: &[&str]) -> Result<Option<u32>> {
        let mut found = None;
        for name in names {
            let count = self.count(name)?;
            found = found.or(count);
        }
        Ok(found)
    }

    /// Takes a switch.
    pub(super) fn switch(&mut self, name: &str) -> Result<Option<bool>> {
        match self.any(name) {
            None => Ok(None),
            Some(Value::Bool(switch)) => Ok(Some(switch)),
            Some(Value::String(text)) if text == "true" || text == "false" => {
                Ok(Some(text == "true"))
            }
            Some(_) => Err(Refusal::invalid(name, "it must be true or false")),
        }
    }

    /// Takes a time: seconds since 1970, or a text.
    pub(super) fn time(&mut self, name: &str) -> Result<Option<Timestamp>> {
        Ok(self.micros(name)?.map(timestamp))
    }

    fn micros(&mut self, name: &str) -> Result<Option<Micros>> {
        let time = self.any(name).map(|value| match value {
            Value::String(text) => match text.parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => Value::String(text),
            },
            value => value,
        });
        let time = time.map(|time| time_from_json(&time, name)).transpose()?;
        Ok(time)
    }

    /// Takes an object, as text in JSON; empty if it is not there.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Value>> {
        match self.any(name) {
            None => Ok(None),
            Some(object @ Value::Object(_)) => Ok(Some(object)),
            Some(_) => Err(Refusal::invalid(name, "it must be an object")),
        }
    }

    /// Takes the fields of a scope.
    pub(super) fn scope(&mut self) -> Result<Option<v1::Scope>> {
        let mut fields = Vec::new();
        for field in SCOPE_FIELDS {
            fields.push(self.text(field)?);
        }
        let [user, agent, app, run] =
            <[_; 4]>::try_from(fields).map_err(|_| Refusal::internal("a scope has four fields"))?;
        let scope = v1::Scope {
            user,
            agent,
            run,
            app,
        };
        Ok((scope != v1::Scope::default()).then_some(scope))
    }

    /// Takes `filters`, as text in JSON; empty for none.
    pub(super) fn filters(&mut self) -> Result<String> {
        let filters = match self.any("filters") {
            // A query has them as text.
            Some(Value::String(text)) => {
                let (filters, _) = super::json::object(text.as_bytes())?;
                Some(Value::Object(filters))
            }
            filters => filters,
        };
        Ok(filters.map_or(String::new(), |filters| filters.to_string()))
    }

    /// Takes `filters`, with the times, words and categories by which mem0's clients select, as text in JSON; empty
    /// for none.
    pub(super) fn selection(&mut self) -> Result<String> {
        let own = self.filters()?;
        let mut all = Vec::new();
        if !own.is_empty() {
            let (own, _) = super::json::object(own.as_bytes())?;
            all.push(Value::Object(own));
        }
        for (name, operator) in [("start_date", "gte"), ("end_date", "lte")] {
            // A day as an end has all its hours.
            let is_day = self
                .0
                .get(name)
                .and_then(Value::as_str)
                .is_some_and(|text| text.len() == DAY_CHARS && text.contains('-'));
            if let Some(at) = self.micros(name)? {
                let at = match operator == "lte" && is_day {
                    true => Micros(at.0 + DAY_MICROS - 1),
                    false => at,
                };
                let text = amem_query::time::display(at).to_string();
                all.push(serde_json::json!({"created_at": {operator: text}}));
            }
        }
        for word in self.names("keywords")? {
            if word.is_empty() {
                let why = "a word is empty: use the words that the memories must have";
                return Err(Refusal::invalid("keywords", why));
            }
            all.push(serde_json::json!({"memory": {"icontains": word}}));
        }
        let categories = self.names("categories")?;
        if !categories.is_empty() {
            all.push(serde_json::json!({"categories": {"in": categories}}));
        }
        Ok(match all.len() {
            0 => String::new(),
            1 => all.remove(0).to_string(),
            _ => serde_json::json!({"AND": all}).to_string(),
        })
    }

    /// Takes the time at which messages were said, under any of its names.
    pub(super) fn said_at(&mut self) -> Result<Option<Timestamp>> {
        let mut said: Option<(&str, Timestamp)> = None;
        for name in ["timestamp", "observation_date", "observation_datetime"] {
            let Some(time) = self.time(name)? else {
                continue;
            };
            match said {
                Some((before, known)) if known != time => {
                    let why = format!("it is another time than {before}: send one of them");
                    return Err(Refusal::invalid(name, why));
                }
                Some(_) => {}
                None => said = Some((name, time)),
            }
        }
        Ok(said.map(|(_, time)| time))
    }

    /// Takes every option that is left, those without a value left out.
    pub(super) fn take_all(&mut self) -> Map<String, Value> {
        let options = std::mem::take(&mut self.0);
        options
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect()
    }

    /// An error if an option was not taken that would change an answer or a date: the answer without it is another one
    /// than the caller asked for.
    pub(super) fn check_left(&self) -> Result<()> {
        for (name, value) in &self.0 {
            let known = NEVER_IGNORED.iter().find(|known| known.name == name);
            if let Some(known) = known.filter(|_| !has_no_effect(value)) {
                return Err(Refusal::invalid(name, known.instead));
            }
        }
        Ok(())
    }

    /// True if an option is there and was not taken.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The name of an option that was not taken.
    pub(super) fn first_name(&self) -> Option<&str> {
        self.0.keys().next().map(String::as_str)
    }

    /// The names of the options that nothing took.
    pub(super) fn into_names(self) -> Vec<String> {
        let names = self.0.into_iter().filter(|(name, value)| {
            let is_known = NEVER_IGNORED.iter().any(|known| known.name == name);
            !(is_known && has_no_effect(value))
        });
        names.map(|(name, _)| name).collect()
    }
}

/// An option of mem0's clients that is refused where it is not obeyed.
struct RefusedOption {
    name: &'static str,
    /// What to do.
    instead: &'static str,
}

const fn refused(name: &'static str, instead: &'static str) -> RefusedOption {
    RefusedOption { name, instead }
}

/// Options that change an answer, what is stored, or a date. Others that no handler takes are ignored and named in the
/// answer (docs/http.md, "Options").
const NEVER_IGNORED: &[RefusedOption] = &[
    refused(
        "start_date",
        "this route has no time range: use it with lists and searches, or list first and delete by id",
    ),
    refused(
        "end_date",
        "this route has no time range: use it with lists and searches, or list first and delete by id",
    ),
    refused(
        "keywords",
        "this route does not select by words: use it with lists and searches, or send filters",
    ),
    refused(
        "categories",
        "only lists and searches select by it: amemd gives memories no categories, so put your own into metadata",
    ),
    refused(
        "custom_categories",
        "amemd gives memories no categories: put them into metadata",
    ),
    refused(
        "show_expired",
        "memories that have expired are not listed: use false, or ask with `at` for an earlier time",
    ),
    refused(
        "immutable",
        "amemd keeps no memory from being changed: use false, or leave it out",
    ),
    refused(
        "timezone",
        "times are read in UTC: use UTC, or send times with their offset, as 2026-03-01T09:00:00+01:00",
    ),
    refused(
        "observation_date",
        "only an add takes it: it says when the messages were said",
    ),
    refused(
        "observation_datetime",
        "only an add takes it: it says when the messages were said",
    ),
    refused(
        "timestamp",
        "only an add takes it: a search or a list as of another time has `at`",
    ),
    refused(
        "reference_date",
        "use `at` for the memories that held at a time",
    ),
    refused(
        "expiration_date",
        "only an add sets when memories end: delete the memory, or add it again",
    ),
    refused(
        "includes",
        "amemd does not select facts by a description: say it in prompt",
    ),
    refused(
        "excludes",
        "amemd does not select facts by a description: say it in prompt",
    ),
    refused(
        "custom_instructions",
        "use prompt for your own instructions",
    ),
    refused(
        "only_metadata_based_search",
        "use a list with filters for memories by metadata alone",
    ),
];

/// True for a value that asks for what happens anyway.
fn has_no_effect(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => ["", "false", "UTC"].contains(&text.as_str()),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// A text of a query and another value of a body are the same if they are written so.
fn is_same(a: &Value, b: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    a == b || text(a) == text(b)
}

/// `userId` as `user_id`. Names with other letters than those of both spellings stay as they are.
fn snake_case(name: String) -> String {
    let is_camel = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.contains(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_camel {
        return name;
    }
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The options of a query, decoded.
pub(super) fn query(uri: &Uri) -> Result<Vec<(String, String)>> {
    let refused = |why: String| Refusal::new(Code::InvalidArgument, "QUERY", why);
    let pairs = uri.query().unwrap_or_default().split('&');
    let pairs: Vec<_> = pairs.filter(|pair| !pair.is_empty()).collect();
    if pairs.len() > HTTP_QUERY_OPTIONS_MAX {
        return Err(refused(format!(
            "the query has more than {HTTP_QUERY_OPTIONS_MAX} options, the limit"
        )));
    }
    let decoded = |text: &str| -> Result<String> {
        let text = text.replace('+', " ");
        let text = percent_decode_str(&text).decode_utf8();
        let text = text.map_err(|_| refused("the query is not UTF-8".into()))?;
        Ok(text.into_owned())
    };
    let pair = |pair: &str| -> Result<(String, String)> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    };
    pairs.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn options(uri: &str, body: Value) -> Result<Options> {
        let Value::Object(body) = body else {
            panic!("an object");
        };
        Options::new(&uri.parse().unwrap(), body)
    }

    #[test]
    fn query_and_body_are_one_and_what_is_not_taken_is_named() {
        let body = json!({"userId": "ada", "topK": 3, "x": null, "infer": false, "rerank": true});
        let mut options =
            options("/a?user_id=ada&threshold=0.5&q=a+b%C3%BC&org_id=1", body).unwrap();
        let scope = options.scope().unwrap().unwrap();
        assert_eq!((scope.user.as_deref(), scope.agent), (Some("ada"), None));
        assert_eq!(options.count_of(&["limit", "top_k"]), Ok(Some(3)));
        assert_eq!(options.number("threshold"), Ok(Some(0.5)));
        assert_eq!(options.text_of(&["query", "q"]), Ok(Some("a bü".into())));
        assert_eq!(options.switch("infer"), Ok(Some(false)));
        assert_eq!(options.into_names(), ["x", "rerank", "org_id"]);
    }

    #[test]
    fn options_of_another_kind_are_refused_by_name() {
        for (uri, body) in [("/a?x=1", json!({"x": 2})), ("/a?%FF=1", json!({}))] {
            assert!(options(uri, body).is_err(), "{uri}");
        }
        let mut lists = options("/a?x=1&x=2&y=1&y=1&z=a,b", json!({})).unwrap();
        assert_eq!(lists.text("y"), Ok(Some("1".into())));
        assert_eq!(lists.names("z"), Ok(vec!["a".into(), "b".into()]));
        assert!(lists.text("x").unwrap_err().message.contains("one text"));
        let mut all = options("/a?c=0&d=1.5", json!({"a": 1, "b": "x", "e": "yes"})).unwrap();
        assert!(all.text("a").unwrap_err().message.starts_with("a:"));
        assert!(all.number("b").unwrap_err().message.starts_with("b:"));
        assert!(all.count("c").is_err() && all.count("d").is_err() && all.switch("e").is_err());
    }

    #[test]
    fn what_changes_an_answer_is_obeyed_or_refused_and_the_rest_is_named() {
        for known in NEVER_IGNORED {
            let body = json!({(known.name): "x"});
            let refusal = options("/a", body).unwrap().check_left().unwrap_err();
            assert!(refusal.message.starts_with(known.name), "{}", known.name);
            for none in [json!(null), json!(false), json!(""), json!([])] {
                let left = options("/a", json!({(known.name): none})).unwrap();
                assert_eq!(left.check_left(), Ok(()), "{}", known.name);
                assert!(left.into_names().is_empty(), "{}", known.name);
            }
        }
        let left = options("/a", json!({"rerank": true, "timezone": "UTC"})).unwrap();
        assert_eq!(left.check_left(), Ok(()));
        assert_eq!(left.into_names(), ["rerank"]);
    }

    #[test]
    fn times_words_and_categories_are_filters() {
        let body = json!({
            "start_date": "2026-03-01", "end_date": "2026-03-02", "keywords": ["tea"],
            "categories": ["food"], "filters": {"user_id": "ada"},
        });
        let mut given = options("/a", body).unwrap();
        let selection: Value = serde_json::from_str(&given.selection().unwrap()).unwrap();
        let all = selection["AND"].as_array().unwrap();
        assert_eq!(all.len(), 5);
        assert_eq!(all[0], json!({"user_id": "ada"}));
        let from = all[1]["created_at"]["gte"].as_str().unwrap();
        assert!(from.starts_with("2026-03-01T00:00:00"), "{from}");
        let to = all[2]["created_at"]["lte"].as_str().unwrap();
        assert!(to.starts_with("2026-03-02T23:59:59"), "{to}");
        assert_eq!(all[3], json!({"memory": {"icontains": "tea"}}));
        assert_eq!(all[4], json!({"categories": {"in": ["food"]}}));
        assert!(given.into_names().is_empty());
        let mut wrong = options("/a?start_date=tomorrow", json!({})).unwrap();
        assert!(wrong.selection().is_err());
    }

    #[test]
    fn the_time_of_messages_has_three_names_and_one_value() {
        for name in ["timestamp", "observation_date", "observation_datetime"] {
            let mut given = options("/a", json!({(name): "2026-03-01"})).unwrap();
            assert!(given.said_at().unwrap().is_some(), "{name}");
        }
        let body = json!({"timestamp": 1_700_000_000, "observation_date": "2026-03-01"});
        let refusal = options("/a", body).unwrap().said_at().unwrap_err();
        assert!(
            refusal.message.contains("another time"),
            "{}",
            refusal.message
        );
    }

    #[test]
    fn names_in_both_spellings_are_one() {
        for (name, snake) in [
            ("userId", "user_id"),
            ("user_id", "user_id"),
            ("topK", "top_k"),
            ("X", "X"),
            ("my-Key", "my-Key"),
        ] {
            assert_eq!(snake_case(name.into()), snake);
        }
    }
}
