//! The protos of `amem.v1` against the rules of their form: buf's STANDARD ones, and ours.

mod lint;
mod rules;

use amem_client::v1;
use prost::Message;
use prost_types::FileDescriptorSet;

use crate::tree::none;
use lint::Lint;

/// Services and answers without a moment of their own, each with the reason.
const WITHOUT_MOMENT: [(&str, &str); 3] = [
    ("AdminService", "it is about the daemon, and about no brain"),
    ("ListBrainsResponse", "each brain of the list has its own"),
    (
        "IngestStreamResponse",
        "a batch that is done has its commit, one that is refused has none",
    ),
];

#[test]
fn the_protos_follow_the_style_rules() {
    let set = FileDescriptorSet::decode(v1::DESCRIPTORS).expect("our own descriptors");
    let methods = set.file.iter().flat_map(|file| &file.service);
    let methods: usize = methods.map(|service| service.method.len()).sum();
    assert!(methods > 20, "only {methods} RPCs were looked at");
    none(Lint::complaints(&set, &WITHOUT_MOMENT));
}

/// A file without a fault, from which each row below takes something.
const GOOD: &str = r#"// Toys.

syntax = "proto3";

package toy.v1;

import "google/protobuf/timestamp.proto";

// Looks after toys.
service ToyService {
  // Finds one.
  rpc GetToy(GetToyRequest) returns (GetToyResponse);
  // Finds all.
  rpc ListToys(ListToysRequest) returns (ListToysResponse);
}

// How a toy looks.
enum ToyColour {
  // Not said.
  TOY_COLOUR_UNSPECIFIED = 0;
  // Red.
  TOY_COLOUR_RED = 1;
}

// What answered.
message Moment {
  // When.
  google.protobuf.Timestamp time = 1;
}

// Asks for one.
message GetToyRequest {
  // Its name, or its number.
  oneof which {
    // Its name.
    string toy_name = 1;
    // Its number.
    uint64 id = 2;
  }
}

// One.
message GetToyResponse {
  // What answered.
  Moment moment = 1;
  // How it looks, if that is known.
  optional ToyColour colour = 2;
  // What is written on it.
  map<string, string> labels = 3;
}

// Asks for all.
message ListToysRequest {
  // How many.
  uint32 page_size = 1;
  // Where the last page ended.
  string page_token = 2;
}

// All.
message ListToysResponse {
  // What answered.
  Moment moment = 1;
  // Their names.
  repeated string names = 2;
  // Where the next page begins.
  string next_page_token = 3;
}
"#;

/// The descriptors of a file of this text.
fn described(path: &str, text: &str) -> FileDescriptorSet {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(path);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, text).expect("a file");
    let set = protox::compile([path], [folder.path()]);
    set.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What is wrong with a file of this text.
fn complaints(path: &str, text: &str, without_moment: &[(&str, &str)]) -> Vec<String> {
    Lint::complaints(&described(path, text), without_moment)
}

#[test]
fn a_faultless_proto_has_no_complaint() {
    none(complaints("toy/v1/toy.proto", GOOD, &[]));
}

