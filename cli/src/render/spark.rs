//! Bars of one character each, for `top`.

use super::page::Style;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN_BARS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// One bar for each number, relative to the largest; a space for 0.
pub(crate) fn spark(values: &[u64], style: Style) -> String {
    let most = values.iter().copied().max().unwrap_or_default();
    let bars = if style.is_unicode() { BARS } else { PLAIN_BARS };
    let bar = |&value: &u64| match value {
        0 => ' ',
        // The smallest bar is for the smallest number above 0.
        value => bars[((u128::from(value) * 8 - 1) / u128::from(most)).min(7) as usize],
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_their_numbers() {
        let style = Style::of(false);
        assert_eq!(spark(&[0, 1, 4, 8], style), " ▁▄█");
        assert_eq!(spark(&[1, 1], style), "▇▇".replace('▇', "█"));
        assert_eq!(spark(&[1, 1_000_000], style), "▁█");
        assert_eq!(spark(&[u64::MAX, 0], style), "█ ");
        assert_eq!(spark(&[], style), "");
        assert_eq!(spark(&[0, 0], style), "  ");
    }
}
