//! Prompts that a person picks: `brief`, `why`, `handoff`.

use serde_json::json;

use crate::answer::{entry_line, id_of};
use crate::arguments::Words;
use crate::brief::known;
use crate::calls::MemoryCalls;
use crate::limits::{LINE_CHARS_MAX, WHY_TOKENS};
use crate::memories::{Memories, asked};
use crate::resources::call;
use crate::tools::found_by;

/// A prompt: name, what it does, and its argument, if it has one.
pub(crate) struct PromptForm {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) argument: Option<(&'static str, &'static str)>,
}

/// All of them.
pub(crate) const PROMPTS: [PromptForm; 3] = [
    PromptForm {
        name: "brief",
        description: "What is known of this project and user, in short",
        argument: None,
    },
    PromptForm {
        name: "why",
        description: "Why a memory is believed, with its reasons and earlier versions",
        argument: Some((
            "id",
            "The memory: its id, such as e43, or words that find it",
        )),
    },
    PromptForm {
        name: "handoff",
        description: "Store what the next session needs, before this one ends",
        argument: None,
    },
];

const HANDOFF: &str = "This session ends soon, and the next one knows only what is in memory. Store what it needs and \
                       cannot read from the repository: one remember for each decision with its reason (type decision, \
                       because), each working procedure (type skill), and one short account of what was done and what \
                       is open (type episode). Correct what turned out wrong. What is known already:";

/// The text of a prompt; `None` if there is no such prompt.
pub(crate) async fn text<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    name: &str,
    argument: Option<&str>,
) -> Option<Words<String>> {
    Some(match name {
        "brief" => known(memories).await,
        "why" => match argument {
            Some(memory) => why(memories, memory).await,
            None => Err(
                "the prompt why needs a memory: its id, such as e43, or words that find it"
                    .to_owned(),
            ),
        },
        "handoff" => known(memories)
            .await
            .map(|known| format!("{HANDOFF}\n{known}")),
        _ => return None,
    })
}

/// Why a memory is believed, by its id or by words that find it.
async fn why<C: MemoryCalls>(memories: &Memories<'_, C>, memory: &str) -> Words<String> {
    let memory = memory.trim();
    if memory.is_empty() {
        return Err("the memory of the prompt why is empty: give its id, such as e43, or words that find it".to_owned());
    }
    let id = match asked(memory) {
        Ok(_) => memory.to_owned(),
        Err(_) => match found_by(memories, memory).await? {
            Ok(fact) => id_of(fact.event_id),
            Err(said) => {
                let line = entry_line(&said, memories.place, LINE_CHARS_MAX);
                return Ok(format!(
                    "Explain in plain words why this is known:\n{line}\nthese are the words themselves: no memory was \
                     formed of them, and no reasons were given"
                ));
            }
        },
    };
    let tree = call(memories, "why", json!({"id": id, "max_tokens": WHY_TOKENS})).await;
    tree.map(|tree| format!("Explain in plain words why this is believed:\n{tree}"))
}
