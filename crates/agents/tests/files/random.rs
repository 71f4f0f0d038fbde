//! Random JSON with comments: whatever stands in a file, connect and disconnect give back its bytes.

use amem_agents::AgentClient;
use proptest::prelude::*;

use crate::rig::Rig;

/// White space and comments between two tokens.
fn gap() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        2 => Just("\r\n\t".to_owned()),
        1 => Just(" // a note, with [brackets] and \"quotes\"\n".to_owned()),
        1 => Just("/* a, b */".to_owned()),
        1 => Just("/* two\n lines */".to_owned()),
        1 => Just(" // trailing  \r\n".to_owned()),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("123456789012345678901".to_owned()),
        Just("\"// no comment, \\\" {\"".to_owned()),
        Just("\"é\\u00e9 \\\\\"".to_owned()),
    ]
}

/// Joins members or elements, perhaps with a comma after the last one.
fn listed(open: char, close: char, parts: Vec<(String, String)>, last: bool, end: &str) -> String {
    let count = parts.len();
    let mut out = String::from(open);
    for (at, (part, gap)) in parts.into_iter().enumerate() {
        out += &part;
        out += &gap;
        if at + 1 < count || last {
            out.push(',');
        }
    }
    out + end + &close.to_string()
}

fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        let part = (gap(), inner, gap());
        let parts = prop::collection::vec(part, 0..4);
        (parts, any::<bool>(), any::<bool>(), gap()).prop_map(|(parts, is_object, last, end)| {
            let parts = parts.into_iter().enumerate();
            let parts = parts.map(|(at, (front, value, back))| match is_object {
                true => (format!("{front}\"k{at}\"{front}:{back}{value}"), back),
                false => (format!("{front}{value}"), back),
            });
            let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
            listed(open, close, parts.collect(), last, &end)
        })
    })
}

/// An object as settings are: other keys, and perhaps the ones that get entries.
fn settings() -> impl Strategy<Value = String> {
    let hooks =
        (gap(), value(), gap(), any::<bool>()).prop_map(|(front, value, back, is_there)| {
            if is_there {
                format!("{{{front}\"Stop\": [{front}{value}{back}]{back}}}")
            } else {
                format!("{{{front}{back}}}")
            }
        });
    let servers = (gap(), value(), gap(), any::<bool>()).prop_map(|(front, value, back, last)| {
        let comma = if last { "," } else { "" };
        format!("{{{front}\"git\":{value}{back}{comma}{back}}}")
    });
    let member = prop_oneof![
        3 => value().prop_map(|value| ("other", value)),
        2 => servers.prop_map(|value| ("mcpServers", value)),
        2 => hooks.prop_map(|value| ("hooks", value)),
    ];
    let members = prop::collection::vec((gap(), member, gap()), 0..5);
    (gap(), members, any::<bool>(), gap(), any::<bool>()).prop_map(
        |(front, members, last, end, has_bom)| {
            let mut names = Vec::new();
            let mut parts = Vec::new();
            for (at, (front, (name, value), back)) in members.into_iter().enumerate() {
                let name = if name == "other" {
                    format!("other{at}")
                } else {
                    name.to_owned()
                };
                if !names.contains(&name) {
                    parts.push((format!("{front}\"{name}\"{back}:{front}{value}"), back));
                    names.push(name);
                }
            }
            let last = last && !parts.is_empty();
            let bom = if has_bom { "\u{feff}" } else { "" };
            format!("{bom}{front}{}{end}", listed('{', '}', parts, last, &end))
        },
    )
}

/// Commas of empty lists are no JSON.
fn is_valid(text: &str) -> bool {
    let rig = Rig::new();
    rig.write(".gemini/settings.json", text);
    let locations = rig.locations();
    amem_agents::status(&locations, AgentClient::Gemini, &rig.program()).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_settings_get_back_their_bytes(text in settings()) {
        prop_assume!(is_valid(&text));
        let rig = Rig::new();
        rig.write(".gemini/settings.json", &text);
        rig.round_trip(AgentClient::Gemini, ".gemini/settings.json");
    }

    /// Without the record, layout may differ where ours was alone; entries, comments and other bytes do not.
    #[test]
    fn random_settings_lose_nothing_without_the_record(text in settings()) {
        prop_assume!(is_valid(&text));
        let rig = Rig::new();
        rig.write(".gemini/settings.json", &text);
        rig.connect(AgentClient::Gemini);
        rig.remove(".local/state/amem/connected.json");
        rig.disconnect(AgentClient::Gemini);
        let left = rig.read(".gemini/settings.json");
        prop_assert!(!left.contains("amemctl"), "{}", left);
        let bare = |text: &str| {
            let text = text.replace("\"mcpServers\"", "").replace("\"hooks\"", "");
            text.chars().filter(|c| !c.is_whitespace() && !",:{}[]".contains(*c)).collect::<String>()
        };
        prop_assert_eq!(bare(&left), bare(&text), "{}", left);
    }
}
