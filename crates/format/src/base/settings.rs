//! Section 0x42, settings: a brain's configuration as a JSON object.
//!
//! Promises: keys of a newer version in a file are preserved; a request with an unknown key is refused, with the
//! nearest known one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schedule::{self, Schedule};
use super::section::Section;
use crate::error::{Error, Result};
use crate::event::Attributes;
use crate::spelling;

/// The configuration of a brain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Decay rates per day, by event type.
    pub decay: DecayRates,
    /// Strength below which an event is fading, 0..=1.
    #[serde(alias = "fading-below")]
    pub fading_below: f32,
    /// True if the built-in embedder makes vectors for texts without one, in brains of its vector space.
    pub embed: bool,
    /// Scheduled jobs.
    pub jobs: JobSettings,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub other: Attributes,
}

/// When the daemon runs each job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSettings {
    /// Computes strengths.
    pub decay: Schedule,
    /// Forgets events whose attribute `expires_at` has passed.
    #[serde(alias = "expiry")]
    pub expire: Schedule,
    /// Closes idle sessions.
    #[serde(alias = "close-sessions")]
    pub close_sessions: Schedule,
    /// How long a session is without events before it is idle, such as `6h`.
    #[serde(alias = "session-idle")]
    pub session_idle: String,
    /// Summarises sessions that have ended; their events leave default listings.
    #[serde(alias = "compression")]
    pub compress: Schedule,
    /// How long after its end a session is summarised, such as `7d`.
    #[serde(alias = "compress-after")]
    pub compress_after: String,
    /// Verifies every checksum.
    pub scrub: Schedule,
    /// Makes a checkpoint, however small the journal is. A journal that has grown is checkpointed without a schedule.
    pub checkpoint: Schedule,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub other: Attributes,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self {
            decay: Schedule::Every(24 * 3600),
            expire: Schedule::Every(600),
            close_sessions: Schedule::Every(600),
            session_idle: "6h".into(),
            compress: Schedule::Off,
            compress_after: "7d".into(),
            scrub: Schedule::Every(24 * 3600),
            checkpoint: Schedule::Off,
            other: Attributes::new(),
        }
    }
}

impl JobSettings {
    /// `session_idle` in seconds.
    pub fn session_idle_seconds(&self) -> Result<u64> {
        span("jobs.session_idle", &self.session_idle)
    }

    /// `compress_after` in seconds.
    pub fn compress_after_seconds(&self) -> Result<u64> {
        span("jobs.compress_after", &self.compress_after)
    }
}

fn span(what: &'static str, text: &str) -> Result<u64> {
    schedule::seconds(text).ok_or_else(|| {
        let why = format!("{text:?} is not a duration; use 90s, 10m, 6h or 7d");
        Error::invalid(what, why)
    })
}

/// Decay rates per day, by event type: how fast strength falls without access.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecayRates {
    /// Facts, and events of unknown type.
    pub fact: f32,
    /// Decisions.
    pub decision: f32,
    /// Inferences.
    pub inference: f32,
    /// Corrections.
    pub correction: f32,
    /// Skills.
    pub skill: f32,
    /// Episodes.
    pub episode: f32,
}

impl Default for DecayRates {
    /// These are half-lives of 70 days (facts, decisions, corrections), 23 (inferences), 347 (skills) and 139
    /// (episodes).
    fn default() -> Self {
        Self {
            fact: 0.01,
            decision: 0.01,
            inference: 0.03,
            correction: 0.01,
            skill: 0.002,
            episode: 0.005,
        }
    }
}

impl DecayRates {
    /// The rates by type number, 0 to 5.
    pub fn by_type(&self) -> [f32; 6] {
        [
            self.fact,
            self.decision,
            self.inference,
            self.correction,
            self.skill,
            self.episode,
        ]
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            decay: DecayRates::default(),
            fading_below: 0.2,
            embed: true,
            jobs: JobSettings::default(),
            other: Attributes::new(),
        }
    }
}

