//! `amemctl brain show` and `brain set`: the settings of a brain.

use amem_client::v1;
use amem_format::base::settings::Settings;
use amem_format::spelling;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::{CommandContext, message_json};
use crate::render::{Align, Column};

/// Attempts to set a value while others commit.
const ATTEMPTS_MAX: u32 = 8;

/// Every setting and what it does.
const ABOUT: [(&str, &str); 16] = [
    (
        "decay.fact",
        "decay rate of facts per day; 0.01 halves strength in 70 days",
    ),
    ("decay.decision", "decay rate of decisions per day"),
    ("decay.inference", "decay rate of inferences per day"),
    ("decay.correction", "decay rate of corrections per day"),
    ("decay.skill", "decay rate of skills per day"),
    ("decay.episode", "decay rate of episodes per day"),
    (
        "fading_below",
        "strength below which an event fades, 0 to 1",
    ),
    (
        "embed",
        "whether the built-in embedder makes vectors of texts",
    ),
    ("jobs.decay", "when strengths are computed"),
    (
        "jobs.expire",
        "when events whose expires_at is past are forgotten",
    ),
    ("jobs.close_sessions", "when idle sessions are closed"),
    (
        "jobs.session_idle",
        "after this long without an event a session is idle",
    ),
    ("jobs.compress", "when ended sessions are summarised"),
    (
        "jobs.compress_after",
        "how long after its end a session is summarised",
    ),
    ("jobs.scrub", "when every byte is checked"),
    (
        "jobs.checkpoint",
        "when a new base is made, however small the journal is",
    ),
];

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl brain show work
  amemctl brain show work --json | jq .data.settings.jobs

Schedules are off, every 6h, daily 03:00 or weekly sun 03:00; spans are 90s, 10m, 6h or 7d. `amemctl jobs work` shows
when jobs ran and what they did.")]
pub(super) struct ShowArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl brain set work fading_below=0.1 decay.fact=0.005
  amemctl brain set work jobs.compress=\"daily 03:00\" jobs.compress_after=7d
  amemctl brain set work jobs.compress=            back to the default

`amemctl brain show work` lists the keys, their values and what they do. All changes of one command are one commit.")]
pub(super) struct SetArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// Keys and their new values; an empty value means the default.
    #[arg(required = true, value_name = "KEY=VALUE")]
    settings: Vec<String>,
    #[command(flatten)]
    writing: WriteArgs,
}

struct SettingRow {
    key: String,
    value: String,
    is_default: bool,
}

impl ShowArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut brain = Writable::open(cx, &self.brain)?;
        let (settings, moment) = current(cx, &self.brain)?;
        brain.named.saw(&moment);
        let defaults = defaults();
        let row = |(key, value): (String, &Value)| SettingRow {
            is_default: defaults
                .iter()
                .any(|(k, default)| *k == key && default == value),
            value: shown(value),
            key,
        };
        let rows: Vec<_> = flat(&settings).into_iter().map(row).collect();
        let data = json!({"settings": settings});
        cx.answer(Some(&brain.named), &data, |page| page.rows(&COLUMNS, &rows))?;
        Ok(Exit::Ok)
    }
}

impl SetArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let changes = self.settings.iter().map(|text| assignment(text));
        let changes: Vec<_> = changes.collect::<Result<_, _>>()?;
        let mut brain = Writable::open(cx, &self.brain)?;
        for attempt in 1.. {
            let (mut settings, moment) = current(cx, &self.brain)?;
            for (key, value) in &changes {
                put(&mut settings, key, value.clone());
            }
            let mut options = self.writing.options(cx);
            let is_guarded = options.expected_lsn.is_none() && options.request_id.is_empty();
            if is_guarded {
                // Another client may change settings between the read and the write.
                options.expected_lsn = Some(moment.lsn);
            }
            let request = v1::SetSettingsRequest {
                options: Some(options),
                settings_json: Value::Object(settings.clone()).to_string(),
                ..Default::default()
            };
            let answer = match brain.write(cx, request) {
                Ok(answer) => answer,
                Err(failure)
                    if failure.code == "condition" && is_guarded && attempt < ATTEMPTS_MAX =>
                {
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let mut data = message_json(&answer)?;
            data["settings"] = settings.into();
            cx.done(Some(&brain.named), &data, |page| {
                for (key, value) in &changes {
                    page.line(format!("{key}: {}", shown(value)));
                }
            })?;
            break;
        }
        Ok(Exit::Ok)
    }
}

fn current(
    cx: &mut CommandContext,
    brain: &BrainTarget,
) -> Result<(Map<String, Value>, v1::Moment), Failure> {
    let request = v1::GetBrainRequest {
        brain: brain.to_string(),
    };
    let remote = cx.daemon()?;
    let answer = remote.call(remote.client.brains().get_brain(request))?;
    let settings = serde_json::from_str(&answer.settings_json).map_err(|e| {
        Failure::new(
            Exit::Io,
            "answer",
            format!("the answer is invalid: its settings: {e}"),
            "check that amemctl and amemd have the same version (`amemctl status`)",
        )
    })?;
    Ok((settings, answer.moment.unwrap_or_default()))
}

