//! English verbs: their base form, and the third person.

/// Irregular verbs: base form, past, participle; "-" where it is the same as the past.
const IRREGULAR: [(&str, &str, &str); 104] = [
    ("be", "was", "been"),
    ("have", "had", "-"),
    ("do", "did", "done"),
    ("go", "went", "gone"),
    ("get", "got", "gotten"),
    ("make", "made", "-"),
    ("take", "took", "taken"),
    ("come", "came", "come"),
    ("see", "saw", "seen"),
    ("know", "knew", "known"),
    ("think", "thought", "-"),
    ("find", "found", "-"),
    ("give", "gave", "given"),
    ("tell", "told", "-"),
    ("become", "became", "become"),
    ("leave", "left", "-"),
    ("feel", "felt", "-"),
    ("bring", "brought", "-"),
    ("begin", "began", "begun"),
    ("keep", "kept", "-"),
    ("hold", "held", "-"),
    ("write", "wrote", "written"),
    ("stand", "stood", "-"),
    ("hear", "heard", "-"),
    ("mean", "meant", "-"),
    ("meet", "met", "-"),
    ("run", "ran", "run"),
    ("pay", "paid", "-"),
    ("sit", "sat", "-"),
    ("speak", "spoke", "spoken"),
    ("lead", "led", "-"),
    ("grow", "grew", "grown"),
    ("lose", "lost", "-"),
    ("fall", "fell", "fallen"),
    ("send", "sent", "-"),
    ("build", "built", "-"),
    ("understand", "understood", "-"),
    ("draw", "drew", "drawn"),
    ("break", "broke", "broken"),
    ("spend", "spent", "-"),
    ("rise", "rose", "risen"),
    ("drive", "drove", "driven"),
    ("buy", "bought", "-"),
    ("wear", "wore", "worn"),
    ("choose", "chose", "chosen"),
    ("eat", "ate", "eaten"),
    ("drink", "drank", "drunk"),
    ("swim", "swam", "swum"),
    ("sing", "sang", "sung"),
    ("ride", "rode", "ridden"),
    ("fly", "flew", "flown"),
    ("win", "won", "-"),
    ("teach", "taught", "-"),
    ("sell", "sold", "-"),
    ("catch", "caught", "-"),
    ("fight", "fought", "-"),
    ("throw", "threw", "thrown"),
    ("sleep", "slept", "-"),
    ("wake", "woke", "woken"),
    ("forget", "forgot", "forgotten"),
    ("say", "said", "-"),
    ("learn", "learnt", "-"),
    ("dream", "dreamt", "-"),
    ("lend", "lent", "-"),
    ("hide", "hid", "hidden"),
    ("bear", "bore", "born"),
    ("shoot", "shot", "-"),
    ("feed", "fed", "-"),
    ("steal", "stole", "stolen"),
    ("tear", "tore", "torn"),
    ("bite", "bit", "bitten"),
    ("blow", "blew", "blown"),
    ("shake", "shook", "shaken"),
    ("hang", "hung", "-"),
    ("dig", "dug", "-"),
    ("strike", "struck", "-"),
    ("swear", "swore", "sworn"),
    ("freeze", "froze", "frozen"),
    ("forgive", "forgave", "forgiven"),
    ("rent", "rented", "-"),
    ("show", "showed", "shown"),
    ("quit", "quit", "-"),
    ("put", "put", "-"),
    ("cut", "cut", "-"),
    ("set", "set", "-"),
    ("hit", "hit", "-"),
    ("let", "let", "-"),
    ("cost", "cost", "-"),
    ("hurt", "hurt", "-"),
    ("read", "read", "-"),
    ("bet", "bet", "-"),
    ("split", "split", "-"),
    ("shut", "shut", "-"),
    ("beat", "beat", "beaten"),
    ("upset", "upset", "-"),
    ("spread", "spread", "-"),
    ("light", "lit", "-"),
    ("shine", "shone", "-"),
    ("bend", "bent", "-"),
    ("overcome", "overcame", "overcome"),
    ("withdraw", "withdrew", "withdrawn"),
    ("undergo", "underwent", "undergone"),
    ("rebuild", "rebuilt", "-"),
    ("outgrow", "outgrew", "outgrown"),
];

/// Verbs whose past looks like their base.
const SAME_PAST: [&str; 14] = [
    "quit", "put", "cut", "set", "hit", "let", "cost", "hurt", "read", "bet", "split", "shut",
    "upset", "spread",
];

/// Words in "-ed" that are base forms.
const BASE_ED: [&str; 8] = [
    "need", "feed", "speed", "succeed", "proceed", "exceed", "embed", "bleed",
];

/// Words in "-ing" that are no forms of verbs here.
const NOT_ING: [&str; 26] = [
    "thing",
    "something",
    "anything",
    "nothing",
    "everything",
    "morning",
    "evening",
    "king",
    "spring",
    "string",
    "ring",
    "amazing",
    "interesting",
    "boring",
    "exciting",
    "inspiring",
    "rewarding",
    "challenging",
    "relaxing",
    "during",
    "bring",
    "sing",
    "tempting",
    "awesome",
    "fascinating",
    "stunning",
];

