//! What the user chose to see in `amemctl top`: order, scroll position, pause, help.

use super::keys::ScreenKey;

/// The order of brains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrainOrder {
    /// Most commits first.
    Load,
    Name,
    /// Longest journal first.
    Journal,
    /// Most waiting requests first.
    Waiting,
}

impl BrainOrder {
    fn next(self) -> Self {
        match self {
            Self::Load => Self::Name,
            Self::Name => Self::Journal,
            Self::Journal => Self::Waiting,
            Self::Waiting => Self::Load,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Name => "name",
            Self::Journal => "journal",
            Self::Waiting => "waiting",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ViewState {
    pub(super) order: BrainOrder,
    /// Brains that are scrolled away.
    pub(super) first: usize,
    pub(super) is_help: bool,
    is_paused: bool,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            order: BrainOrder::Load,
            first: 0,
            is_help: false,
            is_paused: false,
        }
    }
}

impl ViewState {
    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Takes a key; `brains` is their number, `page` how many are shown.
    pub(crate) fn press(&mut self, key: ScreenKey, brains: usize, page: usize) {
        let last = brains.saturating_sub(page);
        match key {
            ScreenKey::Up => self.first = self.first.saturating_sub(1),
            ScreenKey::Down => self.first += 1,
            ScreenKey::PageUp => self.first = self.first.saturating_sub(page),
            ScreenKey::PageDown => self.first += page,
            ScreenKey::Sort => (self.order, self.first) = (self.order.next(), 0),
            ScreenKey::Pause => self.is_paused = !self.is_paused,
            ScreenKey::Help => self.is_help = !self.is_help,
            ScreenKey::Quit => {}
        }
        self.first = self.first.min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_scroll_within_the_list_sort_and_pause() {
        let mut view = ViewState::default();
        let mut press = |key| {
            view.press(key, 30, 12);
            (view.first, view.order, view.is_paused())
        };
        assert_eq!(press(ScreenKey::Up), (0, BrainOrder::Load, false));
        assert_eq!(press(ScreenKey::Down), (1, BrainOrder::Load, false));
        assert_eq!(press(ScreenKey::PageDown), (13, BrainOrder::Load, false));
        assert_eq!(press(ScreenKey::PageDown), (18, BrainOrder::Load, false));
        assert_eq!(press(ScreenKey::Pause), (18, BrainOrder::Load, true));
        assert_eq!(press(ScreenKey::Sort), (0, BrainOrder::Name, true));
    }
}
