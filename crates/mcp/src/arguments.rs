//! The arguments of a tool, read strictly: what is unknown, missing or of another type is refused in words that a model
//! can act on.

use amem_format::Micros;
use amem_query::time_phrase::{Clock, parse_phrase};
use serde_json::{Map, Value};

/// A refusal in words.
pub(crate) type Words<T> = Result<T, String>;

pub(crate) struct Arguments<'a> {
    tool: &'a str,
    values: Map<String, Value>,
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> Arguments<'a> {
    /// The arguments of a call; `schema` is the tool's.
    pub(crate) fn new(
        tool: &'a str,
        schema: &Map<String, Value>,
        values: Option<Map<String, Value>>,
    ) -> Words<Self> {
        let mut values = values.unwrap_or_default();
        // Some clients send null for what is left out.
        values.retain(|_, value| !value.is_null());
        let known = schema.get("properties").and_then(Value::as_object);
        let known = || known.into_iter().flatten().map(|(name, _)| name.as_str());
        if let Some(unknown) = values
            .keys()
            .find(|name| !known().any(|known| known == *name))
        {
            let names = known().collect::<Vec<_>>().join(", ");
            let has = match names.as_str() {
                "" => "it has none".to_owned(),
                names => format!("it has {names}"),
            };
            return Err(format!("{tool} has no parameter {unknown:?}: {has}"));
        }
        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.find(|name| !values.contains_key(*name)) {
            return Err(format!("{tool} needs {missing:?}"));
        }
        Ok(Self { tool, values })
    }

    fn wrong<T>(&self, name: &str, needs: &str, found: &Value) -> Words<T> {
        let tool = self.tool;
        Err(format!(
            "{name:?} of {tool} is {needs}, not {}",
            kind_of(found)
        ))
    }

    /// A text that is not blank.
    pub(crate) fn text(&mut self, name: &str) -> Words<Option<String>> {
        match self.values.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|t| !t.is_empty())),
            Some(other) => self.wrong(name, "a text", &other),
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&mut self, name: &str) -> Words<String> {
        let tool = self.tool;
        self.text(name)?
            .ok_or_else(|| format!("{name:?} of {tool} is empty"))
    }

    pub(crate) fn texts(&mut self, name: &str) -> Words<Vec<String>> {
        match self.values.remove(name) {
            None => Ok(Vec::new()),
            // A model that gives one gives it without a list, now and then.
            Some(Value::String(one)) => Ok(vec![one]),
            Some(Value::Array(items)) => {
                let one = |item: Value| match item {
                    Value::String(text) => Ok(text),
                    Value::Number(number) => Ok(number.to_string()),
                    other => self.wrong(name, "a list of texts", &other),
                };
                items.into_iter().map(one).collect()
            }
            Some(other) => self.wrong(name, "a list of texts", &other),
        }
    }

    pub(crate) fn is_true(&mut self, name: &str) -> Words<bool> {
        match self.values.remove(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => self.wrong(name, "true or false", &other),
        }
    }

    /// A whole number within bounds.
    pub(crate) fn number(&mut self, name: &str, least: u64, most: u64) -> Words<Option<u64>> {
        let number = match self.values.remove(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_u64().or_else(|| {
                let whole = number
                    .as_f64()
                    .filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n));
                whole.map(|n| n as u64)
            }),
            Some(other) => return self.wrong(name, "a number", &other),
        };
        let is_within = |number: &u64| (least..=most).contains(number);
        number.filter(is_within).map(Some).ok_or_else(|| {
            format!(
                "{name:?} of {} is a whole number from {least} to {most}",
                self.tool
            )
        })
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Words<Option<T>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let found = choices.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            format!(
                "{name:?} of {} is one of {}, not {text:?}",
                self.tool,
                words.join(", ")
            )
        })
    }

    /// A time in any form that people write.
    pub(crate) fn time(&mut self, name: &str, clock: &Clock) -> Words<Option<Micros>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let time =
            parse_phrase(&text, clock).map_err(|e| format!("{name:?} of {}: {e}", self.tool))?;
        Ok(Some(time.at))
    }

    /// A list of objects, or one object.
    pub(crate) fn objects(&mut self, name: &str) -> Words<Vec<Map<String, Value>>> {
        match self.values.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Object(object)) => Ok(vec![object]),
            Some(Value::Array(items)) => {
                let one = |item: Value| match item {
                    Value::Object(object) => Ok(object),
                    other => self.wrong(name, "a list of objects", &other),
                };
                items.into_iter().map(one).collect()
            }
            Some(other) => self.wrong(name, "a list of objects", &other),
        }
    }
}