/// The form of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbForm {
    /// Base form or third person.
    Present,
    /// Past, or a participle.
    Past,
    /// "-ing".
    Progressive,
    /// Past and base look the same.
    Either,
}

/// The base form of a verb, and the form that a word has. Words that are no verbs give some base form, too.
pub(crate) fn base_form(word: &str) -> (String, VerbForm) {
    use VerbForm::{Either, Past, Present, Progressive};
    match word {
        "am" | "is" | "are" | "be" => return ("be".into(), Present),
        "was" | "were" | "been" => return ("be".into(), Past),
        "being" => return ("be".into(), Progressive),
        "has" => return ("have".into(), Present),
        "does" => return ("do".into(), Present),
        "goes" => return ("go".into(), Present),
        "cannot" => return ("can".into(), Present),
        _ => {}
    }
    if SAME_PAST.contains(&word) {
        return (word.into(), Either);
    }
    if IRREGULAR.iter().any(|(base, ..)| *base == word) {
        return (word.into(), Present);
    }
    if let Some((base, ..)) = IRREGULAR
        .iter()
        .find(|(_, past, done)| *past == word || *done == word)
    {
        return ((*base).into(), Past);
    }
    if let Some(front) = word
        .strip_suffix("ing")
        .filter(|f| f.len() > 1 && !NOT_ING.contains(&word))
    {
        return (undone(front), Progressive);
    }
    if let Some(front) = word.strip_suffix("ied").filter(|f| f.len() > 1) {
        let base = match word {
            "died" | "tied" | "lied" => format!("{front}ie"),
            _ => format!("{front}y"),
        };
        return (base, Past);
    }
    if let Some(front) = word
        .strip_suffix("ed")
        .filter(|f| f.len() > 1 && !BASE_ED.contains(&word))
    {
        return (undone(front), Past);
    }
    (singular(word), Present)
}

/// The verb whose ending was cut: "lik" → "like", "plann" → "plan", "work" → "work".
fn undone(front: &str) -> String {
    const WITH_E: [&str; 8] = [
        "creat", "writ", "graduat", "celebrat", "donat", "hik", "bik", "us",
    ];
    let bytes = front.as_bytes();
    let [.., before, last] = bytes else {
        return front.to_owned();
    };
    let is_vowel = |b: u8| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u');
    if before == last && !matches!(last, b'l' | b's' | b'e' | b'o' | b'z' | b'f') {
        return front[..front.len() - 1].to_owned();
    }
    // "travell", "cancell"; "call", "sell" and "tell" are as they are.
    if front.ends_with("ell") && front.len() > 5 || front.ends_with("ncell") {
        return front[..front.len() - 1].to_owned();
    }
    let takes_e = WITH_E.contains(&front)
        || matches!(last, b'v' | b'c' | b'z' | b'u')
        || *last == b'g' && !front.ends_with("ng") && *before != b'o'
        || front.ends_with("ang")
        || front.ends_with("at") && front.len() > 3 && !is_vowel(bytes[bytes.len() - 3])
        || *last == b's' && is_vowel(*before) && !matches!(front, "focus" | "bias")
        || *last == b'r'
            && matches!(before, b'i' | b'o' | b'u' | b'a')
            && bytes.len() > 2
            && !is_vowel(bytes[bytes.len() - 3])
        || front.ends_with("dl")
        || front.ends_with("tl")
        || front.ends_with("bl")
        || front.ends_with("pl")
        || front.ends_with("cl")
        || ends_in_one_vowel_and(front, b"kdtmnp");
    if takes_e && !WITHOUT_E.contains(&front) {
        format!("{front}e")
    } else {
        front.to_owned()
    }
}

/// Verbs that end like ones with a silent e.
const WITHOUT_E: [&str; 40] = [
    "develop",
    "visit",
    "edit",
    "open",
    "happen",
    "listen",
    "need",
    "feel",
    "start",
    "garden",
    "train",
    "order",
    "commit",
    "exit",
    "benefit",
    "limit",
    "credit",
    "market",
    "target",
    "budget",
    "rocket",
    "attend",
    "spend",
    "recover",
    "deliver",
    "offer",
    "wander",
    "transform",
    "perform",
    "limit",
    "inherit",
    "deposit",
    "interpret",
    "pivot",
    "audit",
    "profit",
    "cook",
    "look",
    "season",
    "question",
];

/// True for one consonant behind one vowel behind a consonant: "hop", "bak", "driv", as "hope", "bake", "drive".
fn ends_in_one_vowel_and(front: &str, last: &[u8]) -> bool {
    let bytes = front.as_bytes();
    let is_vowel = |b: u8| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let n = bytes.len();
    n >= 3
        && last.contains(&bytes[n - 1])
        && is_vowel(bytes[n - 2])
        && !is_vowel(bytes[n - 3])
        && bytes[n - 2] != b'e'
        || n == 2 && is_vowel(bytes[0]) && last.contains(&bytes[1])
}

