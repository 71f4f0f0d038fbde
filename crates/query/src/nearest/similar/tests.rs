//! The answers of `similar` against looking at every vector: to the bit, on vectors of every kind.

use std::sync::Arc;

use uuid::Uuid;

use crate::Similar;
use crate::nearest::similar::SimilarityTarget;
use amem_format::base::settings::Settings;
use amem_format::base::vectors::inverse_length;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::{journal, new_identity, write_base};
use amem_format::brain::Brain;
use amem_format::journal::op::{NewNode, Op};
use amem_format::mapping::Map;
use amem_format::types::{EventType, Micros, NodeId, SessionId};
use amem_format::vectors::UnitVector;
use amem_format::view::View;

struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// −1 to 1.
    fn unit(&mut self) -> f32 {
        self.bits() as f32 / (1u64 << 52) as f32 - 1.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }
}

/// A brain with a base of these vectors; an empty one for an event without.
fn brain(dimension: u32, vectors: &[Vec<f32>]) -> View {
    let now = Micros(1_800_000_000_000_000);
    let identity = new_identity(
        Uuid::from_u128(1),
        Uuid::from_u128(2),
        Uuid::from_u128(3),
        now,
    );
    let mut build = Build::new(&identity, dimension, &Settings::default()).unwrap();
    for (id, vector) in vectors.iter().enumerate() {
        let event = NewNode {
            id: NodeId(id as u64),
            event_type: EventType((id % 6) as u8),
            session: SessionId(0),
            created_at: now,
            event_time: None,
            confidence: 1.0,
            lambda: 0.0,
            text: "",
            attributes: "",
            vector: bytemuck::cast_slice(vector),
            carried: None,
        };
        build.push(&Op::Event(event)).unwrap();
    }
    let view = build.finish().unwrap();
    let mut bytes = Vec::new();
    let end = write_base(&view, &Build::options(&view, &identity), &mut bytes).unwrap();
    journal(&identity, 1, end, &mut bytes).unwrap();
    Arc::new(Brain::open(Map::owned(&bytes)).unwrap()).view()
}

/// What looking at every vector gives.
fn naive(vectors: &[Vec<f32>], query: &Similar, itself: Option<usize>) -> Vec<(NodeId, u32)> {
    let SimilarityTarget::Vector(like) = &query.like else {
        panic!("of a vector");
    };
    let direction = UnitVector::of(like).unwrap();
    let types = &query.selection.types;
    let mut all: Vec<(f32, u64)> = vectors
        .iter()
        .enumerate()
        .filter(|(id, vector)| {
            !vector.is_empty()
                && Some(*id) != itself
                && (types.is_empty() || types.contains(&EventType((id % 6) as u8)))
        })
        .filter_map(|(id, vector)| {
            let cosine = direction.cosine(vector, inverse_length(vector)).unwrap()?;
            (cosine >= query.min_similarity.unwrap_or(-1.0)).then_some((cosine, id as u64))
        })
        .collect();
    all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    all.truncate(query.limit);
    all.iter()
        .map(|&(score, id)| (NodeId(id), score.to_bits()))
        .collect()
}

fn check(name: &str, dimension: u32, vectors: &[Vec<f32>], questions: &[Vec<f32>]) {
    let view = brain(dimension, vectors);
    for (number, question) in questions.iter().enumerate() {
        for limit in [1, 10, 100] {
            for min_similarity in [None, Some(0.3)] {
                for types in [vec![], vec![EventType(1), EventType(2)]] {
                    let mut query = Similar {
                        like: SimilarityTarget::Vector(question.clone()),
                        limit,
                        min_similarity,
                        ..Similar::default()
                    };
                    query.selection.types = types;
                    let found = query.run(&view).unwrap();
                    assert!(found.is_exact);
                    let found: Vec<_> = found
                        .hits
                        .iter()
                        .map(|&(id, s)| (id, s.to_bits()))
                        .collect();
                    assert_eq!(
                        found,
                        naive(vectors, &query, None),
                        "{name}, question {number}, {limit}, {min_similarity:?}, {:?}",
                        query.selection.types
                    );
                }
            }
        }
    }
}

fn uniform(random: &mut Random, dimension: usize) -> Vec<f32> {
    (0..dimension).map(|_| random.unit()).collect()
}

#[test]
fn the_exact_answer_is_that_of_every_vector_on_uniform_vectors_of_every_dimension() {
    for dimension in [1, 2, 3, 31, 32, 33, 100, 128, 200] {
        let mut random = Random(dimension as u64);
        let vectors: Vec<_> = (0..3000).map(|_| uniform(&mut random, dimension)).collect();
        let questions: Vec<_> = (0..5).map(|_| uniform(&mut random, dimension)).collect();
        check("uniform", dimension as u32, &vectors, &questions);
    }
}