#[test]
fn every_rule_of_the_protos_can_fail() {
    // The rule, what is taken from the good file, what comes in its place.
    let rows = [
        ("PACKAGE_DEFINED", "package toy.v1;", ""),
        (
            "PACKAGE_DIRECTORY_MATCH",
            "package toy.v1",
            "package toys.v1",
        ),
        (
            "PACKAGE_LOWER_SNAKE_CASE",
            "package toy.v1",
            "package Toy.v1",
        ),
        ("PACKAGE_VERSION_SUFFIX", "package toy.v1", "package toy"),
        ("IMPORT_NO_PUBLIC", "import \"", "import public \""),
        (
            "IMPORT_USED",
            "google.protobuf.Timestamp time",
            "string toy",
        ),
        ("COMMENTS", "// Looks after toys.\n", ""),
        ("COMMENTS", "  // Finds one.\n", ""),
        ("COMMENTS", "// How a toy looks.\n", ""),
        ("COMMENTS", "  // Red.\n", ""),
        ("COMMENTS", "// Asks for one.\n", ""),
        ("COMMENTS", "  // Its name, or its number.\n", ""),
        ("COMMENTS", "    // Its number.\n", ""),
        ("COMMENTS", "  // How it looks, if that is known.\n", ""),
        ("MESSAGE_PASCAL_CASE", "Moment", "moment_told"),
        ("FIELD_LOWER_SNAKE_CASE", "toy_name", "toyName"),
        ("ONEOF_LOWER_SNAKE_CASE", "oneof which", "oneof WHICH"),
        ("TIMESTAMP", "string toy_name", "uint64 created_at"),
        ("TIMESTAMP", "string toy_name", "uint32 wait_millis"),
        ("ENUM_PASCAL_CASE", "ToyColour", "TOY_COLOUR"),
        ("ENUM_ZERO_VALUE_SUFFIX", "UNSPECIFIED", "UNKNOWN"),
        ("ENUM_VALUE_PREFIX", "TOY_COLOUR_RED", "RED"),
        (
            "ENUM_VALUE_UPPER_SNAKE_CASE",
            "TOY_COLOUR_RED",
            "TOY_COLOUR_Red",
        ),
        (
            "SERVICE_PASCAL_CASE",
            "service ToyService",
            "service toyService",
        ),
        ("SERVICE_SUFFIX", "service ToyService", "service Toys"),
        ("RPC_PASCAL_CASE", "rpc GetToy", "rpc get_toy"),
        ("RPC_REQUEST_STANDARD_NAME", "GetToyRequest", "ToyRequest"),
        ("RPC_RESPONSE_STANDARD_NAME", "GetToyResponse", "Toy"),
        (
            "RPC_REQUEST_RESPONSE_UNIQUE",
            "(ListToysRequest)",
            "(GetToyRequest)",
        ),
        ("PAGES", "string page_token", "string page"),
        ("PAGES", "uint32 page_size", "uint32 count"),
        ("PAGES", "string next_page_token", "string next"),
        (
            "MOMENT",
            "Moment moment = 1;\n  // Their",
            "string time_told = 1;\n  // Their",
        ),
        (
            "MOMENT",
            "Moment moment = 1;\n  // How",
            "repeated Moment moment = 1;\n  // How",
        ),
    ];
    for (rule, from, to) in rows {
        assert!(GOOD.contains(from), "{rule}: {from:?} is not there");
        let bad = GOOD.replace(from, to);
        let found = complaints("toy/v1/toy.proto", &bad, &[]);
        let named = format!(": {rule}: ");
        assert!(
            found.iter().any(|f| f.contains(&named)),
            "{rule} does not see {to:?} in place of {from:?}: {found:?}"
        );
    }
    let found = complaints("toy/v1/TheToy.proto", GOOD, &[]);
    assert!(found[0].contains("FILE_LOWER_SNAKE_CASE"), "{found:?}");
    let aliased = GOOD.replace(
        "  // Red.",
        "  option allow_alias = true;\n  // Again.\n  TOY_COLOUR_NONE = 0;\n  // Red.",
    );
    let found = complaints("toy/v1/toy.proto", &aliased, &[]);
    assert!(found[0].contains("ENUM_NO_ALLOW_ALIAS"), "{found:?}");
    // What the compiler refuses as well.
    let mut set = described("toy/v1/toy.proto", GOOD);
    let file = set.file.last_mut().expect("the file");
    file.syntax = None;
    file.enum_type[0].value[0].number = Some(2);
    let found = Lint::complaints(&set, &[]).join("\n");
    for rule in ["SYNTAX_SPECIFIED", "ENUM_FIRST_VALUE_ZERO"] {
        assert!(found.contains(rule), "{found}");
    }
    // A reason that excuses nothing, or something that is gone.
    let reasons = [("ListToysResponse", "it has one"), ("Gone", "it is gone")];
    let found = complaints("toy/v1/toy.proto", GOOD, &reasons);
    assert_eq!(found.len(), 2, "{found:?}");
}
