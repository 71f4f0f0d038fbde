//! Section 0x42, settings: a brain's configuration as a JSON object.
//!
//! Keys of a newer version are preserved.

use serde::{Deserialize, Serialize};

use super::schedule::{self, Schedule};
use super::section::Section;
use crate::error::{Error, Result};
use crate::event::Attributes;

/// The configuration of a brain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Decay rates per day, by event type.
    pub decay: DecayRates,
    /// Strength below which an event is fading, 0..=1.
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
    pub expire: Schedule,
    /// Closes idle sessions.
    pub close_sessions: Schedule,
    /// How long a session is without events before it is idle, such as `6h`.
    pub session_idle: String,
    /// Summarises sessions that have ended; their events leave default listings.
    pub compress: Schedule,
    /// How long after its end a session is summarised, such as `7d`.
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