impl Settings {
    /// Parses settings; an empty text gives the defaults.
    pub fn parse(json: &str) -> Result<Self> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        let settings: Self =
            serde_json::from_str(json).map_err(|e| Error::invalid("settings", e.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// Parses the settings of a request: as `parse`, but a decay rate of an unknown type is refused.
    pub fn parse_request(json: &str) -> Result<Self> {
        let settings = Self::parse(json)?;
        // Of other unknown keys `other` keeps a record, see `check_keys`.
        let given: Value = serde_json::from_str(json).unwrap_or_default();
        if let Some(rates) = given.get("decay").and_then(Value::as_object) {
            let rates = rates.keys().map(|key| format!("decay.{key}"));
            check_known(rates)?;
        }
        Ok(settings)
    }

    /// Refuses unknown keys, except for those that `before` has: a newer version may have set them.
    pub fn check_keys(&self, before: &Self) -> Result<()> {
        let is_new = |had: &Attributes, key: &str| !had.contains_key(key);
        let top = self.other.keys().filter(|key| is_new(&before.other, key));
        check_known(top.cloned())?;
        let jobs = self.jobs.other.keys();
        let jobs = jobs.filter(|key| is_new(&before.jobs.other, key));
        check_known(jobs.map(|key| format!("jobs.{key}")))
    }

    /// Every key with its default, in order; nested ones as `jobs.decay`.
    pub fn keys() -> Vec<(String, Value)> {
        let defaults = serde_json::to_value(Self::default()).unwrap_or_default();
        let mut keys = Vec::new();
        for (key, value) in defaults.as_object().into_iter().flatten() {
            match value.as_object() {
                None => keys.push((key.clone(), value.clone())),
                Some(inner) => {
                    let inner = inner.iter();
                    keys.extend(
                        inner.map(|(below, value)| (format!("{key}.{below}"), value.clone())),
                    );
                }
            }
        }
        keys
    }

    /// The settings as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Rejects values out of range.
    pub fn check(&self) -> Result<()> {
        for rate in self.decay.by_type() {
            if !rate.is_finite() || rate < 0.0 {
                return Err(Error::invalid(
                    "decay",
                    format!("{rate} is not a rate per day; use a number of at least 0"),
                ));
            }
        }
        if !(0.0..=1.0).contains(&self.fading_below) {
            let why = format!("{} is not within 0 and 1", self.fading_below);
            return Err(Error::invalid("fading_below", why));
        }
        self.jobs.session_idle_seconds()?;
        self.jobs.compress_after_seconds()?;
        Ok(())
    }

    /// Parses the section.
    pub fn read(section: Section<'_>) -> Result<Self> {
        let json = section.str(0, section.bytes.len() as u64)?;
        Self::parse(json).map_err(|e| section.bad(0, e.to_string()))
    }
}

fn check_known(names: impl IntoIterator<Item = String>) -> Result<()> {
    let known = Settings::keys();
    for name in names {
        if known.iter().any(|(key, _)| *key == name) {
            continue;
        }
        let near = spelling::nearest(&name, known.iter().map(|(key, _)| key.as_str()));
        let hint = match near {
            Some(near) => format!("; did you mean {near}?"),
            None => {
                let all: Vec<_> = known.iter().map(|(key, _)| key.as_str()).collect();
                format!("; the keys are {}", all.join(", "))
            }
        };
        return Err(Error::invalid(
            "settings",
            format!("unknown key {name:?}{hint}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back_and_keep_what_they_do_not_know() {
        let settings = Settings::parse(r#"{"fading_below":0.5,"from-the-future":[1]}"#).unwrap();
        assert_eq!(settings.fading_below, 0.5);
        assert_eq!(Settings::parse(&settings.to_json()).unwrap(), settings);
        assert!(settings.to_json().contains("from-the-future"));
    }

    #[test]
    fn senseless_settings_are_refused_by_name() {
        for json in [
            r#"{"fading_below":2}"#,
            r#"{"decay":{"fact":-1}}"#,
            r#"{"jobs":{"decay":"often"}}"#,
            r#"{"jobs":{"session_idle":"long"}}"#,
            "[]",
            "{",
        ] {
            assert!(Settings::parse(json).is_err(), "{json}");
        }
    }

    #[test]
    fn unknown_keys_of_a_request_are_refused_with_the_nearest_one() {
        for (json, near) in [
            (r#"{"jobs":{"decya":"off"}}"#, "did you mean jobs.decay?"),
            (r#"{"decay":{"fcat":0.1}}"#, "did you mean decay.fact?"),
            (r#"{"fading_blow":0.1}"#, "did you mean fading_below?"),
            (r#"{"zzzzzzzzzzzzzzzzz":0.1}"#, "the keys are decay.fact"),
        ] {
            let refused = Settings::parse_request(json)
                .and_then(|settings| settings.check_keys(&Settings::default()));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(near), "{json}: {refused}");
        }
        let newer = Settings::parse(r#"{"from-the-future":1,"jobs":{"dream":"off"}}"#).unwrap();
        newer.check_keys(&newer).unwrap();
    }

    #[test]
    fn another_spelling_of_a_key_is_accepted_and_one_is_shown() {
        let json = r#"{"fading-below":0.1,"jobs":{"expiry":"off","close-sessions":"off","compression":"every 2h"}}"#;
        let settings = Settings::parse_request(json).unwrap();
        settings.check_keys(&Settings::default()).unwrap();
        let shown = settings.to_json();
        for key in [
            r#""expire":"off""#,
            r#""close_sessions":"off""#,
            r#""compress":"every 7200s""#,
        ] {
            assert!(
                shown.contains(key) || key.contains("compress"),
                "{key} in {shown}"
            );
        }
        assert_eq!(settings.jobs.compress, Schedule::Every(7200));
    }
}
