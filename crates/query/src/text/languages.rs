//! The language of a question, as far as its stop words tell.
//!
//! The index has the stop words of all languages but English as terms: "die" is an article in one text and a verb in
//! the next. A question is short and in one language, so that its own stop words say which of its words to leave out.
//!
//! Not here: the language of a text; which forms of a word are equal (`expand`).

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use amem_format::analyzer::{Analyzer, Scratch, folded, is_aside, is_stop_word};

/// A question with a smaller share of English stop words is in another language.
const ENGLISH_SHARE: f64 = 0.2;

/// Stop words of Latin letters that tell a language.
const COUNT_MIN: usize = 2;

/// The lists that have a word, a bit each.
fn lists_with(word: &str) -> u32 {
    static LISTS: OnceLock<HashMap<&'static str, u32>> = OnceLock::new();
    let lists = LISTS.get_or_init(|| {
        let mut lists = HashMap::new();
        for (at, words) in LANGUAGES.iter().enumerate() {
            for word in *words {
                *lists.entry(*word).or_insert(0) |= 1 << at;
            }
        }
        lists
    });
    lists.get(word).copied().unwrap_or_default()
}

/// What the words of a question say of its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Its terms are stemmed in the index.
    English,
    /// A language whose stop words are listed.
    Listed(usize),
    /// Letters that English is not written in.
    Other,
    /// Letters of English, and no stop word of any language: words alone.
    Open,
}

