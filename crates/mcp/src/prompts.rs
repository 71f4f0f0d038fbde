//! Prompts that a person picks: `brief`, `why`, `handoff`.

use serde_json::json;

use crate::arguments::Words;
use crate::brief::known;
use crate::calls::MemoryCalls;
use crate::memories::Memories;
use crate::resources::call;

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
        argument: Some(("id", "The memory, such as e43")),
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
            Some(id) => {
                let tree = call(memories, "why", json!({"id": id, "max_tokens": 1_600})).await;
                tree.map(|tree| format!("Explain in plain words why this is believed:\n{tree}"))
            }
            None => Err("the prompt why needs an id, such as e43".to_owned()),
        },
        "handoff" => known(memories)
            .await
            .map(|known| format!("{HANDOFF}\n{known}")),
        _ => return None,
    })
}
