//! The live view of `amemctl top`.
//!
//! Promises: the terminal is restored, however the command ends. Not here: asking the daemon (`vitals`).

mod frame;

mod keys;
mod rates;
mod screen;
mod view_state;

pub(crate) use frame::{ROWS, ScreenFrame};
pub(crate) use keys::ScreenKey;
pub(crate) use screen::Screen;
pub(crate) use view_state::ViewState;
