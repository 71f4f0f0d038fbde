//! Section 0x42, settings: what this brain is told to do, as a JSON object.
//!
//! Unknown keys of a newer version are kept.

use serde::{Deserialize, Serialize};

use super::schedule::{self, Schedule};
use super::section::Section;
use crate::error::{Error, Result};
use crate::event::Attributes;

/// What a brain is told to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Decay rates per day, by event type.
    pub decay: DecayRates,
    /// Strength below which an event is fading, 0..=1.
    pub fading_below: f32,
    /// Texts without a vector are embedded by the built-in embedder, if the brain's space is its.
    pub embed: bool,
    /// What the daemon does by itself, and when.
    pub jobs: JobSettings,
    /// What this version does not know.
    #[serde(flatten)]
    pub other: Attributes,
}

/// What the daemon does by itself, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSettings {
    /// Strengths are computed.
    pub decay: Schedule,
    /// Events whose attribute `expires_at` is past are forgotten.
    pub expire: Schedule,
    /// Sessions without events for a while are closed.
    pub close_sessions: Schedule,
    /// How long: `6h`.
    pub session_idle: String,
    /// Sessions that ended a while ago are summarised: their events leave default listings.
    pub compress: Schedule,
    /// How long ago: `7d`.
    pub compress_after: String,
    /// Every byte is checked.
    pub scrub: Schedule,
    /// The journal is folded, however small it is; by itself it is folded when it has grown.
    pub checkpoint: Schedule,
    /// What this version does not know.
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
    /// How many seconds without an event make a session idle.
    pub fn session_idle_seconds(&self) -> Result<u64> {
        span("jobs.session_idle", &self.session_idle)
    }

    /// How many seconds after its end a session is summarised.
    pub fn compress_after_seconds(&self) -> Result<u64> {
        span("jobs.compress_after", &self.compress_after)
    }
}

fn span(what: &'static str, text: &str) -> Result<u64> {
    schedule::seconds(text).ok_or_else(|| {
        let why = format!("{text:?} is no span: say 90s, 10m, 6h or 7d");
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
    /// Half-lives: facts, decisions and corrections 70 days, inferences 23, skills 347, episodes 139.
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
    /// The rates by type, 0–5.
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
    /// Reads settings; an empty text is the defaults.
    pub fn parse(json: &str) -> Result<Self> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        let settings: Self =
            serde_json::from_str(json).map_err(|e| Error::invalid("settings", e.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Checks that every value makes sense.
    pub fn check(&self) -> Result<()> {
        for rate in self.decay.by_type() {
            if !rate.is_finite() || rate < 0.0 {
                return Err(Error::invalid(
                    "decay",
                    format!("{rate} is no rate per day: give a number from 0 on"),
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

    /// Reads the section.
    pub fn read(section: Section<'_>) -> Result<Self> {
        let json = section.str(0, section.bytes.len() as u64)?;
        Self::parse(json).map_err(|e| section.bad(0, e.to_string()))
    }
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
}
