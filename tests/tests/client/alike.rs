//! Every question has the same answer by call and from the file.

use amem_client::{Brain, Question, v1};
use amem_tests::random::Random;

use crate::kit::{Kit, fill, words};

/// Asks both ways; gives back whether there was an answer.
async fn ask<Q: Question>(brain: &Brain, question: Q) -> bool {
    let directly = brain.ask(question.clone()).await;
    let by_call = brain.by_call().ask(question.clone()).await;
    assert_eq!(directly, by_call, "{question:?}");
    directly.is_ok()
}

/// Random requests, a few of which make no sense.
struct QuestionMaker<'r>(&'r mut Random);

impl QuestionMaker<'_> {
    fn chance(&mut self, one_in: u64) -> bool {
        self.0.below(one_in) == 0
    }

    fn event(&mut self) -> u64 {
        self.0.below(115)
    }

    fn as_of(&mut self) -> Option<v1::AsOf> {
        let lsn = self.0.below(60);
        self.chance(4).then_some(v1::AsOf {
            moment: Some(v1::as_of::Moment::Lsn(lsn)),
        })
    }

    fn scope(&mut self) -> Option<v1::Scope> {
        let user = format!("u{}", self.0.below(2));
        self.chance(6).then_some(v1::Scope {
            user: Some(user),
            ..Default::default()
        })
    }

    fn names(&mut self, names: &[&str]) -> Vec<String> {
        let name = self.0.pick(names).to_owned();
        if self.chance(6) {
            vec![name]
        } else {
            Vec::new()
        }
    }

    fn limit(&mut self) -> u32 {
        self.0.pick(&[0, 1, 5, 40, 10_001])
    }

    fn follow(&mut self) -> i32 {
        self.0.pick(&[0, 1, 2, 3, 9])
    }

    fn edges(&mut self) -> Vec<i32> {
        let types: [&[i32]; 4] = [&[], &[1, 2], &[4], &[0]];
        self.0.pick(&types).to_vec()
    }

    fn selection(&mut self) -> Option<v1::Selection> {
        if self.chance(3) {
            return None;
        }
        let filters = [
            "",
            "",
            r#"{"n":{"gte":5}}"#,
            r#"{"confidence":{"lt":0.5}}"#,
            "{",
        ];
        let types: [&[i32]; 4] = [&[], &[], &[1, 4], &[300]];
        let keywords = ["", "", "stone", "the"];
        let sessions: [&[u32]; 3] = [&[], &[], &[1, 2]];
        let low = self.0.unit();
        Some(v1::Selection {
            types: self.0.pick(&types).to_vec(),
            session_ids: self.0.pick(&sessions).to_vec(),
            recorded: None,
            happened: self.chance(5).then_some(v1::Window {
                from: None,
                until: Some(amem_client::Timestamp {
                    seconds: 1_705_000_000,
                    nanos: 0,
                }),
            }),
            confidence: self.chance(5).then_some(v1::Bounds {
                min: Some(low),
                max: Some(0.9),
            }),
            strength: None,
            strength_at: None,
            keyword: self.0.pick(&keywords).into(),
            scope: self.scope(),
            filter_json: self.0.pick(&filters).into(),
            include_forgotten: self.chance(4),
            include_compressed: self.chance(2),
            by: self.names(&["uid:0", "uid:1000", "", "nobody"]),
            agents: self.names(&["filler", "other"]),
        })
    }

    fn source(&mut self) -> v1::PipelineSource {
        use v1::pipeline_source::Source;
        let (selection, limit) = (self.selection(), self.limit());
        let source = match self.0.below(5) {
            0 => Source::Events(v1::EventsSource {
                event_ids: vec![self.event(), self.event()],
            }),
            1 => Source::Search(v1::SearchSource {
                text: words(self.0),
                vector: None,
                selection,
                limit,
            }),
            2 => Source::Text(v1::TextSource {
                text: words(self.0),
                selection,
                limit,
            }),
            3 => Source::Similar(v1::SimilarSource {
                like: Some(v1::similar_source::Like::EventId(self.event())),
                selection,
                limit,
                min_similarity: None,
            }),
            _ => Source::Pattern(v1::PatternSource {
                selection,
                order: self.0.below(4) as i32,
                axis: 0,
                limit,
            }),
        };
        v1::PipelineSource {
            source: Some(source),
        }
    }

    fn stage(&mut self) -> v1::PipelineStage {
        use v1::pipeline_stage::Stage;
        let stage = match self.0.below(5) {
            0 => Some(Stage::Traverse(v1::TraverseStage {
                types: self.edges(),
                follow: self.follow(),
                depth: self.0.below(4) as u32,
                limit: self.limit(),
            })),
            1 => Some(Stage::Resolve(v1::ResolveStage {})),
            2 => self.selection().map(Stage::Filter),
            3 => Some(Stage::Rank(v1::RankStage {
                confidence_weight: self.chance(2).then_some(0.5),
                nearness_weight: self.chance(2).then_some(1.0),
                recency_weight: self.chance(2).then_some(0.25),
                ..Default::default()
            })),
            _ => Some(Stage::Limit(v1::LimitStage {
                count: self.0.below(5) as u32,
            })),
        };
        v1::PipelineStage { stage }
    }
}

