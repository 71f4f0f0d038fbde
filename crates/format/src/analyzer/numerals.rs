//! Numbers, times and dates: one term for every way of writing one.
//!
//! | written | terms | asides |
//! |---|---|---|
//! | 1,200 · 1.200 · 1'200 | 1200 | for 1.200 also 1.200 |
//! | 3.14 · 3,14 · 1.2.3 | 3.14 · 3.14 · 1.2.3 | the parts |
//! | 6:40 · 06:40 · 6:40 pm | 6:40 · 6:40 · 18:40 | |
//! | 2026-07-31 · 31.07.2026 · 7/31/2026 · 2026年7月31日 | 2026-07-31 | 2026-07, 2026 |
//! | 31 July 2026 · July 31st, 2026 · 31. Juli 2026 | the words | 2026-07-31, 2026-07 |
//! | +49 30 901820 · (030) 901-820 · 1 200 | the groups | all digits together, of 7 to 20, or of thousands |
//!
//! Where the order of day and month is open (3/4/2026), both dates are terms. Covered by `ANALYZER_VERSION`.
//! Not here: what a date means to a question (`amem_query::time_phrase`).

use super::letters::for_each_folded;
use super::months::month;

/// Digits of a number that is written in groups.
const GROUPED_DIGITS: std::ops::RangeInclusive<usize> = 7..=20;
/// Digits of a number with signs for thousands.
const THOUSANDS_DIGITS_MAX: usize = 24;
/// Bytes between a day, its month and its year: ". ", " de ", " of ", " del ".
const BETWEEN_BYTES_MAX: usize = 6;
/// Bytes of a month's name.
const MONTH_BYTES_MAX: usize = 24;

/// How a term stands in its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumeralRole {
    /// It is what the text says.
    Word,
    /// It is an aside.
    Aside,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Numeral {
    /// The end of what is done with; none if the words still count.
    pub(super) end: Option<usize>,
    /// The end of a group of digits that was told as one number.
    pub(super) joined_until: usize,
}

/// Reads the digits at `at`, before which no letter stands; `f` gets the terms.
pub(super) fn read(
    text: &str,
    at: usize,
    joined_until: usize,
    f: &mut impl FnMut(NumeralRole, &str),
) -> Numeral {
    let done = |end| Numeral {
        end: Some(end),
        joined_until: 0,
    };
    let number = Digits::at(text, at);
    if let Some(end) = date(text, number, f) {
        return done(end);
    }
    if let Some(end) = time(text, number, f) {
        return done(end);
    }
    if let Some(end) = thousands(text, number, f) {
        return done(end);
    }
    if let Some(end) = decimals(text, number, f) {
        return done(end);
    }
    day_before_month(text, number, f);
    let mut joined_until = joined_until;
    if at >= joined_until {
        joined_until = groups(text, at, f).unwrap_or(0);
    }
    Numeral {
        end: None,
        joined_until,
    }
}

/// A run of ASCII digits.
#[derive(Debug, Clone, Copy)]
struct Digits<'t> {
    text: &'t str,
    end: usize,
}

impl<'t> Digits<'t> {
    fn at(text: &'t str, at: usize) -> Self {
        let rest = text.get(at..).unwrap_or("");
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        Self {
            text: &rest[..len],
            end: at + len,
        }
    }

    fn len(self) -> usize {
        self.text.len()
    }

    /// The value of at most four digits.
    fn value(self) -> Option<u32> {
        (1..=4)
            .contains(&self.len())
            .then(|| self.text.parse().ok())
            .flatten()
    }
}

fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(0)
}

/// True if a word or number goes on at `at`.
fn goes_on(text: &str, at: usize) -> bool {
    text.get(at..)
        .and_then(|rest| rest.chars().next())
        .is_some_and(char::is_alphanumeric)
}

/// True if digits follow at `at`, behind a point.
fn has_more_points(text: &str, at: usize) -> bool {
    matches!(byte(text, at), b'.' | b'-' | b'/') && byte(text, at + 1).is_ascii_digit()
}

fn is_date(year: u32, month: u32, day: u32) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    is_year(year) && (1..=days).contains(&day)
}

