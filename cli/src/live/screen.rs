//! The alternate screen of the terminal, and the keys that leave it.
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
            _signals: signals,
        };
        stdout().write_all(ENTER)?;
        stdout().flush()?;
        Ok(screen)
    }

    /// Whether the user wants to quit; waits for about `wait`.
    pub(crate) fn is_left(&mut self, wait: Duration) -> bool {
        let mut keys = [0; 16];
        let typed = match self.before {
            // The read returns after a tenth of a second.
            Some(_) => stdin().read(&mut keys).unwrap_or(0),
            None => {
                std::thread::sleep(wait);
                0
            }
        };
        let is_quit = |key: &u8| matches!(key, b'q' | b'Q');
        keys[..typed].iter().any(is_quit) || self.ended.load(Ordering::Relaxed)
    }

    /// As wide as the terminal is now.
    pub(crate) fn page(&self, is_quiet: bool) -> TextPage {
        TextPage::new(Style::of(true).quiet(is_quiet))
    }

    /// As many lines as fit.
    pub(crate) fn show(&mut self, page: &TextPage) -> io::Result<()> {
        let lines = tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_row));
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
