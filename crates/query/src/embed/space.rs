//! Names of vector spaces.

use uuid::{Uuid, uuid};

/// The namespace of vector spaces; random.
const NAMESPACE: Uuid = uuid!("77b45dbc-bbd2-40a0-9f3f-2e7eae8f43d9");

/// The vector space of a model and dimension.
///
/// It is a hash (UUID version 5): two machines with the same model agree, and a file does not reveal the model's name.
pub fn vector_space(model: &str, dimension: u32) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{dimension}:{model}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_a_function_of_model_and_dimension() {
        let space = vector_space("some/model", 384);
        assert_eq!(space, vector_space("some/model", 384));
        assert_ne!(space, vector_space("some/model", 128));
        assert_ne!(space, vector_space("some/other", 384));
        // The names in files: never to change.
        assert_eq!(space.to_string(), "537c86f0-20e9-575b-b8c2-438083a913a7");
    }
}
