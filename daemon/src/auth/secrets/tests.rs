//! Keys: what is taken, what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::config::Flags;

fn config(folder: &Path, set: &[(&str, &Path)]) -> Config {
    let mut flags = Flags {
        folder: Some(folder.into()),
        socket: Some(folder.join("s")),
        tcp_listen: Some("127.0.0.1:0".into()),
        tokens_file: Some(folder.join("tokens.toml")),
        ..Flags::default()
    };
    for (name, path) in set {
        flags.set.push(format!("{name}={}", path.display()));
    }
    Config::load(flags, Arc::new(|_| None)).unwrap()
}

#[test]
fn keys_are_taken_only_if_they_are_whole_and_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let private = |name: &str, text: &str| {
        fs::write(path(name), text).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o600)).unwrap();
    };
    private("cert", &made.cert.pem());
    private("key", &made.signing_key.serialize_pem());
    private("wrong", &other.signing_key.serialize_pem());
    private("empty", "nothing");
    let load = |cert: &str, key: &str, ca: Option<&str>| {
        let (cert, key, ca) = (path(cert), path(key), ca.map(path));
        let mut set = vec![
            ("tcp.tls_certificate", cert.as_path()),
            ("tcp.tls_key", key.as_path()),
        ];
        set.extend(ca.as_deref().map(|ca| ("tcp.tls_client_ca", ca)));
        Secrets::load(&config(folder.path(), &set))
    };
    let first = load("cert", "key", None).unwrap();
    assert!(first.keys.is_some());
    let second = load("cert", "key", Some("cert")).unwrap();
    assert_eq!(second.changes(&first), ["tcp.tls_certificate"]);
    for (cert, key, ca, words) in [
        ("cert", "wrong", None, "does not match"),
        ("empty", "key", None, "no certificate"),
        ("cert", "empty", None, "no key"),
        ("cert", "key", Some("empty"), "tcp.tls_client_ca"),
        ("missing", "key", None, "missing"),
    ] {
        let error = load(cert, key, ca).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    private("ca", &made.cert.pem());
    let allow = |name: &str, mode| {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // A user who can write these files decides which callers are admitted.
    for (name, key) in [
        ("ca", "tcp.tls_client_ca"),
        ("cert", "tcp.tls_certificate"),
        ("key", "tcp.tls_key"),
    ] {
        allow(name, 0o606);
        let error = load("cert", "key", Some("ca")).unwrap_err().to_string();
        assert!(error.contains("chmod") && error.contains(key), "{error}");
        allow(name, 0o600);
    }
    allow("key", 0o644);
    let error = load("cert", "key", None).unwrap_err().to_string();
    assert!(error.contains("chmod"), "{error}");
    allow("key", 0o640);
    load("cert", "key", None).unwrap();
}

#[test]
fn a_certificate_has_one_name() {
    let name = certificate_name(b"a").unwrap();
    // The SHA-256 of "a" begins so.
    assert_eq!(name, "certificate:ca978112ca1bbdcafac231b39a23dc4d");
}

#[test]
fn a_file_of_certificates_that_is_too_long_is_refused_and_never_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pem");
    let config = config(folder.path(), &[]);
    let most = PEM_BYTES_MAX as usize;
    let read = |bytes: usize| {
        fs::write(&path, vec![b'x'; bytes]).unwrap();
        read_pem(
            &config,
            "tcp.tls_client_ca",
            &path,
            OthersMay::Read,
            &mut Vec::new(),
        )
    };
    assert_eq!(read(most).unwrap().len(), most);
    let error = read(most + 1).unwrap_err().to_string();
    assert!(error.contains("tcp.tls_client_ca"), "{error}");
    assert!(error.contains("1048576"), "{error}");
}
