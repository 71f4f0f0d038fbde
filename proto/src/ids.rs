//! Ids of requests and calls.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{NoContext, Timestamp, Uuid};

/// A UUIDv7 of this moment; of 1970 if the clock shows an earlier one, for which there is none.
pub fn new_id() -> Uuid {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let at = Timestamp::from_unix(NoContext, since.as_secs(), since.subsec_nanos());
    Uuid::new_v7(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_the_time_of_the_clock() {
        let [first, second] = [new_id(), new_id()];
        assert_ne!(first, second);
        assert_eq!(first.get_version_num(), 7);
        let millis = (second.as_u128() >> 80).abs_diff(first.as_u128() >> 80);
        assert!(millis < 60_000, "{first} {second}");
    }
}
