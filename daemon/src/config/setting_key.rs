//! One row of the table of settings.

/// A setting.
#[derive(Debug)]
pub(crate) struct SettingKey {
    /// Section, dot, name.
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
    /// True if a reload applies it; false if it needs a restart.
    pub(crate) live: bool,
}
