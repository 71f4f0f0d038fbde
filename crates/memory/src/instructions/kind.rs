//! When a standing instruction holds.

/// When a standing sentence holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandingKind {
    /// For every answer: "always reply in German".
    Every,
    /// If its condition is met: "include versions when I ask about libraries".
    Conditional,
    /// A preference, which holds for what it is about.
    Preference,
}