#[test]
fn the_exact_answer_is_that_of_every_vector_in_clusters_and_among_copies() {
    let mut random = Random(7);
    let centres: Vec<_> = (0..40).map(|_| uniform(&mut random, 64)).collect();
    for spread in [0.2, 0.01, 1e-4, 0.0] {
        let near = |random: &mut Random| -> Vec<f32> {
            let centre = &centres[random.below(40)];
            centre.iter().map(|c| c + spread * random.unit()).collect()
        };
        let vectors: Vec<_> = (0..4000).map(|_| near(&mut random)).collect();
        let mut questions: Vec<_> = (0..3).map(|_| near(&mut random)).collect();
        questions.push(vectors[17].clone());
        questions.push(vectors[18].iter().map(|x| -x).collect());
        check(&format!("clusters of {spread}"), 64, &vectors, &questions);
    }
}

#[test]
fn the_exact_answer_is_that_of_every_vector_where_codes_say_little() {
    let mut random = Random(9);
    let mut vectors = Vec::new();
    for id in 0..3000 {
        vectors.push(match id % 10 {
            // One number that drowns the others.
            0 => {
                let mut vector = uniform(&mut random, 48);
                vector[5] = 1e4;
                vector
            }
            // Along an axis.
            1 => {
                let mut vector = vec![0.0; 48];
                vector[random.below(48)] = if id % 4 == 0 { 1.0 } else { -1.0 };
                vector
            }
            // So short or so long that 32 bits don't hold the square.
            2 => uniform(&mut random, 48).iter().map(|x| x * 1e-30).collect(),
            3 => uniform(&mut random, 48).iter().map(|x| x * 1e30).collect(),
            4 => vec![0.0; 48],
            5 => Vec::new(),
            // Almost the same direction as all of its kind.
            6 | 7 => (0..48)
                .map(|i| 1.0 + 1e-6 * (i as f32) * random.unit())
                .collect(),
            // Of a few values.
            8 => (0..48).map(|_| random.below(3) as f32 - 1.0).collect(),
            _ => uniform(&mut random, 48),
        });
    }
    let mut questions = vec![vec![1.0; 48], uniform(&mut random, 48)];
    questions.extend([vectors[0].clone(), vectors[1].clone(), vectors[2].clone()]);
    questions.extend([vectors[3].clone(), vectors[6].clone(), vectors[8].clone()]);
    check("odd", 48, &vectors, &questions);
}

#[test]
fn an_approximate_answer_keeps_its_recall_and_is_exact_without_centroids() {
    let mut random = Random(11);
    let dimension = 32;
    let centres: Vec<_> = (0..120).map(|_| uniform(&mut random, dimension)).collect();
    let near = |random: &mut Random| -> Vec<f32> {
        let centre = &centres[random.below(120)];
        centre
            .iter()
            .map(|c| c + 0.3 * (random.unit() + random.unit()))
            .collect()
    };
    let clustered: Vec<_> = (0..12_000).map(|_| near(&mut random)).collect();
    let scattered: Vec<_> = (0..12_000).map(|_| uniform(&mut random, 128)).collect();
    let ask = |view: &View, question: &[f32], approximate| {
        let query = Similar {
            like: SimilarityTarget::Vector(question.to_vec()),
            approximate,
            ..Similar::default()
        };
        query.run(view).unwrap()
    };
    let view = brain(dimension as u32, &clustered);
    let measured = view.brain().base().codes().unwrap().unwrap().ivf;
    assert!(
        measured.probes > 0 && measured.recall >= 0.99,
        "{measured:?}"
    );
    let (mut kept, mut all) = (0, 0);
    for _ in 0..100 {
        let question = near(&mut random);
        let found = ask(&view, &question, true);
        assert!(!found.is_exact);
        let best = ask(&view, &question, false).hits;
        all += best.len();
        kept += best.iter().filter(|hit| found.hits.contains(hit)).count();
    }
    assert!(kept * 100 >= all * 98, "{kept} of {all}, {measured:?}");
    let view = brain(128, &scattered);
    let measured = view.brain().base().codes().unwrap().unwrap().ivf;
    assert_eq!(measured.probes, 0, "{measured:?}");
    assert!(ask(&view, &scattered[5], true).is_exact);
}

#[test]
fn so_many_vectors_of_which_none_has_a_direction_in_32_bits_are_folded_and_found() {
    let mut vectors = vec![vec![1e30, 1e30, 0.0, 0.0]; 10_001];
    vectors[7] = vec![0.0, 0.0, 1e30, 1e30];
    let query = Similar {
        like: SimilarityTarget::Vector(vec![0.0, 0.0, 1.0, 1.0]),
        limit: 1,
        approximate: true,
        ..Similar::default()
    };
    let found = query.run(&brain(4, &vectors)).unwrap();
    assert!(found.is_exact);
    assert_eq!(found.hits[0].0, NodeId(7));
}
