//! The tools of the knowledge graph server: entities, observations and relations, each a memory of its own, so that
//! two writers change nothing of each other.

use std::collections::{HashMap, HashSet};

use amem_proto::v1;
use serde_json::{Map, Value, json};

use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{GRAPH_SIZE_MAX, STATEMENT_BYTES_MAX};
use crate::memories::{Memories, in_words, write_again};
use crate::memory_place::Reach;

/// The key of metadata under which a part of the graph is.
const GRAPH: &str = "graph";

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    tool: &str,
    mut arguments: Arguments<'_>,
) -> Option<Words<String>> {
    let answer = match tool {
        "create_entities" => create_entities(memories, &mut arguments).await,
        "create_relations" => create_relations(memories, &mut arguments).await,
        "add_observations" => add_observations(memories, &mut arguments).await,
        "delete_entities" => delete_entities(memories, &mut arguments).await,
        "delete_observations" => delete_observations(memories, &mut arguments).await,
        "delete_relations" => delete_relations(memories, &mut arguments).await,
        "read_graph" => read(memories, |_| true).await,
        "search_nodes" => match arguments.needed("query") {
            Ok(query) => {
                let query = query.to_lowercase();
                let has = |text: &str| text.to_lowercase().contains(&query);
                read(memories, |entity: &Entity| {
                    has(&entity.name)
                        || has(&entity.kind)
                        || entity.observations.iter().any(|o| has(&o.text))
                })
                .await
            }
            Err(words) => Err(words),
        },
        "open_nodes" => match arguments.texts("names") {
            Ok(names) => read(memories, |entity: &Entity| names.contains(&entity.name)).await,
            Err(words) => Err(words),
        },
        _ => return None,
    };
    Some(answer.map(|value| match value {
        Value::String(text) => text,
        value => format!("{value:#}"),
    }))
}

struct Observation {
    id: String,
    text: String,
}

struct Entity {
    id: String,
    name: String,
    kind: String,
    observations: Vec<Observation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Relation {
    from: String,
    to: String,
    kind: String,
}

#[derive(Default)]
struct Graph {
    entities: Vec<Entity>,
    relations: Vec<(String, Relation)>,
}

impl Graph {
    fn entity(&mut self, name: &str) -> Option<&mut Entity> {
        self.entities.iter_mut().find(|entity| entity.name == name)
    }
}

fn word<'m>(object: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    object.get(name)?.as_str()
}

/// A text of an object of arguments.
fn needed(object: &Map<String, Value>, name: &str) -> Words<String> {
    let text = word(object, name).filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| format!("{name:?} is missing, or no text"))?;
    if text.len() > STATEMENT_BYTES_MAX {
        return Err(format!(
            "{name:?} has {} bytes, and {STATEMENT_BYTES_MAX} is the most",
            text.len()
        ));
    }
    Ok(text.to_owned())
}

fn needed_texts(object: &Map<String, Value>, name: &str) -> Words<Vec<String>> {
    let items = object.get(name).and_then(Value::as_array);
    let items = items.ok_or_else(|| format!("{name:?} is missing, or no list"))?;
    let text = |item: &Value| item.as_str().map(str::to_owned);
    let texts: Option<Vec<String>> = items.iter().map(text).collect();
    texts.ok_or_else(|| format!("{name:?} is a list of texts"))
}

fn relation_of(object: &Map<String, Value>) -> Words<Relation> {
    Ok(Relation {
        from: needed(object, "from")?,
        to: needed(object, "to")?,
        kind: needed(object, "relationType")?,
    })
}

fn reach<C>(memories: &Memories<'_, C>) -> Reach {
    match memories.place.project {
        Some(_) => Reach::Project,
        None => Reach::User,
    }
}

