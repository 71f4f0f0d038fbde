//! The terminal's other screen, and the keys that leave it.
//!
//! Keys come one by one and are not shown. Signals that end a program are waited for, so that the terminal gets its
//! screen and its settings back first.

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

/// The other screen, without a cursor, where a line that is too long ends at the edge.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// The cursor and the first screen again.
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Lines of a terminal that does not say how many it has.
const LINES: usize = 24;

/// The terminal, while it shows something that moves.
pub(crate) struct Screen {
    /// How its input was before; none if nobody types there.
    before: Option<Termios>,
    ended: Arc<AtomicBool>,
    /// Waits for signals.
    _signals: Runtime,
}

impl Screen {
    /// Takes it.
    pub(crate) fn enter() -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let signals = wait_for_signals(&ended)?;
        let before = match stdin().is_terminal() {
            true => Some(keys_one_by_one()?),
            false => None,
        };
        // From here on, whatever fails, dropping it sets all back.
        let screen = Self {
            before,
            ended,
            _signals: signals,
        };
        stdout().write_all(ENTER)?;
        stdout().flush()?;
        Ok(screen)
    }

    /// True if somebody wants to leave it; looks for that for about so long.
    pub(crate) fn is_left(&mut self, wait: Duration) -> bool {
        let mut keys = [0; 16];
        let typed = match self.before {
            // It waits for a tenth of a second.
            Some(_) => stdin().read(&mut keys).unwrap_or(0),
            None => {
                std::thread::sleep(wait);
                0
            }
        };
        let is_quit = |key: &u8| matches!(key, b'q' | b'Q');
        keys[..typed].iter().any(is_quit) || self.ended.load(Ordering::Relaxed)
    }

    /// An empty page as wide as the terminal is now.
    pub(crate) fn page(&self, is_quiet: bool) -> TextPage {
        TextPage::new(Style::of(true).quiet(is_quiet))
    }

    /// Shows a page: as many of its lines as there is room for.
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
        // A terminal that has gone needs nothing back.
        let _unseen = stdout().write_all(LEAVE).and_then(|()| stdout().flush());
        if let Some(before) = &self.before {
            let _unseen = tcsetattr(stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Keys are read as they are typed, or none after a tenth of a second. Gives how it was before.
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