#[tokio::test]
async fn every_query_gives_the_same_answer_from_the_file_and_by_rpc() {
    const SEED: u64 = 7;
    println!("seed {SEED}");
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    assert!(brain.is_direct() && !brain.by_call().is_direct());
    let mut random = Random::new(SEED);
    fill(&brain, &mut random).await;
    let mut answered = [0u32; 16];
    let no = Some(false);
    for _ in 0..60 {
        let mut a = QuestionMaker(&mut random);
        let traverse = v1::TraverseRequest {
            event_id: a.event(),
            types: a.edges(),
            follow: a.follow(),
            depth: a.0.below(4) as u32,
            limit: a.limit(),
            as_of: a.as_of(),
            scope: a.scope(),
            include_forgotten: a.chance(3),
            ..Default::default()
        };
        let path = v1::PathRequest {
            from_id: a.event(),
            to_id: a.event(),
            types: a.edges(),
            follow: a.follow(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let why = v1::WhyRequest {
            event_id: a.event(),
            depth: a.0.below(4) as u32,
            limit: a.limit(),
            as_of: a.as_of(),
            scope: a.scope(),
            ..Default::default()
        };
        let impact = v1::ImpactRequest {
            event_id: a.event(),
            include_parts: a.chance(2),
            limit: a.limit(),
            as_of: a.as_of(),
            scope: a.scope(),
            ..Default::default()
        };
        let get = v1::GetEventsRequest {
            event_ids: vec![a.event(), a.event()],
            as_of: a.as_of(),
            include_forgotten: a.chance(2),
            include_vectors: a.chance(2),
            include_edges: a.chance(2),
            touch: no,
            ..Default::default()
        };
        let mut pattern = v1::PatternRequest {
            selection: a.selection(),
            order: a.0.below(5) as i32,
            axis: a.0.below(4) as i32,
            page_size: a.limit(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let timeline = v1::TimelineRequest {
            selection: a.selection(),
            axis: a.0.below(4) as i32,
            newest_first: a.chance(2),
            page_size: a.limit(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let vector = v1::Vector {
            values: (0..128).map(|_| a.0.unit() - 0.5).collect(),
            space: String::new(),
        };
        let like = match a.0.below(3) {
            0 => None,
            1 => Some(v1::similar_request::Like::Vector(vector.clone())),
            _ => Some(v1::similar_request::Like::EventId(a.event())),
        };
        let similar = v1::SimilarRequest {
            like,
            selection: a.selection(),
            limit: a.limit(),
            min_similarity: a.chance(3).then_some(0.1),
            as_of: a.as_of(),
            ..Default::default()
        };
        let text = v1::TextRequest {
            text: words(a.0),
            selection: a.selection(),
            limit: a.limit(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let search = v1::SearchRequest {
            text: words(a.0),
            vector: a.chance(3).then_some(vector),
            selection: a.selection(),
            limit: a.limit(),
            session_share: a.chance(3).then_some(0.5),
            include_superseded: a.chance(2),
            as_of: a.as_of(),
            ..Default::default()
        };
        let resolve = v1::ResolveRequest {
            event_id: a.event(),
            as_of: a.as_of(),
            include_forgotten: a.chance(3),
            limit: a.limit(),
            scope: a.scope(),
            touch: no,
            ..Default::default()
        };
        let conflicts = v1::ListConflictsRequest {
            include_forgotten: a.chance(2),
            scope: a.scope(),
            page_size: a.limit(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let sessions = v1::ListSessionsRequest {
            state: a.0.below(4) as i32,
            oldest_first: a.chance(2),
            page_size: a.limit(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let named = match a.0.below(3) {
            0 => Some(v1::get_session_request::Session::Key("second".into())),
            1 => Some(v1::get_session_request::Session::SessionId(
                a.0.below(6) as u32
            )),
            _ => None,
        };
        let session = v1::GetSessionRequest {
            session: named,
            as_of: a.as_of(),
            ..Default::default()
        };
        let (sources, stages) = (1 + a.0.below(2), a.0.below(4));
        let pipeline = v1::PipelineRequest {
            sources: (0..sources).map(|_| a.source()).collect(),
            stages: (0..stages).map(|_| a.stage()).collect(),
            as_of: a.as_of(),
            ..Default::default()
        };
        let context = v1::ContextRequest {
            text: words(a.0),
            selection: a.selection(),
            budget_tokens: a.0.pick(&[0, 1, 100, 5_000]),
            candidates: a.limit(),
            as_of: a.as_of(),
            touch: no,
            ..Default::default()
        };
        // The second page as well.
        let first = brain.ask(pattern.clone()).await.unwrap_or_default();
        pattern.page_token = first.next_page_token;
        let outcomes = [
            ask(&brain, traverse).await,
            ask(&brain, path).await,
            ask(&brain, why).await,
            ask(&brain, impact).await,
            ask(&brain, get).await,
            ask(&brain, pattern).await,
            ask(&brain, timeline).await,
            ask(&brain, similar).await,
            ask(&brain, text).await,
            ask(&brain, search).await,
            ask(&brain, resolve).await,
            ask(&brain, conflicts).await,
            ask(&brain, sessions).await,
            ask(&brain, session).await,
            ask(&brain, pipeline).await,
            ask(&brain, context).await,
        ];
        for (count, is_answered) in answered.iter_mut().zip(outcomes) {
            *count += u32::from(is_answered);
        }
    }
    // Each was answered, and each was refused.
    assert!(answered.iter().all(|n| (5..60).contains(n)), "{answered:?}");
}