/// The graph of the project, or of the user where there is none.
async fn graph<C: MemoryCalls>(memories: &Memories<'_, C>) -> Words<Graph> {
    let and = vec![json!({"metadata.graph.part": "*"})];
    let facts = memories
        .list(reach(memories), and, GRAPH_SIZE_MAX, None)
        .await?;
    let mut graph = Graph::default();
    let (mut at, mut seen) = (HashMap::new(), HashSet::new());
    let mut observations = Vec::new();
    // The oldest first, as they were made.
    for fact in facts.into_iter().rev() {
        let metadata: Value = serde_json::from_str(&fact.metadata_json).unwrap_or_default();
        let Some(part) = metadata.get(GRAPH).and_then(Value::as_object) else {
            continue;
        };
        match word(part, "part") {
            Some("entity") => {
                let (Some(name), Some(kind)) = (word(part, "name"), word(part, "entityType"))
                else {
                    continue;
                };
                // Two clients may have made it at once.
                if !at.contains_key(name) {
                    at.insert(name.to_owned(), graph.entities.len());
                    graph.entities.push(Entity {
                        id: fact.id,
                        name: name.to_owned(),
                        kind: kind.to_owned(),
                        observations: Vec::new(),
                    });
                }
            }
            Some("observation") => {
                let (Some(name), Some(text)) = (word(part, "name"), word(part, "text")) else {
                    continue;
                };
                let observation = Observation {
                    id: fact.id,
                    text: text.to_owned(),
                };
                observations.push((name.to_owned(), observation));
            }
            Some("relation") => {
                if let Ok(relation) = relation_of(part)
                    && seen.insert(relation.clone())
                {
                    graph.relations.push((fact.id, relation));
                }
            }
            _ => {}
        }
    }
    for (name, observation) in observations {
        let entity = at.get(&name).and_then(|at| graph.entities.get_mut(*at));
        if let Some(entity) = entity
            && !entity
                .observations
                .iter()
                .any(|known| known.text == observation.text)
        {
            entity.observations.push(observation);
        }
    }
    Ok(graph)
}

/// Stores a part.
async fn store<C: MemoryCalls>(memories: &Memories<'_, C>, text: String, part: Value) -> Words<()> {
    let request = v1::AddFactsRequest {
        brain: memories.brain(),
        messages: vec![v1::FactMessage {
            text,
            ..v1::FactMessage::default()
        }],
        scope: Some(memories.scope(Reach::All)?),
        infer: Some(false),
        metadata_json: json!({GRAPH: part}).to_string(),
        options: memories.options(),
        ..v1::AddFactsRequest::default()
    };
    let added = write_again(|| memories.calls.add_facts(request.clone())).await;
    added.map(|_| ()).map_err(in_words)
}

async fn store_observation<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    name: &str,
    text: &str,
) -> Words<()> {
    let part = json!({"part": "observation", "name": name, "text": text});
    store(memories, format!("{name}: {text}"), part).await
}

async fn end<C: MemoryCalls>(memories: &Memories<'_, C>, id: String) -> Words<()> {
    let request = v1::DeleteFactRequest {
        brain: memories.brain(),
        id,
        options: memories.options(),
        ..v1::DeleteFactRequest::default()
    };
    let done = write_again(|| memories.calls.delete_fact(request.clone())).await;
    done.map(|_| ()).map_err(in_words)
}

fn shown(name: &str, kind: &str, observations: &[String]) -> Value {
    json!({"name": name, "entityType": kind, "observations": observations})
}

async fn create_entities<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let mut asked = Vec::new();
    for entity in arguments.objects("entities")? {
        let (name, kind) = (needed(&entity, "name")?, needed(&entity, "entityType")?);
        asked.push((name, kind, needed_texts(&entity, "observations")?));
    }
    let mut graph = graph(memories).await?;
    let mut made = Vec::new();
    for (name, kind, observations) in asked {
        if graph.entity(&name).is_some()
            || made
                .iter()
                .any(|known: &Value| known["name"] == name.as_str())
        {
            continue;
        }
        let part = json!({"part": "entity", "name": name, "entityType": kind});
        store(memories, format!("{name} is a {kind}"), part).await?;
        for text in &observations {
            store_observation(memories, &name, text).await?;
        }
        made.push(shown(&name, &kind, &observations));
    }
    Ok(Value::Array(made))
}

