//! Words of requests: what a question or an instruction says to an assistant, whatever it is about.
//!
//! They count for the ranking, as a text that has them may be meant. They say nothing of whether a brain knows what is
//! asked: most texts of conversations with assistants have them.
//!
//! Not here: stop words, which are no terms (`languages`).

use std::collections::HashSet;
use std::sync::OnceLock;

use amem_format::analyzer::{Analyzer, Scratch, is_aside};

/// The ends of questions: of most languages, of Chinese and Japanese, of Arabic.
pub const QUESTION_MARKS: [char; 3] = ['?', '\u{ff1f}', '\u{61f}'];

/// What parts clauses.
const BREAKS: [char; 8] = [',', ';', ':', '–', '—', '、', '，', '،'];

/// True if a term is a word of requests.
pub fn is_request(term: &str) -> bool {
    static TERMS: OnceLock<HashSet<Box<str>>> = OnceLock::new();
    TERMS.get_or_init(|| terms_of(WORDS)).contains(term)
}

fn terms_of(words: &[&[&str]]) -> HashSet<Box<str>> {
    let (analyzer, mut scratch, mut terms) = (Analyzer::new(), Scratch::default(), HashSet::new());
    for word in words.iter().flat_map(|words| words.iter()) {
        analyzer.for_each_term(word, &mut scratch, |term| {
            if !is_aside(term) {
                terms.insert(term.into());
            }
        });
    }
    terms
}

/// True if a text only asks and says nothing: each sentence is a question of one clause, or begins with a word of
/// requests. "I have a call at 3, can you remind me?" says something.
pub fn only_asks(text: &str) -> bool {
    let mut sentences = sentences(text).peekable();
    sentences.peek().is_some() && sentences.all(|one| is_question(one) || begins_with_request(one))
}

/// True if each sentence of a text is a question of one clause.
pub fn only_questions(text: &str) -> bool {
    let mut sentences = sentences(text).peekable();
    sentences.peek().is_some() && sentences.all(is_question)
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with(QUESTION_MARKS) && !sentence.contains(BREAKS)
}

/// True if a text has no words but those of assent, as an answer that says nothing: "Done.", "OK, thank you".
pub fn only_assents(text: &str) -> bool {
    static KNOWN: OnceLock<HashSet<&str>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        ASSENT
            .iter()
            .flat_map(|words| words.iter().copied())
            .collect()
    });
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| known.contains(word))
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_inclusive(|c: char| c == '\n' || is_end(c));
    parts
        .map(str::trim)
        .filter(|part| part.chars().any(char::is_alphanumeric))
}

fn is_end(c: char) -> bool {
    c == '.' || c == '!' || c == '\u{3002}' || c == '\u{ff01}' || QUESTION_MARKS.contains(&c)
}

fn begins_with_request(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    let (analyzer, mut scratch, mut is_one) = (Analyzer::new(), Scratch::default(), false);
    analyzer.for_each_term(first, &mut scratch, |term| is_one |= is_request(term));
    is_one
}

/// English, German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese.
#[rustfmt::skip]
const WORDS: &[&[&str]] = &[
    &[
        "add", "answer", "ask", "assume", "briefly", "calculate", "choose", "classify", "compare", "compose",
        "compute", "conclusion", "convert", "correct", "create", "describe", "description", "design", "detail",
        "detect", "determine", "develop", "discuss", "draft", "edit", "elaborate", "evaluate", "example", "explain",
        "explanation", "express", "extract", "fill", "find", "follow", "following", "format", "generate", "give",
        "given", "guess", "help", "identify", "imagine", "implement", "improve", "include", "input", "instruction",
        "interpret", "item", "know", "let", "list", "mention",
        "organize", "outline", "output", "paragraph", "phrase", "please", "produce", "propose", "provide", "question",
        "read", "rearrange", "recommend", "replace", "respond", "response", "result", "return", "rewrite",
        "scenario", "select", "sentence", "show", "solution", "solve", "sort",
        "specific", "step", "suggest", "summarize", "summary", "task", "tell", "text", "think",
        "translate", "understand", "verb", "word", "write",
    ],
    &[
        "antwort", "antworte", "antworten", "aufgabe", "beantworte", "beispiel", "bekannt", "berechne", "beschreibe",
        "bitte", "erkläre", "erstelle", "erzeuge", "fasse", "finde", "folgende", "folgenden", "frage", "gib", "gibst",
        "hilf", "liste", "mach", "mache", "nenne", "satz", "schreib", "schreibe", "sag", "suche", "text", "übersetze",
        "verbessere", "wort", "zeig", "zeige", "zusammenfassung",
    ],
    &[
        "aide", "calcule", "corrige", "crée", "décris", "donne", "écris", "exemple", "explique", "fais", "fournis",
        "génère", "liste", "mot", "montre", "paragraphe", "phrase", "question", "rédige", "réponds", "réponse",
        "résume", "suivant", "suivante", "texte", "traduis", "trouve",
    ],
    &[
        "ayuda", "calcula", "corrige", "crea", "dame", "describe", "ejemplo", "encuentra", "enumera", "escribe",
        "explica", "favor", "frase", "genera", "haz", "lista", "muestra", "oración", "palabra", "párrafo", "pregunta",
        "responde", "respuesta", "resume", "resumen", "siguiente", "texto", "traduce",
    ],
    &[
        "aiuta", "correggi", "crea", "dammi", "descrivi", "domanda", "elenca", "esempio", "fai", "favore", "frase",
        "mostra", "parola", "riassumi", "rispondi", "risposta", "scrivi", "seguente", "spiega", "testo", "traduci",
        "trova",
    ],
    &[
        "ajuda", "crie", "descreva", "encontre", "escreva", "exemplo", "explique", "faça", "favor", "frase", "gere",
        "liste", "mostre", "palavra", "pergunta", "responda", "resposta", "resuma", "seguinte", "texto", "traduza",
    ],
    &[
        "alsjeblieft", "antwoord", "beschrijf", "geef", "help", "leg", "lijst", "maak", "noem", "schrijf", "tekst",
        "toon", "vat", "vertaal", "volgende", "voorbeeld", "vraag", "woord", "zin", "zoek",
    ],
    &[
        "вопрос", "дай", "исправь", "напиши", "найди", "объясни", "опиши", "ответ", "ответь", "переведи", "перечисли",
        "покажи", "помоги", "пожалуйста", "предложение", "пример", "сделай", "следующий", "следующее", "слово",
        "создай", "список", "текст",
    ],
    &["以下", "列出", "解释", "描述", "翻译", "问题", "回答", "生成", "例子", "总结", "写"],
];