fn is_year(year: u32) -> bool {
    (1000..=2999).contains(&year)
}

/// A date of numbers.
fn date(text: &str, first: Digits<'_>, f: &mut impl FnMut(NumeralRole, &str)) -> Option<usize> {
    let one = first.value()?;
    if first.len() == 4 && text[first.end..].starts_with('年') {
        return date_of_han(text, one, first.end, f);
    }
    let sign = byte(text, first.end);
    if !matches!(sign, b'-' | b'.' | b'/') {
        return None;
    }
    let second = Digits::at(text, first.end + 1);
    if !(1..=2).contains(&second.len()) {
        return None;
    }
    let two = second.value()?;
    if byte(text, second.end) != sign {
        let is_month =
            first.len() == 4 && sign == b'-' && second.len() == 2 && !goes_on(text, second.end);
        if is_month && is_year(one) && (1..=12).contains(&two) {
            f(NumeralRole::Word, &format!("{one}-{two:02}"));
            f(NumeralRole::Aside, first.text);
            return Some(second.end);
        }
        return None;
    }
    let third = Digits::at(text, second.end + 1);
    let three = third.value()?;
    // ISO times follow a T.
    let ends = !goes_on(text, third.end) || byte(text, third.end) == b'T';
    if !ends || has_more_points(text, third.end) {
        return None;
    }
    let mut tell = |year: u32, month: u32, day: u32| {
        let is_date = is_date(year, month, day);
        if is_date {
            f(NumeralRole::Word, &format!("{year}-{month:02}-{day:02}"));
            f(NumeralRole::Aside, &format!("{year}-{month:02}"));
        }
        is_date
    };
    let (is_read, year) = match (first.len(), third.len()) {
        (4, 1 | 2) => (tell(one, two, three), one),
        (1 | 2, 4 | 2) if third.len() == 4 || sign != b'-' => {
            let year = match third.len() {
                4 => three,
                _ if three >= 70 => 1900 + three,
                _ => 2000 + three,
            };
            // 3/4/2026 is in March or in April; with points the day comes first.
            let by_day = tell(year, two, one);
            let is_open = sign == b'/' || !by_day;
            (
                is_open && one != two && tell(year, one, two) || by_day,
                year,
            )
        }
        _ => (false, 0),
    };
    if !is_read {
        return None;
    }
    f(NumeralRole::Aside, &year.to_string());
    Some(third.end + usize::from(byte(text, third.end) == b'T'))
}

/// 2026年7月31日, 2026年7月.
fn date_of_han(
    text: &str,
    year: u32,
    at: usize,
    f: &mut impl FnMut(NumeralRole, &str),
) -> Option<usize> {
    let month = Digits::at(text, at + '年'.len_utf8());
    let number = month.value()?;
    let rest = text[month.end..].strip_prefix('月')?;
    if !is_date(year, number, 1) {
        return None;
    }
    let after = text.len() - rest.len();
    let day = Digits::at(text, after);
    let has_day = text[day.end..].starts_with(['日', '号', '號']);
    let end = match day
        .value()
        .filter(|&day| has_day && is_date(year, number, day))
    {
        Some(value) => {
            f(NumeralRole::Word, &format!("{year}-{number:02}-{value:02}"));
            f(NumeralRole::Aside, &format!("{year}-{number:02}"));
            day.end + '日'.len_utf8()
        }
        None => {
            f(NumeralRole::Word, &format!("{year}-{number:02}"));
            after
        }
    };
    f(NumeralRole::Aside, &year.to_string());
    Some(end)
}

