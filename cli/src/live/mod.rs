//! A view that is drawn again and again: what is in it, and the screen it is on.
//!
//! Promises: however it ends, the terminal is as it was before. Not here: asking the daemon (`vitals`).

mod frame;

mod rates;
mod screen;

pub(crate) use frame::Frame;
pub(crate) use screen::Screen;