/// Every key with its default.
fn defaults() -> Vec<(String, Value)> {
    let exact = |value: Value| match value.as_f64() {
        // A number of 32 bits with its own digits.
        Some(number) => crate::json::event::number(number as f32),
        None => value,
    };
    let keys = Settings::keys().into_iter();
    keys.map(|(key, value)| (key, exact(value))).collect()
}

/// The values by key, those of sections as `jobs.decay`.
fn flat(settings: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut rows = Vec::new();
    for (key, value) in settings {
        match value.as_object() {
            None => rows.push((key.clone(), value)),
            Some(section) => {
                let section = section.iter();
                rows.extend(section.map(|(below, value)| (format!("{key}.{below}"), value)));
            }
        }
    }
    rows
}

fn put(settings: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            settings.insert(key.to_owned(), value);
        }
        Some((section, below)) => {
            let section = settings
                .entry(section)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(section) = section.as_object_mut() {
                section.insert(below.to_owned(), value);
            }
        }
    }
}

/// The name under which a key is shown: the names of jobs in `amemctl jobs` and hyphens are accepted, too.
fn canonical(key: &str) -> String {
    let key = key.replace('-', "_");
    match key.as_str() {
        "jobs.expiry" => "jobs.expire".to_owned(),
        "jobs.compression" => "jobs.compress".to_owned(),
        _ => key,
    }
}

/// A key and its value, in the type of its default.
fn assignment(text: &str) -> Result<(String, Value), Failure> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(Failure::argument(
            format!("{text:?} is not a key and a value"),
            "write it as KEY=VALUE, such as fading_below=0.1",
        ));
    };
    let (key, value) = (canonical(key.trim()), value.trim());
    let known = defaults();
    let Some((_, default)) = known.iter().find(|(name, _)| *name == key) else {
        let near = spelling::nearest(&key, known.iter().map(|(name, _)| name.as_str()));
        let hint = near.map(|near| format!("; did you mean {near}?"));
        return Err(Failure::argument(
            format!("unknown key {key:?}{}", hint.unwrap_or_default()),
            "`amemctl brain show BRAIN` lists the keys",
        ));
    };
    let wrong = |what: &str| {
        Failure::argument(
            format!("{key}: {value:?} is not {what}"),
            format!("its default is {}", shown(default)),
        )
    };
    let value = match default {
        _ if value.is_empty() => default.clone(),
        Value::Bool(_) => match value {
            "true" | "yes" | "on" => Value::Bool(true),
            "false" | "no" | "off" => Value::Bool(false),
            _ => return Err(wrong("true or false")),
        },
        Value::Number(_) => {
            let number = value.parse::<f32>().ok().filter(|n| n.is_finite());
            crate::json::event::number(number.ok_or_else(|| wrong("a number"))?)
        }
        _ => Value::from(value),
    };
    Ok((key, value))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // Its neighbour of 64 bits would have twenty digits.
        Value::Number(number) => match number.as_f64() {
            Some(number) => (number as f32).to_string(),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

const COLUMNS: [Column<SettingRow>; 4] = [
    ("key", Align::Left, |row| row.key.clone()),
    ("value", Align::Left, |row| row.value.clone()),
    ("", Align::Left, |row| match row.is_default {
        true => "default".to_owned(),
        false => String::new(),
    }),
    ("what it is", Align::Left, |row| {
        let about = ABOUT.iter().find(|(key, _)| *key == row.key);
        let about = about.map_or("unknown to this version", |(_, about)| about);
        about.to_owned()
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_brain_is_explained() {
        let mut known: Vec<_> = Settings::keys().into_iter().map(|(key, _)| key).collect();
        let mut told = ABOUT.map(|(key, _)| key).to_vec();
        known.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, known);
    }

    #[test]
    fn values_have_the_type_of_the_default() {
        let of = |text: &str| assignment(text).map_err(|failure| failure.message);
        let is = |key: &str, value: Value| Ok((key.to_owned(), value));
        assert_eq!(of("embed=off"), is("embed", false.into()));
        assert_eq!(of("jobs.expiry=off"), is("jobs.expire", "off".into()));
        assert_eq!(
            of("jobs.close-sessions=every 1h"),
            is("jobs.close_sessions", "every 1h".into())
        );
        assert_eq!(of("jobs.compress="), is("jobs.compress", "off".into()));
        assert_eq!(shown(&of("fading_below=0.1").unwrap().1), "0.1");
        for (wrong, told) in [
            ("jobs.decya=off", "did you mean jobs.decay?"),
            ("fading_below=x", "is not a number"),
            ("embed=7", "is not true or false"),
            ("embed", "is not a key and a value"),
        ] {
            let refused = of(wrong).unwrap_err();
            assert!(refused.contains(told), "{wrong}: {refused}");
        }
    }
}
