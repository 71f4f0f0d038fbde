//! The walk over descriptors: every file, service, message, field and enum once, each with its place and comment.
//!
//! What is asked of one is in `rules`. Promises: a complaint is `FILE:LINE: RULE: what is wrong`.

use std::collections::{HashMap, HashSet};

use prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet,
    ServiceDescriptorProto,
};

use super::rules;

/// Packages whose files are not ours.
const FOREIGN: &str = "google.protobuf";

/// Looks at descriptors.
pub(super) struct Lint<'a> {
    /// Our files.
    pub(super) files: Vec<&'a FileDescriptorProto>,
    /// Which file defines a type.
    pub(super) homes: HashMap<String, &'a str>,
    /// Our messages by full name.
    pub(super) messages: HashMap<String, &'a DescriptorProto>,
    /// What needs no moment, with the reason.
    pub(super) without_moment: &'a [(&'a str, &'a str)],
    complaints: Vec<String>,
}

/// Where something is: its file, and its path in the descriptor.
#[derive(Clone)]
pub(super) struct ProtoLocation<'a> {
    pub(super) file: &'a FileDescriptorProto,
    pub(super) path: Vec<i32>,
}

impl ProtoLocation<'_> {
    /// The place of a part.
    pub(super) fn part(&self, field: i32, index: usize) -> Self {
        let mut path = self.path.clone();
        path.extend([field, index as i32]);
        let file = self.file;
        Self { file, path }
    }

    fn location(&self) -> Option<&prost_types::source_code_info::Location> {
        let info = self.file.source_code_info.as_ref()?;
        info.location.iter().find(|l| l.path == self.path)
    }

    /// The comment before it.
    pub(super) fn comment(&self) -> &str {
        let location = self.location();
        let comment = location.map(|l| l.leading_comments().trim());
        comment.unwrap_or_default()
    }

    fn line(&self) -> i32 {
        let span = self.location().and_then(|l| l.span.first());
        span.map_or(1, |line| line + 1)
    }
}

impl<'a> Lint<'a> {
    /// What is wrong with the files that are ours.
    pub(super) fn complaints(
        set: &'a FileDescriptorSet,
        without_moment: &'a [(&'a str, &'a str)],
    ) -> Vec<String> {
        let ours = |file: &&FileDescriptorProto| file.package() != FOREIGN;
        let mut lint = Self {
            files: set.file.iter().filter(ours).collect(),
            homes: HashMap::new(),
            messages: HashMap::new(),
            without_moment,
            complaints: Vec::new(),
        };
        for file in &set.file {
            let scope = format!(".{}", file.package());
            for message in &file.message_type {
                lint.know(file.name(), &scope, message);
            }
            for one in &file.enum_type {
                lint.homes
                    .insert(format!("{scope}.{}", one.name()), file.name());
            }
        }
        for file in lint.files.clone() {
            lint.file(file);
        }
        rules::across(&mut lint);
        lint.complaints
    }

    fn know(&mut self, file: &'a str, scope: &str, message: &'a DescriptorProto) {
        let name = format!("{scope}.{}", message.name());
        for one in &message.enum_type {
            self.homes.insert(format!("{name}.{}", one.name()), file);
        }
        for nested in &message.nested_type {
            self.know(file, &name, nested);
        }
        self.homes.insert(name.clone(), file);
        self.messages.insert(name, message);
    }

    /// Complains unless something holds.
    pub(super) fn check(&mut self, holds: bool, place: &ProtoLocation, rule: &str, what: String) {
        if !holds {
            let (file, line) = (place.file.name(), place.line());
            self.complaints
                .push(format!("{file}:{line}: {rule}: {what}"));
        }
    }

    fn comment(&mut self, place: &ProtoLocation, what: &str, name: &str) {
        let is_there = !place.comment().is_empty();
        let told = format!("say in a comment what {what} {name} is");
        self.check(is_there, place, "COMMENTS", told);
    }

    fn file(&mut self, file: &'a FileDescriptorProto) {
        let path = Vec::new();
        let place = ProtoLocation { file, path };
        rules::file(self, &place);
        let scope = format!(".{}", file.package());
        for (i, message) in file.message_type.iter().enumerate() {
            self.message(&place.part(4, i), &scope, message);
        }
        for (i, one) in file.enum_type.iter().enumerate() {
            self.enumeration(&place.part(5, i), one);
        }
        for (i, service) in file.service.iter().enumerate() {
            self.service(&place.part(6, i), service);
        }
        let used = self.used(file);
        for (i, import) in file.dependency.iter().enumerate() {
            let what = format!("{import} is imported, and nothing of it used");
            let place = place.part(3, i);
            self.check(used.contains(import.as_str()), &place, "IMPORT_USED", what);
        }
    }

    /// The files of which a file uses a type.
    fn used(&self, file: &FileDescriptorProto) -> HashSet<&'a str> {
        let mut names = Vec::new();
        let mut waiting: Vec<_> = file.message_type.iter().collect();
        while let Some(message) = waiting.pop() {
            names.extend(message.field.iter().map(|field| field.type_name()));
            waiting.extend(&message.nested_type);
        }
        for method in file.service.iter().flat_map(|service| &service.method) {
            names.extend([method.input_type(), method.output_type()]);
        }
        let homes = names.iter().filter_map(|name| self.homes.get(*name));
        homes.copied().collect()
    }

    fn message(&mut self, place: &ProtoLocation, scope: &str, message: &'a DescriptorProto) {
        if message.options.as_ref().is_some_and(|o| o.map_entry()) {
            return;
        }
        let name = format!("{scope}.{}", message.name());
        self.comment(place, "message", &name);
        rules::message(self, place, message);
        for (i, field) in message.field.iter().enumerate() {
            let (place, name) = (place.part(2, i), format!("{name}.{}", field.name()));
            self.comment(&place, "field", &name);
            rules::field(self, &place, &name, field);
        }
        for (i, oneof) in message.oneof_decl.iter().enumerate() {
            let members = message.field.iter();
            let mut members = members.filter(|f| f.oneof_index == Some(i as i32));
            // `optional` makes a oneof of its own.
            if members.all(|field| !field.proto3_optional()) {
                let (place, name) = (place.part(8, i), format!("{name}.{}", oneof.name()));
                self.comment(&place, "oneof", &name);
                rules::lower_snake(self, &place, "ONEOF_LOWER_SNAKE_CASE", oneof.name());
            }
        }
        for (i, nested) in message.nested_type.iter().enumerate() {
            self.message(&place.part(3, i), &name, nested);
        }
        for (i, one) in message.enum_type.iter().enumerate() {
            self.enumeration(&place.part(4, i), one);
        }
    }

    fn enumeration(&mut self, place: &ProtoLocation, one: &EnumDescriptorProto) {
        self.comment(place, "enum", one.name());
        rules::enumeration(self, place, one);
        for (i, value) in one.value.iter().enumerate() {
            let place = place.part(2, i);
            self.comment(&place, "value", value.name());
            rules::value(self, &place, one, value);
        }
    }

    fn service(&mut self, place: &ProtoLocation, service: &'a ServiceDescriptorProto) {
        self.comment(place, "service", service.name());
        rules::service(self, place, service);
        for (i, method) in service.method.iter().enumerate() {
            let place = place.part(2, i);
            self.comment(&place, "RPC", method.name());
            rules::method(self, &place, service, method);
        }
    }
}
