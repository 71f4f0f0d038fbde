//! Request ids: a retry is answered and not executed again.

use amem_format::base::requests::FORGOTTEN;
use amem_format::view::View;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};
use crate::limits::REQUEST_BODY_BYTES;
use crate::mutation::{Answer, Mutation, Request};

/// The hash of a request's mutation, agent and preconditions.
pub(crate) fn body_hash(request: &Request) -> Result<u128> {
    let (lsn, head, agent) = (request.expected_lsn, request.expected_head, &*request.agent);
    let room = Vec::with_capacity(REQUEST_BODY_BYTES);
    let bytes = match &request.said {
        None => {
            let body: (&Mutation, _, _, &str) = (&request.mutation, lsn, head, agent);
            postcard::to_extend(&body, room)
        }
        Some(said) => postcard::to_extend(&(said, lsn, head, agent), room),
    };
    let bytes = bytes.map_err(|e| Error::invalid("request", e.to_string()))?;
    Ok(xxh3_128(&bytes))
}

/// The answer of a request that was executed before, as long as it is remembered. What the id says of its time means
/// nothing: clocks of senders differ.
pub(crate) fn recall(view: &View, id: Uuid, body: u128) -> Result<Option<Answer>> {
    if id.get_version_num() != 7 {
        return Err(Error::invalid(
            "request_id",
            format!("{id} is not a UUIDv7: make one for each new request"),
        ));
    }
    let brain = view.brain();
    let delta = brain
        .delta()
        .request_index
        .get(id.as_u128())
        .and_then(|at| brain.delta().requests.get(at));
    let (lsn, known, answer) = match delta {
        Some(r) => (r.lsn, r.body, brain.span(r.answer)?),
        None => match brain.base().requests()?.find(&id)? {
            Some(r) => (r.lsn, r.body, r.answer),
            None => return Ok(None),
        },
    };
    if known != body && known != FORGOTTEN {
        return Err(Error::RequestReused { id, lsn });
    }
    let mut answer: Answer = serde_json::from_slice(answer).map_err(|e| {
        amem_format::Error::corrupt("request", 0, format!("the answer to {id}: {e}"))
    })?;
    answer.replayed = true;
    Ok(Some(answer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_that_differ_in_a_type_alone_have_hashes_of_their_own() {
        let values = [
            json!(1),
            json!(true),
            json!("1"),
            json!([1]),
            json!(null),
            json!(1.0),
        ];
        let bodies = values.into_iter().map(|value| {
            let attributes = Some([("a".to_owned(), value)].into_iter().collect());
            let target = amem_format::NodeId(1);
            let mutation = Mutation::SetAttributes { target, attributes };
            body_hash(&Request::new(mutation)).unwrap()
        });
        let mut hashes: Vec<u128> = bodies.collect();
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
