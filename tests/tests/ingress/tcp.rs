//! TCP on this machine: tokens, the host, the role.

use amem_client::v1;
use amem_client::v1::brain_service_client::BrainServiceClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};

use crate::process::{Daemon, Setup, ask, check_refused};

const SETTINGS: &str = "[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"\n";

async fn connect(daemon: &Daemon, host: &str) -> Channel {
    let address = daemon.tcp.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let origin = format!("http://{host}:{}", address.port());
    endpoint
        .origin(origin.parse().unwrap())
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_tcp_caller_presents_the_token_and_addresses_this_machine() {
    let daemon = Setup::new(SETTINGS).start();
    let bearer = format!("Bearer {}", daemon.token().await);
    let wrong = format!("Bearer {}", "0".repeat(64));
    for host in ["127.0.0.1", "localhost"] {
        let channel = connect(&daemon, host).await;
        ask(channel.clone(), &[("authorization", &bearer)])
            .await
            .unwrap();
        for headers in [
            &[][..],
            &[("authorization", wrong.as_str())],
            &[("authorization", &bearer[7..])],
        ] {
            let answer = ask(channel.clone(), headers).await;
            check_refused(
                answer,
                Code::Unauthenticated,
                "TOKEN",
                &["authorization: Bearer"],
            );
        }
    }
    let channel = connect(&daemon, "evil.example").await;
    let answer = ask(channel, &[("authorization", &bearer)]).await;
    check_refused(answer, Code::PermissionDenied, "HOST", &["localhost"]);
}

#[tokio::test]
async fn a_caller_may_do_what_its_role_allows_and_nothing_more() {
    let daemon = Setup::new(SETTINGS).start();
    let channel = connect(&daemon, "localhost").await;
    let token = daemon.token_of("asks", v1::Permission::Read).await;
    let bearer = format!("Bearer {token}");
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let mut request = Request::new(create.clone());
    request
        .metadata_mut()
        .insert("authorization", bearer.parse().unwrap());
    let answer = BrainServiceClient::new(channel.clone())
        .create_brain(request)
        .await;
    let words = ["token:asks has the role read", "needs the role write"];
    check_refused(answer, Code::PermissionDenied, "ROLE", &words);
    // Our own user may.
    daemon
        .client()
        .await
        .brains()
        .create_brain(create)
        .await
        .unwrap();
    let mut request = Request::new(v1::ListBrainsRequest::default());
    request
        .metadata_mut()
        .insert("authorization", bearer.parse().unwrap());
    let listed = BrainServiceClient::new(channel).list_brains(request).await;
    assert_eq!(listed.unwrap().into_inner().brains[0].brain, "b");
}

#[tokio::test]
async fn a_caller_over_its_rate_gets_the_time_to_wait_and_others_are_served() {
    let settings = format!("{SETTINGS}[limits]\ncalls_per_second = 10\n");
    let daemon = Setup::new(&settings).start();
    let channel = connect(&daemon, "localhost").await;
    let bearer = |token: &str| format!("Bearer {token}");
    let busy = bearer(&daemon.token_of("busy", v1::Permission::Read).await);
    let calm = bearer(&daemon.token_of("calm", v1::Permission::Read).await);
    let mut refused = None;
    for _ in 0..200 {
        let answer = ask(channel.clone(), &[("authorization", &busy)]).await;
        if answer.is_err() {
            refused = Some(answer);
            break;
        }
    }
    let words = ["token:busy", "limits.calls_per_second", "retry in"];
    check_refused(refused.unwrap(), Code::ResourceExhausted, "LOAD", &words);
    ask(channel.clone(), &[("authorization", &calm)])
        .await
        .unwrap();
    // A share comes back with time.
    while ask(channel.clone(), &[("authorization", &busy)])
        .await
        .is_err()
    {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn paths_and_processes_are_told_to_callers_of_this_machine_only() {
    let daemon = Setup::new(SETTINGS).start();
    let token = daemon.token_of("asks", v1::Permission::Admin).await;
    let bearer: tonic::metadata::AsciiMetadataValue = format!("Bearer {token}").parse().unwrap();
    let local = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    local.brains().create_brain(create).await.unwrap();
    for is_local in [true, false] {
        let channel = match is_local {
            true => local.channel(),
            false => connect(&daemon, "localhost").await,
        };
        let shows = bearer.clone();
        let shows = move |mut request: Request<()>| {
            request
                .metadata_mut()
                .insert("authorization", shows.clone());
            Ok(request)
        };
        let mut brains = BrainServiceClient::with_interceptor(channel.clone(), shows.clone());
        let open = v1::OpenBrainRequest { brain: "b".into() };
        let opened = brains.open_brain(open).await.unwrap().into_inner();
        let mut admin =
            v1::admin_service_client::AdminServiceClient::with_interceptor(channel, shows);
        let status = admin.get_status(v1::GetStatusRequest {}).await.unwrap();
        let status = status.into_inner();
        let told = [
            !opened.path.is_empty(),
            !status.folder.is_empty(),
            !status.socket.is_empty(),
            status.pid != 0,
        ];
        assert_eq!(told, [is_local; 4]);
        assert_eq!(opened.direct_read, is_local);
        assert_eq!(status.brain_count, 1);
    }
}
