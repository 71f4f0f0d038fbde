//! Names of months, folded, in the languages that dates are mostly written in.
//!
//! Sorted, and covered by `ANALYZER_VERSION`.
//! Not here: reading a date (`numerals`).

/// The number of the month that a folded word names, 1 to 12.
pub(super) fn month(word: &str) -> Option<u32> {
    MONTHS
        .binary_search_by_key(&word, |&(name, _)| name)
        .ok()
        .map(|at| MONTHS[at].1)
}

/// English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Turkish and Russian; of dates, so
/// that the cases are those behind a day.
#[rustfmt::skip]
const MONTHS: &[(&str, u32)] = &[
    ("abril", 4), ("agosto", 8), ("agustos", 8), ("aout", 8), ("apr", 4), ("april", 4), ("aprile", 4),
    ("aralik", 12), ("aug", 8), ("august", 8), ("augusti", 8), ("augustus", 8), ("avril", 4), ("czerwca", 6),
    ("dec", 12), ("december", 12), ("decembre", 12), ("dez", 12), ("dezember", 12), ("dezembro", 12),
    ("dicembre", 12), ("diciembre", 12), ("ekim", 10), ("enero", 1), ("eylul", 9), ("feb", 2),
    ("febbraio", 2), ("feber", 2), ("febrero", 2), ("februar", 2), ("februari", 2), ("february", 2),
    ("fevereiro", 2), ("fevrier", 2), ("gennaio", 1), ("giugno", 6), ("grudnia", 12), ("haziran", 6),
    ("jan", 1), ("janeiro", 1), ("janner", 1), ("januar", 1), ("januari", 1), ("january", 1), ("janvier", 1),
    ("juillet", 7), ("juin", 6), ("jul", 7), ("julho", 7), ("juli", 7), ("julio", 7), ("july", 7), ("jun", 6),
    ("june", 6), ("junho", 6), ("juni", 6), ("junio", 6), ("kasim", 11), ("kwietnia", 4), ("lipca", 7),
    ("listopada", 11), ("luglio", 7), ("lutego", 2), ("maart", 3), ("maerz", 3), ("maggio", 5), ("mai", 5),
    ("maio", 5), ("maj", 5), ("maja", 5), ("mar", 3), ("marca", 3), ("march", 3), ("marco", 3), ("mars", 3),
    ("mart", 3), ("marz", 3), ("marzo", 3), ("may", 5), ("mayis", 5), ("mayo", 5), ("mei", 5), ("nisan", 4),
    ("nov", 11), ("november", 11), ("novembre", 11), ("novembro", 11), ("noviembre", 11), ("ocak", 1),
    ("oct", 10), ("october", 10), ("octobre", 10), ("octubre", 10), ("okt", 10), ("oktober", 10),
    ("ottobre", 10), ("outubro", 10), ("pazdziernika", 10), ("sep", 9), ("sept", 9), ("september", 9),
    ("septembre", 9), ("septiembre", 9), ("setembro", 9), ("settembre", 9), ("sierpnia", 8), ("stycznia", 1),
    ("subat", 2), ("temmuz", 7), ("wrzesnia", 9), ("август", 8), ("августа", 8), ("апрель", 4), ("апреля", 4),
    ("декабрь", 12), ("декабря", 12), ("июль", 7), ("июля", 7), ("июнь", 6), ("июня", 6), ("май", 5),
    ("март", 3), ("марта", 3), ("мая", 5), ("ноябрь", 11), ("ноября", 11), ("октябрь", 10), ("октября", 10),
    ("сентябрь", 9), ("сентября", 9), ("февраль", 2), ("февраля", 2), ("январь", 1), ("января", 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_folded() {
        assert!(MONTHS.is_sorted_by(|a, b| a.0 < b.0));
        for &(name, at) in MONTHS {
            assert_eq!(crate::analyzer::folded(name), name);
            assert_eq!(month(name), Some(at));
        }
        assert_eq!(month("monday"), None);
    }
}