/// A time of day.
fn time(text: &str, hours: Digits<'_>, f: &mut impl FnMut(NumeralRole, &str)) -> Option<usize> {
    let hour = hours
        .value()
        .filter(|&hour| hours.len() <= 2 && hour < 24)?;
    let half = |at: usize| {
        let rest = text[at..].trim_start_matches(' ');
        let [letter, m] = rest.get(..2)?.to_ascii_lowercase().into_bytes()[..] else {
            return None;
        };
        let is_half = matches!(letter, b'a' | b'p') && m == b'm' && !goes_on(rest, 2);
        (is_half && (1..=12).contains(&hour)).then(|| match letter {
            b'p' => hour % 12 + 12,
            _ => hour % 12,
        })
    };
    if byte(text, hours.end) != b':' {
        if let Some(hour) = half(hours.end) {
            f(NumeralRole::Aside, &format!("{hour}:00"));
        }
        return None;
    }
    let minutes = Digits::at(text, hours.end + 1);
    let minute = minutes
        .value()
        .filter(|&minute| minutes.len() == 2 && minute < 60)?;
    let mut end = minutes.end;
    let seconds = Digits::at(text, end + 1);
    if byte(text, end) == b':' && seconds.len() == 2 {
        end = seconds.end;
    }
    if byte(text, end) == b':' && byte(text, end + 1).is_ascii_digit() {
        return None;
    }
    let hour = half(end).unwrap_or(hour);
    f(NumeralRole::Word, &format!("{hour}:{minute:02}"));
    Some(end)
}

/// A number with signs between its thousands.
fn thousands(
    text: &str,
    first: Digits<'_>,
    f: &mut impl FnMut(NumeralRole, &str),
) -> Option<usize> {
    let sign = byte(text, first.end);
    if !(1..=3).contains(&first.len())
        || first.text.starts_with('0')
        || !matches!(sign, b',' | b'.' | b'\'' | b' ')
    {
        return None;
    }
    let mut number = first.text.to_owned();
    let mut end = first.end;
    while byte(text, end) == sign && number.len() <= THOUSANDS_DIGITS_MAX {
        let group = Digits::at(text, end + 1);
        if group.len() != 3 {
            break;
        }
        number.push_str(group.text);
        end = group.end;
    }
    let is_joined = goes_on(text, end) || sign == b'.' && has_more_points(text, end);
    if number.len() == first.len() || is_joined {
        return None;
    }
    if sign == b' ' {
        // It may also be two numbers.
        f(NumeralRole::Aside, &number);
        return None;
    }
    let fraction = Digits::at(text, end + 1);
    if matches!(byte(text, end), b'.' | b',') && fraction.len() > 0 && !goes_on(text, fraction.end)
    {
        f(NumeralRole::Word, &format!("{number}.{}", fraction.text));
        f(NumeralRole::Aside, &number);
        return Some(fraction.end);
    }
    f(NumeralRole::Word, &number);
    if sign == b'.' && end == first.end + 4 {
        // It may also be a fraction.
        f(NumeralRole::Aside, &text[end - 4 - first.len()..end]);
    }
    Some(end)
}

/// A number with a fraction, or a version.
fn decimals(text: &str, first: Digits<'_>, f: &mut impl FnMut(NumeralRole, &str)) -> Option<usize> {
    let sign = byte(text, first.end);
    if !matches!(sign, b'.' | b',') || !byte(text, first.end + 1).is_ascii_digit() {
        return None;
    }
    f(NumeralRole::Aside, first.text);
    let mut whole = first.text.to_owned();
    let mut end = first.end;
    while byte(text, end) == sign {
        let part = Digits::at(text, end + 1);
        if part.len() == 0 || whole.len() + part.len() >= super::TERM_BYTES_MAX {
            break;
        }
        whole.push('.');
        whole.push_str(part.text);
        f(NumeralRole::Aside, part.text);
        end = part.end;
        if sign == b',' {
            break;
        }
    }
    f(NumeralRole::Word, &whole);
    Some(end)
}

/// Groups of digits that are one number, of a telephone for instance; where they end.
fn groups(text: &str, at: usize, f: &mut impl FnMut(NumeralRole, &str)) -> Option<usize> {
    let mut digits = String::new();
    let (mut end, mut count) = (at, 0);
    loop {
        let group = Digits::at(text, end);
        if group.len() == 0 || goes_on(text, group.end) {
            break;
        }
        digits.push_str(group.text);
        if digits.len() > *GROUPED_DIGITS.end() {
            return None;
        }
        count += 1;
        end = group.end;
        let between = text[end..]
            .bytes()
            .take_while(|b| b" -/()".contains(b))
            .count();
        if !(1..=2).contains(&between) || !byte(text, end + between).is_ascii_digit() {
            break;
        }
        end += between;
    }
    if count < 2 || !GROUPED_DIGITS.contains(&digits.len()) {
        return None;
    }
    f(NumeralRole::Aside, &digits);
    Some(end)
}

