//! ItemService on a real daemon by gRPC.

use amem_client::v1;
use amem_client::v1::item_op::Op;
use tonic::Code;

use crate::process::{Daemon, folder};

fn put(key: &str, value: &str) -> v1::ItemPut {
    v1::ItemPut {
        namespace: vec!["users".into(), "ada".into()],
        key: key.into(),
        value_json: Some(value.into()),
        ..v1::ItemPut::default()
    }
}

fn get(key: &str) -> v1::ItemGet {
    v1::ItemGet {
        namespace: vec!["users".into(), "ada".into()],
        key: key.into(),
        refresh_ttl: true,
    }
}

fn op(op: Op) -> v1::ItemOp {
    v1::ItemOp { op: Some(op) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_put_found_listed_and_deleted_over_grpc_and_a_restart() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut items = daemon.client().await.items();
    let stored = v1::PutItemRequest {
        put: Some(put("home", r#"{"city":"Porto","n":1}"#)),
        ..v1::PutItemRequest::default()
    };
    let stored = items.put_item(stored).await.unwrap().into_inner();
    assert!(stored.moment.unwrap().lsn > 0);
    drop(daemon);
    let daemon = Daemon::start(folder.path());
    let mut items = daemon.client().await.items();
    let asked = v1::GetItemRequest {
        get: Some(get("home")),
        ..v1::GetItemRequest::default()
    };
    let found = items.get_item(asked.clone()).await.unwrap().into_inner();
    let item = found.item.unwrap();
    assert_eq!(item.value_json, r#"{"city":"Porto","n":1}"#);
    assert_eq!(item.namespace, ["users", "ada"]);
    assert_eq!(item.created_at, item.updated_at);
    let search = v1::ItemSearch {
        namespace_prefix: vec!["users".into()],
        query: "Porto".into(),
        ..v1::ItemSearch::default()
    };
    let request = v1::SearchItemsRequest {
        search: Some(search.clone()),
        ..v1::SearchItemsRequest::default()
    };
    let hits = items.search_items(request).await.unwrap().into_inner().hits;
    assert!(hits[0].score.is_some_and(|score| score > 0.3), "{hits:?}");
    // What a batch reads is from before what it changes.
    let batch = v1::BatchItemsRequest {
        ops: vec![
            op(Op::Put(put("tea", r#"{"kind":"oolong"}"#))),
            op(Op::Get(get("tea"))),
            op(Op::Get(get("home"))),
            op(Op::Search(search)),
            op(Op::List(v1::ItemNamespaceList::default())),
            op(Op::Put(v1::ItemPut {
                value_json: None,
                ..put("home", "")
            })),
        ],
        ..v1::BatchItemsRequest::default()
    };
    let answer = items.batch_items(batch).await.unwrap().into_inner();
    let results = answer.results;
    assert_eq!(results.len(), 6);
    assert_eq!(results[1], v1::ItemResult::default());
    assert_eq!(results[2].item.as_ref().unwrap().key, "home");
    assert_eq!(results[3].hits.len(), 1);
    assert_eq!(results[4].namespaces[0].labels, ["users", "ada"]);
    assert_eq!(items.get_item(asked).await.unwrap().into_inner().item, None);
    let delete = v1::DeleteItemRequest {
        namespace: vec!["users".into(), "ada".into()],
        key: "tea".into(),
        ..v1::DeleteItemRequest::default()
    };
    for deleted in [true, false] {
        let answer = items.delete_item(delete.clone()).await.unwrap();
        assert_eq!(answer.into_inner().deleted, deleted);
    }
    let none = items
        .list_item_namespaces(v1::ListItemNamespacesRequest::default())
        .await
        .unwrap();
    assert!(none.into_inner().namespaces.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_namespaces_have_each_one_once() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut items = daemon.client().await.items();
    let ops = (0..25).map(|n| {
        op(Op::Put(v1::ItemPut {
            namespace: vec!["n".into(), format!("{n:02}")],
            ..put("k", "{}")
        }))
    });
    let batch = v1::BatchItemsRequest {
        ops: ops.collect(),
        ..v1::BatchItemsRequest::default()
    };
    items.batch_items(batch).await.unwrap();
    let mut list = v1::ListItemNamespacesRequest {
        page_size: 10,
        skip: 2,
        ..v1::ListItemNamespacesRequest::default()
    };
    let mut found = Vec::new();
    loop {
        let page = items.list_item_namespaces(list.clone()).await.unwrap();
        let page = page.into_inner();
        found.extend(page.namespaces.into_iter().map(|one| one.labels[1].clone()));
        if page.next_page_token.is_empty() {
            break;
        }
        (list.page_token, list.skip) = (page.next_page_token, 0);
    }
    let expected: Vec<_> = (2..25).map(|n| format!("{n:02}")).collect();
    assert_eq!(found, expected);
    list.page_token = "..".into();
    let refused = items.list_item_namespaces(list).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_requests_are_refused_by_name_and_change_nothing() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut items = daemon.client().await.items();
    let long = "x".repeat(2000);
    for (bad, word) in [
        (None, "put"),
        (Some(v1::ItemPut::default()), "value_json"),
        (Some(put("k", "[1]")), "value_json"),
        (Some(put(&long, "{}")), "the key in bytes"),
        (
            Some(v1::ItemPut {
                namespace: vec!["a.b".into()],
                ..put("k", "{}")
            }),
            "namespace",
        ),
        (
            Some(v1::ItemPut {
                index: Some(v1::ItemIndex {
                    none: true,
                    paths: vec!["a".into()],
                }),
                ..put("k", "{}")
            }),
            "index",
        ),
    ] {
        let request = v1::PutItemRequest {
            put: bad,
            ..v1::PutItemRequest::default()
        };
        let refused = items.put_item(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
        assert!(refused.message().contains(word), "{refused}");
    }
    let value = format!("{{\"t\":\"{}\"}}", "x".repeat(900_000));
    for key in ["a", "b", "c"] {
        let request = v1::PutItemRequest {
            put: Some(v1::ItemPut {
                index: Some(v1::ItemIndex {
                    none: true,
                    paths: Vec::new(),
                }),
                ..put(key, &value)
            }),
            ..v1::PutItemRequest::default()
        };
        items.put_item(request).await.unwrap();
    }
    let batch = v1::BatchItemsRequest {
        ops: vec![
            op(Op::Get(get("a"))),
            op(Op::Get(get("b"))),
            op(Op::Get(get("c"))),
            op(Op::Put(put("new", "{}"))),
        ],
        ..v1::BatchItemsRequest::default()
    };
    let refused = items.batch_items(batch).await.unwrap_err();
    assert!(refused.message().contains("smaller batches"), "{refused}");
    let asked = v1::GetItemRequest {
        get: Some(get("new")),
        ..v1::GetItemRequest::default()
    };
    assert_eq!(items.get_item(asked).await.unwrap().into_inner().item, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_id_is_executed_once() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut items = daemon.client().await.items();
    let request = |value: &str, id: &str| v1::PutItemRequest {
        put: Some(put("k", value)),
        options: Some(v1::WriteOptions {
            request_id: id.into(),
            ..v1::WriteOptions::default()
        }),
        ..v1::PutItemRequest::default()
    };
    let id = "0190b2f4-0000-7000-8000-000000000001";
    items.put_item(request("{\"n\":1}", id)).await.unwrap();
    let second = "0190b2f4-0000-7000-8000-000000000002";
    items.put_item(request("{\"n\":2}", second)).await.unwrap();
    items.put_item(request("{\"n\":1}", id)).await.unwrap();
    let asked = v1::GetItemRequest {
        get: Some(get("k")),
        ..v1::GetItemRequest::default()
    };
    let found = items.get_item(asked).await.unwrap().into_inner();
    assert_eq!(found.item.unwrap().value_json, "{\"n\":2}");
    let reused = items.put_item(request("{\"n\":3}", id)).await.unwrap_err();
    assert_eq!(reused.code(), Code::AlreadyExists);
}
