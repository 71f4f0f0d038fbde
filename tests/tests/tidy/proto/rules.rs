//! The rules of the protos: buf's STANDARD ones under their names there, and ours.
//!
//! Ours: `COMMENTS` everything says what it is; `MOMENT` an answer names instance and LSN; `TIMESTAMP` times and
//! durations are the well-known types; `PAGES` listings page by token.

use std::collections::HashMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    MethodDescriptorProto, ServiceDescriptorProto,
};

use super::lint::{Lint, ProtoLocation};

/// What names instance and LSN.
const MOMENTS: [&str; 2] = [".Moment", ".Commit"];
/// How the names of times end.
const TIMES: [&str; 4] = ["_at", "time", "_accessed", "timestamp"];
/// How the names of durations end.
const DURATIONS: [&str; 7] = [
    "_secs", "_seconds", "_millis", "_micros", "_nanos", "_ms", "duration",
];

fn is_lower_snake(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut chars = word.chars();
        !word.is_empty() && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('_').all(is_word)
}

fn is_pascal(name: &str) -> bool {
    let is_alphanumeric = name.chars().all(|c| c.is_ascii_alphanumeric());
    let is_shouted = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
    name.starts_with(|c: char| c.is_ascii_uppercase()) && is_alphanumeric && !is_shouted
}

/// `EventType` as `EVENT_TYPE`.
fn upper_snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// Complains unless a name is in lower_snake_case.
pub(super) fn lower_snake(lint: &mut Lint, place: &ProtoLocation, rule: &str, name: &str) {
    let what = format!("{name} must be in lower_snake_case");
    lint.check(is_lower_snake(name), place, rule, what);
}

fn pascal(lint: &mut Lint, place: &ProtoLocation, rule: &str, name: &str) {
    let what = format!("{name} must be in PascalCase");
    lint.check(is_pascal(name), place, rule, what);
}

pub(super) fn file(lint: &mut Lint, place: &ProtoLocation) {
    let (file, package) = (place.file, place.file.package());
    let (folder, name) = file.name().rsplit_once('/').unwrap_or(("", file.name()));
    let stem = name.trim_end_matches(".proto");
    lower_snake(lint, place, "FILE_LOWER_SNAKE_CASE", stem);
    let said = !package.is_empty();
    lint.check(said, place, "PACKAGE_DEFINED", "say its package".into());
    let (rule, what) = ("PACKAGE_DIRECTORY_MATCH", "is not the place of");
    let matches = folder == package.replace('.', "/");
    lint.check(matches, place, rule, format!("{folder} {what} {package}"));
    let (rule, what) = ("PACKAGE_LOWER_SNAKE_CASE", "must be in lower_snake_case");
    let is_lower = package.split('.').all(is_lower_snake);
    lint.check(is_lower, place, rule, format!("package {package} {what}"));
    let version = package.rsplit('.').next().unwrap_or_default();
    let is_versioned = version
        .strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()));
    let (rule, what) = ("PACKAGE_VERSION_SUFFIX", "must end in a version such as v1");
    lint.check(
        is_versioned,
        place,
        rule,
        format!("package {package} {what}"),
    );
    let is_three = file.syntax() == "proto3";
    let what = "say syntax = \"proto3\"".to_owned();
    lint.check(is_three, place, "SYNTAX_SPECIFIED", what);
    let is_private = file.public_dependency.is_empty() && file.weak_dependency.is_empty();
    let what = "imports are neither public nor weak".to_owned();
    lint.check(is_private, place, "IMPORT_NO_PUBLIC", what);
}

pub(super) fn message(lint: &mut Lint, place: &ProtoLocation, message: &DescriptorProto) {
    pascal(lint, place, "MESSAGE_PASCAL_CASE", message.name());
}

