//! The live view of `amemctl top`.
//!
//! Promises: the terminal is restored, however the command ends. Not here: asking the daemon (`vitals`).

mod frame;

mod rates;
mod screen;

pub(crate) use frame::ScreenFrame;
pub(crate) use screen::Screen;
