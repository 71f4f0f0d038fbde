//! English stop words and irregular forms.
//!
//! Both tables are sorted and covered by `ANALYZER_VERSION`: a change here is a new version.
//! Not here: forms that are also another word ("left", "rose", "ground").

/// True for an English stop word in lower case.
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= STOP_BYTES_MAX && STOP_WORDS.binary_search(&word).is_ok()
}

/// The base form of an irregular noun or verb in lower case.
pub(crate) fn regular_form(word: &str) -> Option<&'static str> {
    IRREGULAR
        .binary_search_by_key(&word, |&(form, _)| form)
        .ok()
        .map(|at| IRREGULAR[at].1)
}

const STOP_BYTES_MAX: usize = 10;

#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "across", "after", "again", "against", "aint", "all", "also", "although",
    "am", "among", "an", "and", "any", "are", "arent", "as", "at", "be", "because", "been", "before",
    "being", "below", "between", "both", "but", "by", "can", "cannot", "cant", "could", "couldnt",
    "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont", "during", "each", "either",
    "else", "ever", "every", "few", "for", "from", "further", "had", "hadnt", "has", "hasnt", "have",
    "havent", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how",
    "however", "i", "id", "if", "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive",
    "just", "may", "me", "might", "mine", "more", "most", "must", "my", "myself", "neither", "no",
    "nor", "not", "of", "off", "on", "once", "only", "onto", "or", "other", "others", "our", "ours",
    "ourselves", "out", "over", "own", "per", "shall", "she", "should", "shouldnt", "since", "so",
    "some", "such", "than", "that", "thats", "the", "their", "theirs", "them", "themselves", "then",
    "there", "these", "they", "theyre", "this", "those", "though", "through", "till", "to", "too",
    "toward", "towards", "under", "unless", "until", "up", "upon", "us", "very", "was", "wasnt", "we",
    "were", "werent", "what", "whatever", "whats", "when", "whenever", "where", "wherever", "whether",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "wont",
    "would", "wouldnt", "yall", "yet", "you", "your", "youre", "yours", "yourself", "yourselves",
    "youve",
];

#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("ate", "eat"), ("awoke", "awake"), ("awoken", "awake"), ("beaten", "beat"), ("became", "become"),
    ("began", "begin"), ("begun", "begin"), ("bent", "bend"), ("bitten", "bite"), ("bled", "bleed"),
    ("blew", "blow"), ("blown", "blow"), ("bought", "buy"), ("bred", "breed"), ("broke", "break"),
    ("broken", "break"), ("brought", "bring"), ("built", "build"), ("burnt", "burn"),
    ("calves", "calf"), ("came", "come"), ("caught", "catch"), ("children", "child"),
    ("chose", "choose"), ("chosen", "choose"), ("clung", "cling"), ("crept", "creep"),
    ("dealt", "deal"), ("drank", "drink"), ("drawn", "draw"), ("dreamt", "dream"), ("drew", "draw"),
    ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("dug", "dig"), ("eaten", "eat"),
    ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"),
    ("fled", "flee"), ("flew", "fly"), ("flown", "fly"), ("flung", "fling"), ("forbade", "forbid"),
    ("forbidden", "forbid"), ("forgave", "forgive"), ("forgiven", "forgive"), ("forgot", "forget"),
    ("forgotten", "forget"), ("fought", "fight"), ("found", "find"), ("froze", "freeze"),
    ("frozen", "freeze"), ("gave", "give"), ("geese", "goose"), ("given", "give"), ("goes", "go"),
    ("gone", "go"), ("got", "get"), ("gotten", "get"), ("grew", "grow"), ("grown", "grow"),
    ("halves", "half"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"), ("hidden", "hide"),
    ("hung", "hang"), ("kept", "keep"), ("knelt", "kneel"), ("knew", "know"), ("knives", "knife"),
    ("known", "know"), ("laid", "lay"), ("leapt", "leap"), ("learnt", "learn"), ("led", "lead"),
    ("lent", "lend"), ("lost", "lose"), ("made", "make"), ("meant", "mean"), ("men", "man"),
    ("met", "meet"), ("mice", "mouse"), ("mistook", "mistake"), ("oxen", "ox"), ("paid", "pay"),
    ("people", "person"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"), ("risen", "rise"),
    ("rode", "ride"), ("said", "say"), ("sang", "sing"), ("sank", "sink"), ("sat", "sit"),
    ("saw", "see"), ("seen", "see"), ("sent", "send"), ("shaken", "shake"), ("shelves", "shelf"),
    ("shone", "shine"), ("shook", "shake"), ("shot", "shoot"), ("shown", "show"),
    ("shrank", "shrink"), ("slept", "sleep"), ("slid", "slide"), ("sold", "sell"), ("sought", "seek"),
    ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("sprang", "spring"),
    ("stole", "steal"), ("stolen", "steal"), ("stood", "stand"), ("struck", "strike"),
    ("stuck", "stick"), ("stung", "sting"), ("sung", "sing"), ("sunk", "sink"), ("swam", "swim"),
    ("swept", "sweep"), ("swore", "swear"), ("sworn", "swear"), ("swum", "swim"), ("swung", "swing"),
    ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("thieves", "thief"),
    ("thought", "think"), ("threw", "throw"), ("thrown", "throw"), ("told", "tell"), ("took", "take"),
    ("tore", "tear"), ("torn", "tear"), ("understood", "understand"), ("went", "go"),
    ("wept", "weep"), ("wives", "wife"), ("woke", "wake"), ("woken", "wake"), ("wolves", "wolf"),
    ("women", "woman"), ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("written", "write"),
    ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_and_disjoint() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(IRREGULAR.is_sorted_by(|a, b| a.0 < b.0));
        assert!(STOP_WORDS.iter().all(|w| w.len() <= STOP_BYTES_MAX));
        for (form, base) in IRREGULAR {
            assert!(regular_form(base).is_none(), "{base} is irregular itself");
            assert_ne!(form, base);
            assert!(
                !is_stop_word(form),
                "{form} is dropped before it is looked up"
            );
        }
    }

    #[test]
    fn every_entry_is_found() {
        assert!(STOP_WORDS.iter().all(|w| is_stop_word(w)));
        assert!(!is_stop_word("dog") && !is_stop_word(""));
        assert_eq!(regular_form("went"), Some("go"));
        assert_eq!(regular_form("dog"), None);
    }
}
