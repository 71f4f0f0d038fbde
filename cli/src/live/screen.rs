//! The alternate screen of the terminal, and its keys.
//!
//! Keys are read one by one, without echo. Signals that end a program are handled, so that the terminal is restored
//! first.

use std::io::{self, IsTerminal, Read, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use super::keys::{self, ScreenKey};
use crate::render::{Style, TextPage};

/// Alternate screen, hidden cursor, no line wrap, cleared.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// Line wrap, cursor, main screen.
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";
/// If the terminal does not report its height.
const LINES: usize = 24;

/// Dropping it restores the terminal.
pub(crate) struct Screen {
    /// The previous settings of stdin; `None` if it is not a terminal.
    before: Option<Termios>,
    ended: Arc<AtomicBool>,
    /// Rows and columns when it was drawn last.
    drawn: Option<(u16, u16)>,
    _signals: Runtime,
}

impl Screen {
    pub(crate) fn enter() -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let signals = wait_for_signals(&ended)?;
        let before = if stdin().is_terminal() {
            Some(keys_one_by_one()?)
        } else {
            None
        };
        // From here on, dropping it restores the terminal.
        let screen = Self {
            before,
            ended,
            drawn: None,
            _signals: signals,
        };
        stdout().write_all(ENTER)?;
        stdout().flush()?;
        Ok(screen)
    }

    /// The keys that were pressed; waits for about `wait`.
    pub(crate) fn keys(&mut self, wait: Duration) -> Vec<ScreenKey> {
        let mut keys = [0; 64];
        let typed = match self.before {
            // The read returns after a tenth of a second.
            Some(_) => stdin().read(&mut keys).unwrap_or(0),
            None => {
                std::thread::sleep(wait);
                0
            }
        };
        let mut keys = keys::parse(&keys[..typed]);
        if self.ended.load(Ordering::Relaxed) {
            keys.push(ScreenKey::Quit);
        }
        keys
    }

    /// True if the terminal has another size than when it was drawn.
    pub(crate) fn is_resized(&self) -> bool {
        self.drawn.is_some_and(|drawn| size() != Some(drawn))
    }

    /// As wide as the terminal is now.
    pub(crate) fn page(&self, is_quiet: bool) -> TextPage {
        TextPage::new(Style::of(true).quiet(is_quiet))
    }

    /// As many lines as fit.
    pub(crate) fn show(&mut self, page: &TextPage) -> io::Result<()> {
        self.drawn = size();
        let lines = self.drawn.map_or(0, |(rows, _)| usize::from(rows));
        let lines = if lines == 0 { LINES } else { lines };
        let mut out = String::from("\x1b[H");
        for (at, line) in page.as_str().lines().take(lines).enumerate() {
            if at > 0 {
                out.push_str("\r\n");
            }
            out.push_str(line);
            out.push_str("\x1b[K");
        }
        out.push_str("\x1b[J");
        stdout().write_all(out.as_bytes())?;
        stdout().flush()
    }
}

/// Rows and columns of the terminal.
fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdout()).ok()?;
    Some((size.ws_row, size.ws_col))
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _unseen = stdout().write_all(LEAVE).and_then(|()| stdout().flush());
        if let Some(before) = &self.before {
            let _unseen = tcsetattr(stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Reads keys as they are typed, or nothing after a tenth of a second. Returns the previous settings.
fn keys_one_by_one() -> io::Result<Termios> {
    let before = tcgetattr(stdin())?;
    let mut now = before.clone();
    now.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO);
    now.special_codes[SpecialCodeIndex::VMIN] = 0;
    now.special_codes[SpecialCodeIndex::VTIME] = 1;
    tcsetattr(stdin(), OptionalActions::Flush, &now)?;
    Ok(before)
}

fn wait_for_signals(ended: &Arc<AtomicBool>) -> io::Result<Runtime> {
    let signals = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_io()
        .build()?;
    {
        let _entered = signals.enter();
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let (ended, mut asked) = (ended.clone(), signal(kind)?);
            signals.spawn(async move {
                if asked.recv().await.is_some() {
                    ended.store(true, Ordering::Relaxed);
                }
            });
        }
    }
    Ok(signals)
}
