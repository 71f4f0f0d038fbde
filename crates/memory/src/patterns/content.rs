//! What is left of a clause without its small words: a fact says something of something.

use std::collections::HashSet;
use std::sync::OnceLock;

use amem_format::analyzer::is_stop_word;

use crate::text::tokens::Token;

use crate::text::predicate::is_adverb;

/// Words that name nothing: pronouns, judgements, and nouns for anything.
const VAGUE: &str = " i me my mine myself we us our you your yours he him his she her hers it its they them their theirs this that \
    these those one ones thing things stuff something anything everything nothing someone anyone everyone here there \
    way ways lot lots bit kind sort much many more most some any all few other others another same such own even \
    good great nice cool fine okay ok well bad better best awesome amazing wonderful fantastic super fun lovely \
    happy glad sad sorry sure ready excited thrilled pumped stoked grateful thankful proud honored honoured lucky curious \
    right wrong true interesting important hard easy tough big small new old real really totally definitely \
    always never ever just also still yet now then today soon already again maybe perhaps absolutely truly \
    sense idea ideas point question questions time times moment while day luck care part sake fact case reason deal \
    like love enjoy hope think know feel want need mean guess believe agree understand hear see say said tell told talk \
    talking go going went come came get got getting do did done doing make made making take took taken taking try trying tried \
    keep keeping kept start started look looking looked give gave given have had having be been being am is are was were \
    will would can could should might may must to of in on at for with from by about into over after before up down out off \
    and or but so because as if when than too very such what which who whom whose how why where not no yes please thanks \
    thank haha lol hey hi yeah wow oh user forward back around together lately recently quite pretty little less least \
    exactly certainly probably actually honestly bunch couple inspiring rewarding challenging tired busy blessed touched \
    difference options option milestone gains progress event events somewhere news check memories ton month months year years week weeks days hours hour minutes minute ago feeling feelings mood mind heart support welcome help helping helped chat chatted chatting catch caught ";

/// True if the token names something.
pub(crate) fn is_content(token: &Token) -> bool {
    let word = token.lower.as_str();
    if word.is_empty()
        || word.len() < 2 && !token.has_digit()
        || is_adverb(token)
        || is_stop_word(word)
    {
        return false;
    }
    let word = word.strip_suffix("'s").unwrap_or(word);
    static VAGUE_WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let vague = VAGUE_WORDS.get_or_init(|| VAGUE.split_ascii_whitespace().collect());
    !vague.contains(word)
}

/// True if any of the tokens names something.
pub(crate) fn has_content(tokens: &[Token]) -> bool {
    tokens.iter().any(is_content)
}

/// True if a text names something.
pub(crate) fn has_content_words(text: &str) -> bool {
    has_content(&crate::text::tokens::tokens(text))
}