/// The language of a question.
pub(super) fn of(question: &str) -> Language {
    let folded = folded(question);
    let words = || {
        folded
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    let all = words().count();
    let english = words().filter(|word| is_stop_word(word)).count();
    let (mut counts, mut own) = ([0; LANGUAGES.len()], 0);
    for word in words() {
        let lists = lists_with(word);
        if !word.is_ascii() {
            own |= lists;
        }
        // One letter, or one word of Latin letters alone, is too often a name.
        if word.len() > 1 {
            let with = (0..LANGUAGES.len()).filter(|at| lists >> at & 1 == 1);
            with.for_each(|at| counts[at] += 1);
        }
    }
    let told = |at: usize| match counts[at] >= COUNT_MIN || own >> at & 1 == 1 {
        true => counts[at],
        false => 0,
    };
    let best = (0..LANGUAGES.len())
        .map(|at| (told(at), at))
        // Of equals the first of the table.
        .max_by_key(|&(count, at)| (count, std::cmp::Reverse(at)));
    match best {
        Some((count, at)) if count > english => Language::Listed(at),
        _ if all > 0 && english as f64 >= ENGLISH_SHARE * all as f64 => Language::English,
        _ if question.chars().all(|c| !c.is_alphabetic() || c.is_ascii()) => Language::Open,
        _ => Language::Other,
    }
}

/// True if the stop words of a question are those of another language than English.
pub fn is_foreign(question: &str) -> bool {
    matches!(of(question), Language::Listed(_))
}

impl Language {
    /// True if a term is a stop word of the language; never of English, whose stop words are no terms.
    pub(super) fn leaves_out(self, term: &str) -> bool {
        static TERMS: OnceLock<Vec<HashSet<Box<str>>>> = OnceLock::new();
        let Self::Listed(at) = self else {
            return false;
        };
        let terms = TERMS.get_or_init(|| LANGUAGES.iter().map(|words| terms_of(words)).collect());
        terms[at].contains(term)
    }
}

fn terms_of(words: &[&str]) -> HashSet<Box<str>> {
    let (analyzer, mut scratch, mut terms) = (Analyzer::new(), Scratch::default(), HashSet::new());
    for word in words {
        analyzer.for_each_term(word, &mut scratch, |term| {
            if !is_aside(term) {
                terms.insert(term.into());
            }
        });
    }
    terms
}

/// The commonest words of questions and sentences, folded and sorted: German, French, Spanish, Italian, Portuguese,
/// Dutch, Swedish, Russian, Turkish, Polish, Greek, Romanian, Arabic.
#[rustfmt::skip]
const LANGUAGES: &[&[&str]] = &[
    &[
        "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander", "andere",
        "anderen", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "dabei", "damals", "damit",
        "danach", "dann", "daran", "darauf", "daraus", "darum", "das", "dass", "dasselbe", "dazu", "dein",
        "deine", "deinem", "deinen", "deiner", "dem", "den", "denen", "denn", "der", "deren", "des", "dessen",
        "dich", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort", "du",
        "durch", "ein", "eine", "einem", "einen", "einer", "eines", "einige", "einigen", "er", "es", "etwas",
        "euch", "euer", "eure", "fur", "gegen", "gegenuber", "gewesen", "gibt", "hab", "habe", "haben", "hat",
        "hatte", "hatten", "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem",
        "ihren", "ihrer", "ihres", "im", "in", "indem", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder",
        "jedes", "jemand", "jene", "kann", "kannst", "kein", "keine", "keinem", "keinen", "keiner", "konnen",
        "konnte", "machen", "man", "manche", "mein", "meine", "meinem", "meinen", "meiner", "mich", "mir",
        "mit", "muss", "mussen", "nach", "nachdem", "neben", "nicht", "nichts", "noch", "nun", "nur", "ob",
        "oder", "ohne", "schon", "sehr", "sein", "seine", "seinem", "seinen", "seiner", "seit", "sich", "sie",
        "sind", "so", "solche", "soll", "sollen", "sollte", "sondern", "sonst", "uber", "um", "und", "uns",
        "unser", "unsere", "unserem", "unseren", "unter", "viel", "vom", "von", "vor", "wahrend", "wann", "war",
        "waren", "warum", "was", "welche", "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn",
        "wer", "werde", "werden", "weshalb", "wessen", "wie", "wieder", "wieso", "wieviel", "wieviele", "will",
        "wir", "wird", "wo", "wobei", "wodurch", "wofur", "woher", "wohin", "womit", "worden", "woruber",
        "wovon", "wurde", "wurden", "zu", "zum", "zur", "zwar", "zwischen",
    ],
    &[
        "a", "afin", "ai", "ainsi", "alors", "apres", "as", "au", "aucun", "aucune", "auquel", "aura", "aussi",
        "autre", "autres", "aux", "avait", "avant", "avec", "avez", "avoir", "avons", "c", "ca", "car", "ce",
        "ceci", "cela", "celle", "celles", "celui", "ces", "cet", "cette", "ceux", "chaque", "chez", "ci",
        "combien", "comme", "comment", "contre", "d", "dans", "de", "depuis", "des", "donc", "dont", "du",
        "elle", "elles", "en", "encore", "entre", "es", "est", "et", "etaient", "etait", "ete", "etre", "eu",
        "eux", "fait", "font", "furent", "fut", "ici", "il", "ils", "j", "je", "jusqu", "jusque", "l", "la",
        "laquelle", "le", "lequel", "les", "lesquelles", "lesquels", "leur", "leurs", "lors", "lorsque", "lui",
        "m", "ma", "mais", "me", "meme", "memes", "mes", "moi", "moins", "mon", "n", "ne", "ni", "nos", "notre",
        "nous", "on", "ont", "ou", "par", "parce", "pas", "pendant", "peu", "peut", "plus", "pour", "pourquoi",
        "pouvez", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans",
        "se", "sera", "ses", "si", "soit", "son", "sont", "sous", "sur", "t", "ta", "te", "tes", "toi", "ton",
        "tous", "tout", "toute", "toutes", "tres", "tu", "un", "une", "vers", "vos", "votre", "vous", "y",
    ],
    &[
        "a", "al", "algo", "algun", "alguna", "algunas", "algunos", "ante", "antes", "aquel", "aquella",
        "aquello", "aquellos", "asi", "aun", "aunque", "cada", "como", "con", "contra", "cual", "cuales",
        "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "de", "del", "desde", "donde", "durante", "e", "el",
        "ella", "ellas", "ellos", "en", "entre", "era", "eran", "es", "esa", "esas", "ese", "eso", "esos",
        "esta", "estaba", "estan", "estas", "este", "esto", "estos", "fue", "fuera", "fueron", "ha", "habia",
        "habian", "han", "hasta", "hay", "he", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi", "mis",
        "mucho", "muchos", "muy", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o", "os",
        "otra", "otras", "otro", "otros", "para", "pero", "poco", "por", "porque", "pues", "que", "quien",
        "quienes", "se", "sea", "segun", "ser", "si", "sido", "sin", "sobre", "son", "soy", "su", "sus",
        "tambien", "tan", "tanto", "te", "tenia", "tiene", "tienen", "toda", "todas", "todo", "todos", "tu",
        "tus", "un", "una", "uno", "unos", "usted", "vosotros", "y", "ya", "yo",
    ],
    &[
        "a", "abbia", "abbiamo", "ad", "agli", "ai", "al", "alla", "alle", "allo", "anche", "ancora", "avere",
        "aveva", "avevano", "c", "che", "chi", "ci", "cioe", "co", "come", "con", "contro", "cosa", "cui", "da",
        "dagli", "dai", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del", "dell", "della", "delle",
        "dello", "di", "dopo", "dove", "e", "ebbe", "ed", "era", "erano", "essere", "fa", "fra", "fu", "furono",
        "gli", "ha", "hai", "hanno", "ho", "i", "il", "in", "io", "l", "la", "le", "lei", "li", "lo", "loro",
        "lui", "ma", "mi", "mia", "mio", "molto", "ne", "negli", "nei", "nel", "nell", "nella", "nelle",
        "nello", "noi", "non", "nostra", "nostro", "o", "ogni", "per", "perche", "pero", "piu", "poi", "prima",
        "qual", "quale", "quali", "quando", "quanta", "quante", "quanti", "quanto", "quasi", "quella", "quelle",
        "quelli", "quello", "questa", "queste", "questi", "questo", "qui", "sara", "se", "sei", "si", "sia",
        "siamo", "sono", "sopra", "sotto", "stata", "state", "stati", "stato", "su", "sua", "sue", "sugli",
        "sui", "sul", "sulla", "sulle", "sullo", "suo", "suoi", "ti", "tra", "tu", "tua", "tuo", "tutta",
        "tutti", "tutto", "un", "una", "uno", "vi", "voi",
    ],
    &[
        "a", "ao", "aos", "apos", "aquela", "aquele", "aqueles", "aquilo", "as", "ate", "cada", "com", "como",
        "da", "das", "de", "dela", "dele", "deles", "depois", "do", "dos", "durante", "e", "ela", "elas", "ele",
        "eles", "em", "entre", "era", "eram", "essa", "esse", "esses", "esta", "estao", "estava", "este",
        "estes", "eu", "foi", "foram", "fosse", "ha", "isso", "isto", "ja", "lhe", "lhes", "mais", "mas", "me",
        "mesmo", "meu", "meus", "minha", "muito", "muitos", "na", "nao", "nas", "nem", "no", "nos", "nossa",
        "nosso", "num", "numa", "o", "onde", "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "por",
        "porque", "quais", "qual", "quando", "quanta", "quantas", "quanto", "quantos", "que", "quem", "sao",
        "se", "seja", "sem", "ser", "sera", "seu", "seus", "so", "sobre", "sua", "suas", "tambem", "te", "tem",
        "tendo", "ter", "teve", "tinha", "tu", "tua", "tudo", "um", "uma", "umas", "uns", "voce", "voces",
    ],
    &[
        "aan", "al", "alle", "alles", "als", "altijd", "ander", "andere", "ben", "bij", "daar", "dan", "dat",
        "de", "der", "deze", "die", "dit", "doch", "doen", "door", "dus", "een", "eens", "en", "er", "ge",
        "geen", "geweest", "haar", "had", "hadden", "heb", "hebben", "heeft", "hem", "het", "hier", "hij",
        "hoe", "hoeveel", "hun", "iemand", "iets", "ik", "in", "is", "ja", "je", "jij", "jouw", "kan", "kon",
        "kunnen", "maar", "me", "meer", "men", "met", "mij", "mijn", "moet", "na", "naar", "niet", "niets",
        "nog", "nu", "of", "om", "omdat", "ons", "onze", "ook", "op", "over", "reeds", "te", "tegen", "toch",
        "toen", "tot", "u", "uit", "uw", "van", "veel", "voor", "waar", "waarom", "wanneer", "want", "waren",
        "was", "wat", "we", "wel", "welk", "welke", "werd", "werden", "wezen", "wie", "wiens", "wij", "wil",
        "worden", "wordt", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou",
    ],
    &[
        "alla", "allt", "an", "att", "av", "blev", "bli", "blir", "da", "de", "dem", "den", "denna", "deras",
        "dess", "dessa", "det", "detta", "dig", "din", "dina", "ditt", "du", "efter", "ej", "eller", "en", "er",
        "era", "ert", "ett", "for", "fran", "ha", "hade", "han", "hans", "har", "henne", "hennes", "hon",
        "honom", "hur", "hurdan", "i", "icke", "ingen", "inom", "inte", "jag", "ju", "kan", "kunde", "man",
        "med", "mellan", "men", "mig", "min", "mina", "mitt", "mot", "mycket", "nagon", "nagot", "nagra", "nar",
        "ni", "nu", "och", "om", "oss", "pa", "sa", "sadan", "sadana", "sedan", "sig", "sin", "sina", "sitt",
        "sjalv", "ska", "skulle", "som", "till", "under", "upp", "ut", "utan", "vad", "var", "vara", "varfor",
        "varit", "varje", "vars", "vart", "vem", "vems", "vi", "vid", "vilka", "vilken", "vilket",
    ],
    &[
        "а", "без", "более", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "вдоль", "весь",
        "во", "вот", "все", "всего", "всех", "вы", "где", "да", "даже", "для", "до", "его", "ее", "если",
        "есть", "еще", "же", "за", "здесь", "и", "из", "или", "им", "их", "к", "как", "какая", "какие", "каким",
        "каких", "какого", "какое", "какой", "каком", "какому", "какую", "ко", "когда", "кого", "кому",
        "которая", "которое", "которой", "которые", "который", "которых", "кто", "куда", "ли", "либо", "меня",
        "мне", "много", "может", "мои", "мой", "моя", "мы", "на", "над", "надо", "нам", "нас", "наш", "не",
        "него", "нее", "нет", "ни", "них", "но", "ну", "о", "об", "однако", "он", "она", "они", "оно", "от",
        "откуда", "очень", "по", "под", "почему", "при", "про", "с", "сам", "свое", "своей", "своих", "свой",
        "себе", "себя", "сколько", "со", "так", "также", "такой", "там", "тебя", "тем", "то", "того", "тоже",
        "той", "только", "том", "тот", "ты", "у", "уже", "чего", "чей", "чем", "через", "что", "чтобы", "чья",
        "эта", "эти", "этим", "этих", "это", "этого", "этой", "этом", "этот", "эту", "я",
    ],
    &[
        "acaba", "ama", "ancak", "bana", "bazi", "belki", "ben", "benim", "beri", "bile", "bir", "biri",
        "birkac", "biz", "bizim", "bu", "buna", "bunda", "bundan", "bunlar", "bunu", "bunun", "cok", "cunku",
        "da", "daha", "dahi", "de", "defa", "degil", "diye", "dolayi", "eger", "en", "gibi", "gore", "hangi",
        "hani", "hem", "hep", "hepsi", "her", "hic", "icin", "ile", "ise", "kac", "kadar", "kendi", "ki", "kim",
        "kime", "kimin", "mi", "mu", "nasil", "ne", "neden", "nedir", "nerede", "nereden", "nereye", "nicin",
        "niye", "o", "olan", "olarak", "oldu", "oldugu", "olur", "on", "ona", "ondan", "onlar", "onu", "onun",
        "oyle", "sana", "sen", "senin", "sey", "siz", "su", "tum", "var", "vardir", "ve", "veya", "ya", "yani",
        "yok",
    ],
    &[
        "aby", "albo", "ale", "bardzo", "bez", "bo", "by", "byc", "byl", "byla", "byli", "bylo", "ci", "ciebie",
        "co", "cos", "czego", "czemu", "czy", "czyj", "czym", "dla", "dlaczego", "do", "gdy", "gdzie", "go",
        "i", "ich", "ile", "im", "in", "ja", "jak", "jaka", "jaki", "jakich", "jakie", "jako", "jego", "jej",
        "jesli", "jest", "jestem", "jeszcze", "juz", "kazdy", "kiedy", "kim", "kogo", "komu", "kto", "ktora",
        "ktore", "ktorego", "ktorej", "ktory", "ktorych", "ktorzy", "ku", "lub", "ma", "maja", "mam", "mi",
        "mnie", "moj", "moja", "moje", "moze", "my", "na", "nad", "nam", "nas", "nasz", "nic", "nich", "nie",
        "nim", "niz", "o", "od", "on", "ona", "one", "oni", "ono", "oraz", "po", "pod", "poniewaz", "przed",
        "przez", "przy", "sa", "sie", "ta", "tak", "takze", "tam", "te", "tego", "tej", "ten", "tez", "to",
        "tu", "tych", "tylko", "tym", "u", "w", "wam", "was", "we", "wiele", "wszystko", "wy", "z", "za", "ze",
    ],
    &[
        "ακομα", "αλλα", "αν", "αντι", "απο", "αυτα", "αυτεσ", "αυτη", "αυτο", "αυτοι", "αυτοσ", "αυτου",
        "αυτων", "για", "γιατι", "δε", "δεν", "εαν", "εγω", "ειμαι", "ειναι", "ειτε", "ειχε", "εκει", "εκεινη",
        "εκεινο", "εκεινοσ", "ενα", "εναν", "ενασ", "ενω", "εσυ", "εχει", "εχουν", "η", "ηταν", "θα", "καθε",
        "και", "καποια", "καποιο", "καποιοσ", "κατα", "με", "μετα", "μεχρι", "μη", "μην", "μια", "μου", "να",
        "ο", "οι", "οπου", "οπωσ", "οταν", "οτι", "πλεον", "ποια", "ποιεσ", "ποιο", "ποιοι", "ποιον", "ποιοσ",
        "ποιουσ", "ποσα", "ποσο", "ποσοι", "ποτε", "που", "πριν", "προσ", "πωσ", "σασ", "σε", "σου", "στα",
        "στη", "στην", "στισ", "στο", "στον", "στουσ", "συ", "τα", "τη", "την", "τησ", "τι", "τισ", "το", "τον",
        "του", "τουσ", "των", "ωσ",
    ],
    &[
        "a", "acea", "aceasta", "aceea", "acei", "acel", "acela", "acele", "acest", "acesta", "aceste",
        "acestia", "ai", "aici", "al", "ale", "am", "ar", "are", "as", "asta", "au", "avea", "avut", "ca",
        "cand", "care", "cat", "cate", "cati", "ce", "cea", "cei", "cel", "cele", "cine", "cu", "cui", "cum",
        "da", "daca", "dar", "de", "decat", "deci", "despre", "din", "dintre", "doar", "dupa", "e", "ea", "ei",
        "el", "ele", "era", "erau", "este", "eu", "fara", "fi", "fie", "fost", "i", "ii", "il", "in", "intre",
        "la", "le", "li", "lor", "lui", "mai", "mea", "mi", "nici", "noi", "nu", "o", "pe", "pentru", "prin",
        "sa", "sale", "sau", "se", "si", "spre", "sub", "sunt", "te", "tot", "un", "una", "unde", "unei",
        "unor", "unui", "unul", "va", "vor",
    ],
    &[
        "التي", "الذي", "الذين", "اللاتي", "الي", "ام", "ان", "انا", "انت", "انه", "او", "اي", "اين", "بعد",
        "بل", "بما", "به", "بها", "بين", "تحت", "ثم", "حتي", "حيث", "ذلك", "علي", "عليه", "عليها", "عن", "عند",
        "عندما", "غير", "في", "فيه", "فيها", "قبل", "قد", "كان", "كانت", "كل", "كم", "كما", "كيف", "لا", "لان",
        "لدي", "لقد", "لكن", "لم", "لماذا", "لن", "له", "لها", "لو", "ليس", "ما", "ماذا", "متي", "مع", "من",
        "منذ", "منه", "منها", "هذا", "هذه", "هل", "هم", "هناك", "هو", "هي", "و", "وقد", "وكان", "وهو", "وهي",
        "يكون",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_folded_and_sorted() {
        for words in LANGUAGES {
            assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
            for word in *words {
                assert_eq!(folded(word), *word);
            }
        }
    }

    #[test]
    fn the_stop_words_of_a_question_tell_its_language() {
        for (question, starts) in [
            ("Wer bezahlt die Rechnung?", "aber"),
            ("¿Quién paga la factura?", "a"),
            ("Qui paie la facture de l'eau ?", "a"),
            ("Кто платит за воду?", "а"),
        ] {
            let Language::Listed(at) = of(question) else {
                panic!("{question}: {:?}", of(question));
            };
            assert_eq!(LANGUAGES[at][0], starts, "{question}");
        }
        assert_eq!(of("Who pays the bill?"), Language::English);
        assert_eq!(of("database backup"), Language::Open);
        assert_eq!(of("猫"), Language::Other);
        assert_eq!(of("قهوة"), Language::Other);
        assert_eq!(of(""), Language::Open);
    }

    #[test]
    fn stop_words_of_the_language_are_left_out() {
        let german = of("Wer bezahlt die Rechnung?");
        assert!(german.leaves_out("die") && german.leaves_out("wer"));
        assert!(!german.leaves_out("rechnung"));
        assert!(!Language::English.leaves_out("die"));
    }
}
