//! One spelling for characters that are written in several ways.
//!
//! A text is brought to normal form KC (half-width kana, ligatures, accents written apart); then each letter loses its
//! case and, in Latin and Greek script, its accents; Arabic letters lose their hamza forms; traditional Chinese
//! characters become simplified ones. Nothing here depends on a language or on a neighbour but composition itself.
//!
//! Covered by `ANALYZER_VERSION`. Not here: word boundaries (`split`), endings (`analysis`, `arabic`).

use std::borrow::Cow;

use unicode_normalization::char::decompose_canonical;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::han::simplified;

/// The zeros of the digits that texts use beside ASCII; nine more follow each.
const ZEROS: [char; 14] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{1040}',
];

/// The text in normal form, with ASCII digits, spaces and apostrophes.
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    let is_normal =
        text.chars().all(|c| prepared(c) == c) && is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if is_normal {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(prepared).nfkc().collect())
    }
}

/// What compatibility would take apart or leave: an accent that stands for an apostrophe, a sign behind a name, digits.
fn prepared(c: char) -> char {
    match c {
        '\0'..='\x5f' | 'a'..='\u{a0}' => c,
        '`' | '\u{b4}' | '\u{2bc}' | '\u{2018}' | '\u{2019}' | '\u{ff07}' => '\'',
        '\u{2010}'..='\u{2012}' => '-',
        // A mark of trade would become letters of the name before it.
        '\u{2122}' | '\u{2120}' => ' ',
        '\u{660}'..='\u{1049}' => digit(c),
        c => c,
    }
}

fn digit(c: char) -> char {
    let value = ZEROS
        .iter()
        .find_map(|&zero| (c as u32).checked_sub(zero as u32).filter(|v| *v < 10));
    value.map_or(c, |value| char::from(b'0' + value as u8))
}

/// Calls `f` with the letters that stand for one letter in the index.
pub(super) fn for_each_folded(c: char, mut f: impl FnMut(char)) {
    if c.is_ascii() {
        return f(if c == '`' {
            '\''
        } else {
            c.to_ascii_lowercase()
        });
    }
    for c in c.to_lowercase().filter(|&c| !is_mark(c)) {
        let c = without_accents(c);
        let several = match c {
            'ß' => "ss",
            'æ' => "ae",
            'œ' => "oe",
            'þ' => "th",
            _ => "",
        };
        if several.is_empty() {
            f(base_letter(c));
        } else {
            several.chars().for_each(&mut f);
        }
    }
}

/// Accents written apart; vowel signs of Arabic and its lengthening stroke.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// The letter below its accents, in Latin and Greek script.
fn without_accents(c: char) -> char {
    if !matches!(c, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}') {
        return c;
    }
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    base.unwrap_or(c)
}

/// The letter that stands for one without canonical parts.
fn base_letter(c: char) -> char {
    match c {
        '\u{2bc}' => '\'',
        'ø' => 'o',
        'ł' => 'l',
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ı' => 'i',
        'ŋ' => 'n',
        'ŧ' => 't',
        'ς' => 'σ',
        'ё' | 'ѐ' => 'е',
        'ѝ' => 'и',
        // Alef with hamza or madda, alef maksura, teh marbuta, hamza on a carrier, the Persian forms of kaf and yeh.
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' | 'ی' | 'ئ' => 'ي',
        'ة' => 'ه',
        'ؤ' => 'و',
        'ک' => 'ك',
        '\u{4e00}'..='\u{9fff}' => simplified(c),
        c => c,
    }
}

/// The letters that German, Danish and Norwegian also write as two: ä as ae, å as aa.
pub(super) fn written_with_e(c: char) -> Option<char> {
    match c {
        'ä' | 'ö' | 'ü' | 'ø' | 'Ä' | 'Ö' | 'Ü' | 'Ø' => Some('e'),
        'å' | 'Å' => Some('a'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_letters_are_those_of_this_version_of_the_index() {
        assert_eq!(unicode_normalization::UNICODE_VERSION, (18, 0, 0));
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut folded = String::new();
        for c in normalized(text).chars() {
            for_each_folded(c, |c| folded.push(c));
        }
        assert_eq!(folded, expected, "{text:?}");
    }

    #[test]
    fn one_spelling_stands_for_all() {
        check("Résumé re\u{301}sume\u{301}", "resume resume");
        check("Łodzi Đorđe Ærø œuvre", "lodzi dorde aero oeuvre");
        check("Straße STRAẞE", "strasse strasse");
        check("ΟΔΥΣΣΕΎΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ");
        check("ﾊﾟｽﾜｰﾄﾞ ＡＢＣ１ ﬁn", "パスワード abc1 fin");
        check("數據庫備份", "数据库备份");
        check("ёлка йод їжак", "елка йод їжак");
        check("أحمد إلى مدرسة", "احمد الي مدرسه");
        check("٣١ ۳۱ ३१", "31 31 31");
        check("がぎ か\u{3099}", "がぎ が");
        check("don\u{b4}t Node™ 2²", "don't node  22");
    }

    #[test]
    fn folding_twice_changes_nothing_more() {
        for c in '\0'..=char::MAX {
            let mut once = String::new();
            for c in normalized(&c.to_string()).chars() {
                for_each_folded(c, |c| once.push(c));
            }
            let mut twice = String::new();
            for c in normalized(&once).chars() {
                for_each_folded(c, |c| twice.push(c));
            }
            assert_eq!(once, twice, "{c:?}");
        }
    }
}
