//! Reads the options of all calls and generates code from them.
//!
//! `prost_types` drops extension options, so they are read from the compiler's descriptors.

use std::fmt::Write;

use protox::prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, Kind, MethodDescriptor, ReflectMessage,
    ServiceDescriptor, Value,
};

/// The extension of `google.protobuf.MethodOptions`.
const OPTION: &str = "amem.v1.call";

/// A call and its options. Enums are the Rust names of their values, `Unspecified` if absent.
pub(crate) struct CallOptions {
    service: String,
    method: String,
    request: String,
    response: String,
    /// True if the request has a field `brain`.
    has_brain: bool,
    sends_stream: bool,
    answers_stream: bool,
    role: String,
    reach: String,
    pace: String,
    weight: String,
    touch: String,
    message_size: String,
    is_repeatable: bool,
    changes_access: bool,
    is_endless: bool,
}

impl CallOptions {
    fn read(service: &ServiceDescriptor, method: &MethodDescriptor) -> Result<Self, String> {
        let name = method.full_name();
        let missing = || format!("{name} states no `option (call)`: see amem/v1/options.proto");
        let extension = method
            .parent_pool()
            .get_extension_by_name(OPTION)
            .ok_or_else(missing)?;
        let options = method.options();
        if !options.has_extension(&extension) {
            return Err(missing());
        }
        let value = options.get_extension(&extension).into_owned();
        let Value::Message(options) = value else {
            return Err(missing());
        };
        let call = Self {
            service: service.name().to_owned(),
            method: method.name().to_owned(),
            request: method.input().name().to_owned(),
            response: method.output().name().to_owned(),
            has_brain: method.input().get_field_by_name("brain").is_some(),
            sends_stream: method.is_client_streaming(),
            answers_stream: method.is_server_streaming(),
            role: variant(&options, "role")?,
            reach: variant(&options, "reach")?,
            pace: variant(&options, "pace")?,
            weight: variant(&options, "weight")?,
            touch: variant(&options, "touch")?,
            message_size: variant(&options, "message_size")?,
            is_repeatable: flag(&options, "repeatable"),
            changes_access: flag(&options, "changes_access"),
            is_endless: flag(&options, "endless"),
        };
        call.check().map_err(|why| format!("{name}: {why}"))?;
        Ok(call)
    }

    /// Refuses options that are missing or contradict each other.
    fn check(&self) -> Result<(), &'static str> {
        let has_stream = self.sends_stream || self.answers_stream;
        if [&self.role, &self.reach, &self.pace]
            .iter()
            .any(|stated| *stated == UNSPECIFIED)
        {
            return Err("`option (call)` must state role, reach and pace");
        }
        if has_stream != (self.pace == "Stream") {
            return Err("a call with a stream has PACE_STREAM, and no other has");
        }
        if self.is_question() != (self.weight != UNSPECIFIED) {
            return Err("a call of QueryService states a weight, and no other does");
        }
        if self.is_question() && has_stream {
            return Err("a call of QueryService has no streams");
        }
        if !self.is_question() && self.touch != UNSPECIFIED {
            return Err("only a call of QueryService touches");
        }
        if self.is_endless && !self.answers_stream {
            return Err("only a stream of answers is endless");
        }
        Ok(())
    }

    fn is_unary(&self) -> bool {
        !self.sends_stream && !self.answers_stream
    }

    fn is_question(&self) -> bool {
        self.service == "QueryService"
    }

    fn is_change(&self) -> bool {
        self.service == "MemoryService" && self.is_unary()
    }

    fn path(&self) -> String {
        format!("/amem.v1.{}/{}", self.service, self.method)
    }
}

const UNSPECIFIED: &str = "Unspecified";