/// The folded word at `at`, and its end.
fn word_at(text: &str, at: usize) -> (String, usize) {
    let mut word = String::new();
    let mut end = at;
    for c in text[at..].chars() {
        if !c.is_alphabetic() || word.len() >= MONTH_BYTES_MAX {
            break;
        }
        end += c.len_utf8();
        for_each_folded(c, |c| word.push(c));
    }
    (word, end)
}

/// Skips what stands between the parts of a date: spaces, a point or comma, "of", "de".
fn skip_between(text: &str, at: usize) -> usize {
    let mut at = at;
    let is_space = |at: usize| matches!(byte(text, at), b' ' | b'.' | b',');
    while is_space(at) {
        at += 1;
    }
    if byte(text, at).is_ascii_alphabetic() {
        let (word, end) = word_at(text, at);
        if matches!(word.as_str(), "of" | "de" | "del" | "di" | "du") && byte(text, end) == b' ' {
            at = end + 1;
        }
    }
    at
}

/// The year at `at`, behind what may stand before it.
fn year_behind(text: &str, at: usize) -> Option<u32> {
    let start = skip_between(text, at);
    let year = Digits::at(text, start);
    let fits = year.len() == 4
        && start > at
        && start - at <= BETWEEN_BYTES_MAX
        && !goes_on(text, year.end);
    year.value().filter(|&value| fits && is_year(value))
}

/// "31 July 2026", "31st of July, 2026", "31. Juli 2026".
fn day_before_month(text: &str, first: Digits<'_>, f: &mut impl FnMut(NumeralRole, &str)) {
    let Some(day) = first.value().filter(|_| first.len() <= 2) else {
        return;
    };
    let mut at = first.end;
    for ending in ["st", "nd", "rd", "th", "er"] {
        if text[at..].starts_with(ending) {
            at += ending.len();
            break;
        }
    }
    let start = skip_between(text, at);
    if start == at || start - at > BETWEEN_BYTES_MAX {
        return;
    }
    let (word, end) = word_at(text, start);
    let Some(month) = month(&word) else {
        return;
    };
    if let Some(year) = year_behind(text, end).filter(|&year| is_date(year, month, day)) {
        f(NumeralRole::Aside, &format!("{year}-{month:02}-{day:02}"));
    }
}

/// True if the word that ends at `at` may be a month: a number follows.
pub(super) fn may_be_month(text: &str, at: usize) -> bool {
    let start = skip_spaces(text, at);
    start > at && (byte(text, start).is_ascii_digit() || byte(text, start) == b'd')
}

fn skip_spaces(text: &str, at: usize) -> usize {
    let spaces = text[at..]
        .bytes()
        .take_while(|b| matches!(b, b' ' | b'.' | b','))
        .count();
    at + spaces
}

/// "July 2026", "July 31, 2026", "julio de 2026": `word` is folded and ends at `at`.
pub(super) fn read_month(text: &str, at: usize, word: &str, f: &mut impl FnMut(NumeralRole, &str)) {
    let Some(month) = month(word) else {
        return;
    };
    if let Some(year) = year_behind(text, at) {
        return f(NumeralRole::Aside, &format!("{year}-{month:02}"));
    }
    let start = skip_spaces(text, at);
    let day = Digits::at(text, start);
    let Some(value) = day.value().filter(|_| day.len() <= 2) else {
        return;
    };
    let mut end = day.end;
    for ending in ["st", "nd", "rd", "th"] {
        if text[end..].starts_with(ending) {
            end += ending.len();
            break;
        }
    }
    if let Some(year) = year_behind(text, end).filter(|&year| is_date(year, month, value)) {
        f(NumeralRole::Aside, &format!("{year}-{month:02}-{value:02}"));
        f(NumeralRole::Aside, &format!("{year}-{month:02}"));
    }
}