pub(super) fn field(
    lint: &mut Lint,
    place: &ProtoLocation,
    full: &str,
    field: &FieldDescriptorProto,
) {
    let name = field.name();
    lower_snake(lint, place, "FIELD_LOWER_SNAKE_CASE", name);
    let scalar = !matches!(field.r#type(), Type::Message | Type::Enum | Type::Bool);
    for (ends, wanted) in [(&TIMES[..], "Timestamp"), (&DURATIONS[..], "Duration")] {
        if ends.iter().any(|end| name.ends_with(end)) {
            let what = format!("{full} must be a google.protobuf.{wanted}");
            lint.check(!scalar, place, "TIMESTAMP", what);
        }
    }
}

pub(super) fn enumeration(lint: &mut Lint, place: &ProtoLocation, one: &EnumDescriptorProto) {
    let name = one.name();
    pascal(lint, place, "ENUM_PASCAL_CASE", name);
    let zero = format!("{}_UNSPECIFIED", upper_snake(name));
    let first = one.value.first();
    let is_zero = first.is_some_and(|value| value.number() == 0);
    let what = format!("the first value of {name} must be 0");
    lint.check(is_zero, place, "ENUM_FIRST_VALUE_ZERO", what);
    let is_unspecified = first.is_some_and(|value| value.name() == zero);
    let what = format!("the zero value of {name} must be {zero}");
    lint.check(is_unspecified, place, "ENUM_ZERO_VALUE_SUFFIX", what);
    let aliased = one.options.as_ref().is_some_and(|o| o.allow_alias());
    let what = format!("two values of {name} must not be one number");
    lint.check(!aliased, place, "ENUM_NO_ALLOW_ALIAS", what);
}

pub(super) fn value(
    lint: &mut Lint,
    place: &ProtoLocation,
    one: &EnumDescriptorProto,
    value: &EnumValueDescriptorProto,
) {
    let (name, prefix) = (value.name(), upper_snake(one.name()) + "_");
    let is_upper = is_lower_snake(&name.to_ascii_lowercase()) && name == name.to_ascii_uppercase();
    let what = format!("{name} must be in UPPER_SNAKE_CASE");
    lint.check(is_upper, place, "ENUM_VALUE_UPPER_SNAKE_CASE", what);
    let what = format!("{name} must begin with {prefix}");
    lint.check(name.starts_with(&prefix), place, "ENUM_VALUE_PREFIX", what);
}

pub(super) fn service(lint: &mut Lint, place: &ProtoLocation, service: &ServiceDescriptorProto) {
    let name = service.name();
    pascal(lint, place, "SERVICE_PASCAL_CASE", name);
    let what = format!("{name} must end in Service");
    lint.check(name.ends_with("Service"), place, "SERVICE_SUFFIX", what);
}

pub(super) fn method(
    lint: &mut Lint,
    place: &ProtoLocation,
    service: &ServiceDescriptorProto,
    method: &MethodDescriptorProto,
) {
    let (name, package) = (method.name(), place.file.package());
    pascal(lint, place, "RPC_PASCAL_CASE", name);
    let named = [
        ("RPC_REQUEST_STANDARD_NAME", method.input_type(), "Request"),
        (
            "RPC_RESPONSE_STANDARD_NAME",
            method.output_type(),
            "Response",
        ),
    ];
    for (rule, found, end) in named {
        let wanted = format!(".{package}.{name}{end}");
        let what = format!("{name} must have {wanted}, not {found}");
        lint.check(found == wanted, place, rule, what);
    }
    let (request, response) = (
        lint.messages.get(method.input_type()).copied(),
        lint.messages.get(method.output_type()).copied(),
    );
    if let (Some(request), Some(response)) = (request, response) {
        pages(lint, place, method, request, response);
        moment(lint, place, service, response);
    }
}

fn has(message: &DescriptorProto, name: &str, of: Type) -> bool {
    let mut fields = message.field.iter();
    fields.any(|field| field.name() == name && field.r#type() == of)
}

fn pages(
    lint: &mut Lint,
    place: &ProtoLocation,
    method: &MethodDescriptorProto,
    request: &DescriptorProto,
    response: &DescriptorProto,
) {
    let token = has(request, "page_token", Type::String);
    let (size, next) = (
        has(request, "page_size", Type::Uint32),
        has(response, "next_page_token", Type::String),
    );
    let is_listing = method.name().starts_with("List") && !method.server_streaming();
    if is_listing || token || size || next {
        let what = format!(
            "{} must page by uint32 page_size, string page_token and string next_page_token",
            method.name()
        );
        lint.check(token && size && next, place, "PAGES", what);
    }
}

fn moment(
    lint: &mut Lint,
    place: &ProtoLocation,
    service: &ServiceDescriptorProto,
    response: &DescriptorProto,
) {
    let names = |field: &FieldDescriptorProto| {
        let is_one = field.label() != Label::Repeated && field.oneof_index.is_none();
        is_one && MOMENTS.iter().any(|end| field.type_name().ends_with(end))
    };
    let is_named = response.field.iter().any(names);
    let excused = [service.name(), response.name()];
    let reason = lint.without_moment.iter();
    let is_excused = reason.clone().any(|(name, _)| excused.contains(name));
    let what = format!("{} must name instance and LSN", response.name());
    lint.check(is_named || is_excused, place, "MOMENT", what);
    let is_idle = reason.clone().any(|(name, _)| *name == response.name());
    let what = format!("{} needs no reason any more", response.name());
    lint.check(!(is_named && is_idle), place, "MOMENT", what);
}

/// Rules over all files.
pub(super) fn across(lint: &mut Lint) {
    let mut users: HashMap<&str, Vec<String>> = HashMap::new();
    let mut known: Vec<&str> = Vec::new();
    for file in lint.files.clone() {
        for service in &file.service {
            known.push(service.name());
            for method in &service.method {
                let name = format!("{}.{}", service.name(), method.name());
                for used in [method.input_type(), method.output_type()] {
                    known.extend(used.rsplit('.').next());
                    users.entry(used).or_default().push(name.clone());
                }
            }
        }
    }
    let Some(&file) = lint.files.first() else {
        return;
    };
    let path = Vec::new();
    let place = &ProtoLocation { file, path };
    for (message, users) in users {
        let what = format!("{message} is of more than one RPC: {users:?}");
        lint.check(users.len() == 1, place, "RPC_REQUEST_RESPONSE_UNIQUE", what);
    }
    for (name, _) in lint.without_moment {
        let what = format!("{name} is gone, and its reason with it");
        lint.check(known.contains(name), place, "MOMENT", what);
    }
}