/// `ROLE_READ` of the enum `Role` as `Read`.
fn variant(options: &DynamicMessage, field: &str) -> Result<String, String> {
    let unknown = || format!("the option {field} is no enum");
    let descriptor = options
        .descriptor()
        .get_field_by_name(field)
        .ok_or_else(unknown)?;
    let Kind::Enum(kind) = descriptor.kind() else {
        return Err(unknown());
    };
    let number = options.get_field(&descriptor).as_enum_number();
    let value = number
        .and_then(|number| kind.get_value(number))
        .ok_or_else(unknown)?;
    Ok(pascal(&kind, value.name()))
}

fn pascal(kind: &EnumDescriptor, value: &str) -> String {
    let prefix = snake(kind.name()).to_uppercase() + "_";
    let words = value.strip_prefix(&prefix).unwrap_or(value).split('_');
    let capital = |word: &str| word[..1].to_owned() + &word[1..].to_lowercase();
    words.map(capital).collect()
}

/// `GetEvents` as `get_events`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn flag(options: &DynamicMessage, field: &str) -> bool {
    let value = options.get_field_by_name(field);
    value.and_then(|value| value.as_bool()).unwrap_or(false)
}

/// Every call of `amem.v1`, in the order of the files and of each file.
pub(crate) fn read(pool: &DescriptorPool) -> Result<Vec<CallOptions>, String> {
    let services = pool
        .services()
        .filter(|service| service.package_name() == "amem.v1");
    let mut out = Vec::new();
    for service in services {
        for method in service.methods() {
            out.push(CallOptions::read(&service, &method)?);
        }
    }
    Ok(out)
}

/// The rows of `CALLS`, by path.
pub(crate) fn table(calls: &[CallOptions]) -> String {
    let mut calls: Vec<_> = calls.iter().collect();
    calls.sort_by_key(|call| call.path());
    let mut out = String::from("&[\n");
    for call in calls {
        let CallOptions {
            service,
            method,
            request,
            sends_stream,
            answers_stream,
            role,
            reach,
            pace,
            weight,
            touch,
            message_size,
            is_repeatable,
            changes_access,
            is_endless,
            ..
        } = call;
        let path = call.path();
        let optional = |kind: &str, value: &str| match value {
            UNSPECIFIED => "None".to_owned(),
            value => format!("Some({kind}::{value})"),
        };
        let (weight, touch) = (optional("Weight", weight), optional("Touch", touch));
        let is_batch = message_size == "Batch";
        let _ = writeln!(
            out,
            "Call {{ path: {path:?}, service: {service:?}, method: {method:?}, request: {request:?}, \
             sends_stream: {sends_stream}, answers_stream: {answers_stream}, permission: Permission::{role}, \
             reach: CallReach::{reach}, pace: Pace::{pace}, weight: {weight}, touch: {touch}, \
             is_repeatable: {is_repeatable}, changes_access: {changes_access}, is_endless: {is_endless}, \
             is_batch: {is_batch} }},"
        );
    }
    out + "]"
}

/// `impl Question` for the request of each call of `QueryService`.
pub(crate) fn questions(calls: &[CallOptions]) -> String {
    let mut out = String::new();
    for call in calls.iter().filter(|call| call.is_question()) {
        let (request, path) = (&call.request, call.path());
        let is_heavy = match call.weight.as_str() {
            "Light" => "false",
            "Heavy" => "true",
            _ => "self.is_large()",
        };
        let touches = match call.touch.as_str() {
            "OnRequest" => "self.touch.unwrap_or(false)",
            "ByDefault" => "self.touch.unwrap_or(true)",
            _ => "false",
        };
        let _ = writeln!(
            out,
            "impl Question for v1::{request} {{
                const PATH: &'static str = {path:?};
                fn brain(&self) -> &str {{ &self.brain }}
                fn brain_mut(&mut self) -> &mut String {{ &mut self.brain }}
                fn as_of(&self) -> Result<Option<AsOf>> {{ as_of(self.as_of) }}
                fn is_heavy(&self) -> bool {{ {is_heavy} }}
                fn touches(&self) -> bool {{ {touches} }}
                fn moment(answer: &Self::Answer) -> Option<&v1::Moment> {{ answer.moment.as_ref() }}
            }}"
        );
    }
    out
}