/// Words of assent and thanks, and those beside them, in the same languages, Japanese and Arabic. "Yes" and "no" are
/// answers.
#[rustfmt::skip]
const ASSENT: &[&[&str]] = &[
    &[
        "absolutely", "acknowledged", "all", "alright", "certainly", "completed", "course", "done", "finished", "for",
        "glad", "got", "great", "happy", "has", "have", "help", "i", "is", "it", "ll", "m", "noted", "of", "ok", "okay",
        "perfect", "right", "roger", "s", "sure", "task", "thank", "thanks", "that", "the", "this", "to",
        "understood", "ve", "welcome", "will", "you",
    ],
    &["alles", "danke", "das", "erledigt", "es", "fertig", "gern", "gerne", "gut", "ist", "klar", "natürlich", "verstanden"],
    &["accord", "bien", "c", "compris", "d", "entendu", "est", "fait", "merci", "parfait", "sûr", "terminé", "volontiers"],
    &["claro", "de", "entendido", "está", "gracias", "hecho", "listo", "perfecto", "por", "supuesto", "vale"],
    &["bene", "capito", "certo", "fatto", "grazie", "perfetto", "va"],
    &["feito", "obrigada", "obrigado", "pronto"],
    &["bedankt", "begrepen", "gedaan", "goed", "klaar", "natuurlijk"],
    &["готово", "конечно", "ладно", "понял", "поняла", "сделано", "спасибо", "хорошо"],
    &["完成", "已完成", "好的", "明白", "明白了", "没问题", "谢谢"],
    &["ありがとう", "了解", "了解しました", "完了", "完了しました"],
    &["تم", "حسنا", "شكرا"],
];

#[cfg(test)]
mod tests {
    use super::{is_request, only_asks, only_assents};

    #[test]
    fn an_answer_of_assent_says_nothing() {
        for text in [
            "Done.",
            "OK, thank you!",
            "Sure, I'm happy to help.",
            "Erledigt.",
            "Понял, спасибо",
            "好的",
            "了解しました",
            "تم",
        ] {
            assert!(only_assents(text), "{text}");
        }
        for text in [
            "5433.",
            "Yes.",
            "Done: port 5433",
            "Postgres, of course",
            "…",
            "",
        ] {
            assert!(!only_assents(text), "{text}");
        }
    }

    #[test]
    fn what_only_asks_differs_from_what_says_something() {
        for text in [
            "Write a knock knock joke about bananas.",
            "Answer the following question. Select A, B or C.",
            "how many hospitals are there in Ulm?",
            "Schreibe ein Gedicht!",
            "Which package manager do we use? Please use recall with query: package manager.",
            "列出 三个城市。",
            "¿Qué puerto usa staging?",
        ] {
            assert!(only_asks(text), "{text}");
        }
        for text in [
            "The port is 5433. Which one do you use?",
            "We write it in Rust.",
            "I have a call at 3 PM, can you remind me?",
            "Write it down: the port is 5433. It never changes.",
            "Deploys are on Friday.",
            "…",
            "",
        ] {
            assert!(!only_asks(text), "{text}");
        }
    }

    #[test]
    fn words_of_requests_are_known_by_their_terms() {
        for term in ["write", "summar", "schreib", "напиши", "列出"] {
            let is_known = is_request(term);
            assert!(is_known, "{term}");
        }
        for term in ["port", "postgr", "deploy", "peanut"] {
            assert!(!is_request(term), "{term}");
        }
    }
}