async fn create_relations<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let asked = arguments.objects("relations")?;
    let asked: Vec<Relation> = asked.iter().map(relation_of).collect::<Words<_>>()?;
    let graph = graph(memories).await?;
    let mut known: HashSet<Relation> = graph
        .relations
        .into_iter()
        .map(|(_, known)| known)
        .collect();
    let mut made = Vec::new();
    for relation in asked {
        if !known.insert(relation.clone()) {
            continue;
        }
        let Relation { from, to, kind } = &relation;
        let shown = json!({"from": from, "to": to, "relationType": kind});
        let mut part = shown.clone();
        part["part"] = json!("relation");
        store(memories, format!("{from} {kind} {to}"), part).await?;
        made.push(shown);
    }
    Ok(Value::Array(made))
}

async fn add_observations<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let mut asked = Vec::new();
    for one in arguments.objects("observations")? {
        asked.push((needed(&one, "entityName")?, needed_texts(&one, "contents")?));
    }
    let mut graph = graph(memories).await?;
    if let Some((name, _)) = asked.iter().find(|(name, _)| graph.entity(name).is_none()) {
        return Err(format!("Entity with name {name} not found"));
    }
    let mut out = Vec::new();
    for (name, contents) in asked {
        let mut added = Vec::new();
        for text in contents {
            let entity = graph.entity(&name);
            let is_known = entity.is_some_and(|entity| {
                let is_known = entity.observations.iter().any(|known| known.text == text);
                if !is_known {
                    let id = String::new();
                    entity.observations.push(Observation {
                        id,
                        text: text.clone(),
                    });
                }
                is_known
            });
            if !is_known {
                store_observation(memories, &name, &text).await?;
                added.push(text);
            }
        }
        out.push(json!({"entityName": name, "addedObservations": added}));
    }
    Ok(Value::Array(out))
}

async fn delete_entities<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let names = arguments.texts("entityNames")?;
    let graph = graph(memories).await?;
    for entity in graph
        .entities
        .into_iter()
        .filter(|entity| names.contains(&entity.name))
    {
        end(memories, entity.id).await?;
        for observation in entity.observations {
            end(memories, observation.id).await?;
        }
    }
    for (id, relation) in graph.relations {
        if names.contains(&relation.from) || names.contains(&relation.to) {
            end(memories, id).await?;
        }
    }
    Ok(json!("Entities deleted successfully"))
}

async fn delete_observations<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let mut asked = Vec::new();
    for one in arguments.objects("deletions")? {
        asked.push((
            needed(&one, "entityName")?,
            needed_texts(&one, "observations")?,
        ));
    }
    let mut graph = graph(memories).await?;
    for (name, texts) in asked {
        let Some(entity) = graph.entity(&name) else {
            continue;
        };
        let gone = std::mem::take(&mut entity.observations);
        for observation in gone.into_iter().filter(|known| texts.contains(&known.text)) {
            end(memories, observation.id).await?;
        }
    }
    Ok(json!("Observations deleted successfully"))
}

async fn delete_relations<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<Value> {
    let asked = arguments.objects("relations")?;
    let asked: Vec<Relation> = asked.iter().map(relation_of).collect::<Words<_>>()?;
    for (id, relation) in graph(memories).await?.relations {
        if asked.contains(&relation) {
            end(memories, id).await?;
        }
    }
    Ok(json!("Relations deleted successfully"))
}

/// Entities that are wanted, and the relations among them.
async fn read<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    is_wanted: impl Fn(&Entity) -> bool,
) -> Words<Value> {
    let graph = graph(memories).await?;
    let entities: Vec<&Entity> = graph
        .entities
        .iter()
        .filter(|entity| is_wanted(entity))
        .collect();
    let names: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    let is_whole = entities.len() == graph.entities.len();
    let relations = graph.relations.iter().map(|(_, relation)| relation);
    let relations = relations.filter(|relation| {
        is_whole || names.contains(relation.from.as_str()) || names.contains(relation.to.as_str())
    });
    let relation = |relation: &Relation| json!({"from": relation.from, "to": relation.to, "relationType": relation.kind});
    let entity = |entity: &&Entity| {
        let texts: Vec<String> = entity.observations.iter().map(|o| o.text.clone()).collect();
        shown(&entity.name, &entity.kind, &texts)
    };
    Ok(json!({
        "entities": entities.iter().map(entity).collect::<Vec<_>>(),
        "relations": relations.map(relation).collect::<Vec<_>>(),
    }))
}