/// `impl Change` for the request of each call of `MemoryService` without streams.
pub(crate) fn changes(calls: &[CallOptions]) -> String {
    let mut out = String::new();
    for call in calls.iter().filter(|call| call.is_change()) {
        let (request, response, path) = (&call.request, &call.response, call.path());
        let _ = writeln!(
            out,
            "impl Change for v1::{request} {{
                type Answer = v1::{response};
                const PATH: &'static str = {path:?};
                fn brain(&self) -> &str {{ &self.brain }}
                fn brain_mut(&mut self) -> &mut String {{ &mut self.brain }}
                fn options_mut(&mut self) -> &mut v1::WriteOptions {{ self.options.get_or_insert_default() }}
                fn take_options(&mut self) -> Option<v1::WriteOptions> {{ self.options.take() }}
                fn commit(answer: &Self::Answer) -> Option<&v1::Commit> {{ answer.commit.as_ref() }}
            }}"
        );
    }
    out
}

/// Macros that pass the unary calls of a service, or all requests, to another macro.
pub(crate) fn lists(calls: &[CallOptions]) -> String {
    let mut out = String::new();
    let mut services: Vec<_> = calls.iter().map(|call| &call.service).collect();
    services.dedup();
    for service in services {
        let name = snake(service.trim_end_matches("Service"));
        let unary = calls.iter().filter(|call| call.service == *service);
        let mut rows = String::new();
        for call in unary.filter(|call| call.is_unary()) {
            let (request, response, path) = (&call.request, &call.response, call.path());
            let _ = writeln!(
                rows,
                "{} {request} {response} {path:?};",
                snake(&call.method)
            );
        }
        macro_of(
            &mut out,
            &format!("for_each_{name}_call"),
            &format!(
                "Gives a macro each call of {service} without streams: `method Request Response \"path\";`."
            ),
            &rows,
        );
    }
    let mut rows = String::new();
    for call in calls {
        let kind = match call.is_unary() {
            true if call.is_question() => "question",
            true if call.is_change() => "change",
            true => "call",
            false => "stream",
        };
        let _ = writeln!(rows, "{kind} {};", call.request);
    }
    macro_of(
        &mut out,
        "for_each_request",
        "Gives a macro each request of amem.v1: `question`, `change`, `call` or `stream`, and its message.",
        &rows,
    );
    let mut rows = String::new();
    for call in calls.iter().filter(|call| call.is_unary()) {
        let kind = match call.service.as_str() {
            "FactService" => "fact",
            _ if call.is_question() => "question",
            _ if call.is_change() => "change",
            _ => "call",
        };
        // What a call of AdminService does with a brain, it may do with all.
        let place = match (call.has_brain, call.service.as_str()) {
            (false, _) => "daemon",
            (true, "AdminService") => "both",
            (true, _) => "brain",
        };
        let (name, path) = (snake(&call.method).replace('_', "-"), call.path());
        let (request, response) = (&call.request, &call.response);
        let _ = writeln!(
            rows,
            "{kind} {place} {name:?} {path:?} {request} {response};"
        );
    }
    macro_of(
        &mut out,
        "for_each_unary_call",
        "Gives a macro each call of amem.v1 without streams: `question`, `change`, `fact` or `call`; `brain` if its \
         request names one, `daemon` if not, `both` if it may; its name with hyphens, its path, and its messages.",
        &rows,
    );
    out
}

fn macro_of(out: &mut String, name: &str, comment: &str, rows: &str) {
    let _ = writeln!(
        out,
        "/// {comment}\n#[macro_export]\nmacro_rules! {name} {{\n($callback:ident) => {{ $callback! {{\n{rows}}} }};\n}}"
    );
}