/// A third person or plural without its ending.
pub(crate) fn singular(word: &str) -> String {
    if word.len() < 4 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    if let Some(front) = word.strip_suffix("ies").filter(|f| f.len() > 1) {
        return format!("{front}y");
    }
    for end in ["sses", "shes", "ches", "xes", "zzes"] {
        if word.ends_with(end) {
            return word[..word.len() - 2].to_owned();
        }
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// The third person of a verb in its base form: "study" → "studies".
pub(crate) fn third_person(base: &str) -> String {
    match base {
        "be" | "am" | "are" => return "is".into(),
        "have" => return "has".into(),
        "do" => return "does".into(),
        "go" => return "goes".into(),
        "can" | "cannot" | "will" | "would" | "could" | "should" | "must" | "may" | "might"
        | "shall" => {
            return base.into();
        }
        _ => {}
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| base.ends_with(end));
    let before_y = base.strip_suffix('y');
    if let Some(front) = before_y.filter(|f| !f.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        return format!("{front}ies");
    }
    if ends(&["s", "sh", "ch", "x", "z"]) {
        return format!("{base}es");
    }
    format!("{base}s")
}

/// Verbs that follow "my X": those that are no nouns as well.
pub(crate) fn is_plain_verb(word: &str) -> bool {
    const VERBS: [&str; 34] = [
        "be", "have", "live", "love", "like", "hate", "enjoy", "want", "need", "go", "get",
        "become", "start", "move", "say", "teach", "study", "speak", "prefer", "do", "can", "will",
        "buy", "make", "take", "give", "come", "pass", "die", "break", "graduate", "marry", "win",
        "lose",
    ];
    let (base, form) = base_form(word);
    let is_third =
        form == VerbForm::Past || word.ends_with('s') || matches!(&*base, "be" | "can" | "will");
    is_third && VERBS.contains(&base.as_str())
        || form == VerbForm::Past && word.ends_with("ed")
        || works(word)
}

fn works(word: &str) -> bool {
    matches!(
        word,
        "works"
            | "plays"
            | "runs"
            | "uses"
            | "owns"
            | "turns"
            | "wants"
            | "are"
            | "have"
            | "live"
            | "work"
            | "love"
            | "like"
    )
}

#[cfg(test)]
mod tests {
    use super::VerbForm::*;
    use super::*;

    #[test]
    fn forms_lead_to_the_base() {
        for (word, base, form) in [
            ("lives", "live", Present),
            ("living", "live", Progressive),
            ("lived", "live", Past),
            ("moved", "move", Past),
            ("planning", "plan", Progressive),
            ("studied", "study", Past),
            ("studies", "study", Present),
            ("watches", "watch", Present),
            ("working", "work", Progressive),
            ("bought", "buy", Past),
            ("quit", "quit", Either),
            ("need", "need", Present),
            ("uses", "use", Present),
            ("using", "use", Progressive),
            ("hiking", "hike", Progressive),
            ("baked", "bake", Past),
            ("cooking", "cook", Progressive),
            ("developing", "develop", Progressive),
            ("visited", "visit", Past),
            ("started", "start", Past),
            ("travelling", "travel", Progressive),
            ("traveled", "travel", Past),
            ("calling", "call", Progressive),
            ("volunteering", "volunteer", Progressive),
            ("graduated", "graduate", Past),
            ("decided", "decide", Past),
            ("preferred", "prefer", Past),
            ("exploring", "explore", Progressive),
            ("hired", "hire", Past),
            ("managing", "manage", Progressive),
            ("married", "marry", Past),
            ("adopted", "adopt", Past),
            ("painted", "paint", Past),
            ("joined", "join", Past),
            ("switched", "switch", Past),
            ("hoping", "hope", Progressive),
            ("writing", "write", Progressive),
            ("riding", "ride", Progressive),
            ("attended", "attend", Past),
            ("considering", "consider", Progressive),
            ("smoking", "smoke", Progressive),
            ("smokes", "smoke", Present),
            ("running", "run", Progressive),
            ("was", "be", Past),
            ("goes", "go", Present),
            ("practicing", "practice", Progressive),
            ("finished", "finish", Past),
            ("signed", "sign", Past),
            ("donated", "donate", Past),
            ("organized", "organize", Past),
            ("owned", "own", Past),
            ("renovating", "renovate", Progressive),
            ("relocated", "relocate", Past),
            ("drinking", "drink", Progressive),
            ("training", "train", Progressive),
            ("cycling", "cycle", Progressive),
            ("cancelled", "cancel", Past),
        ] {
            assert_eq!(base_form(word), (base.to_owned(), form), "{word}");
        }
    }

    #[test]
    fn third_persons_are_spelled_as_usual() {
        for (base, third) in [
            ("like", "likes"),
            ("study", "studies"),
            ("play", "plays"),
            ("watch", "watches"),
            ("have", "has"),
            ("be", "is"),
            ("can", "can"),
            ("miss", "misses"),
            ("go", "goes"),
        ] {
            assert_eq!(third_person(base), third);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_panics(word in "\\PC{0,8}|[a-z]{0,6}(ing|ed|ies|s|ied)?") {
            let _ = (base_form(&word), third_person(&word), singular(&word));
        }
    }
}
