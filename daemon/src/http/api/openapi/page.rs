//! A page for people: the routes, by group. It loads nothing from elsewhere.

use std::sync::LazyLock;

use serde_json::Value;

use super::document::document;

static PAGE: LazyLock<String> = LazyLock::new(|| make(document().0));

/// The page, in HTML.
pub(in super::super) fn page() -> &'static str {
    &PAGE
}

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;width:100%}td{border-top:1px solid #ccc;padding:.3em .6em;vertical-align:top}\
code{font-size:.9em}";

fn make(document: &Value) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>amemd</title><style>{STYLE}</style></head>\
         <body>\n<h1>amemd</h1>\n"
    );
    for paragraph in text(&document["info"]["description"]).lines() {
        out += &format!("<p>{}</p>\n", escaped(paragraph));
    }
    out += "<p><a href=\"/openapi.json\">openapi.json</a> (OpenAPI 3.1) has all parameters and answers.</p>\n";
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = text(&tag["name"]);
        let about = text(&tag["description"]).lines().next().unwrap_or_default();
        out += &format!(
            "<h2>{}</h2>\n<p>{}</p>\n<table>\n",
            escaped(name),
            escaped(about)
        );
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                if operation["tags"][0] == name {
                    let (path, about) = (escaped(path), escaped(text(&operation["summary"])));
                    let method = method.to_uppercase();
                    out += &format!(
                        "<tr><td>{method}</td><td><code>{path}</code></td><td>{about}</td></tr>\n"
                    );
                }
            }
        }
        out += "</table>\n";
    }
    out + "</body></html>\n"
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_page_names_every_route_and_loads_nothing() {
        let page = page();
        for words in [
            "/v1/brains/{brain}/search",
            "/v1/memories/{id}",
            "/v1/daemon/get-status",
        ] {
            assert!(page.contains(words), "{words}");
        }
        for words in ["http://", "https://", "<script", "src="] {
            assert!(!page.contains(words), "{words}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        let document = json!({"tags": [{"name": "a<b"}], "paths": {"/x": {"get": {"tags": ["a<b"], "summary": "\"&\""}}}});
        let page = make(&document);
        assert!(
            page.contains("a&lt;b") && page.contains("&quot;&amp;&quot;"),
            "{page}"
        );
    }
}
