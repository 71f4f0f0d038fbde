//! Tokens and keys: what is made, what is taken, what is refused.

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
        token_file: Some(folder.join("token")),
        ..Flags::default()
    };
    for (name, path) in set {
        flags.set.push(format!("{name}={}", path.display()));
    }
    Config::load(flags, Arc::new(|_| None)).unwrap()
}

#[test]
fn a_missing_token_is_made_for_us_alone_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &[]);
    assert!(Secrets::load(&config, false).unwrap().token.is_none());
    let made = Secrets::load(&config, true).unwrap();
    let path = folder.path().join("token");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.trim().len(), 64);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let token = made.token.clone().unwrap();
    assert!(token.is(text.trim().as_bytes()));
    assert!(!token.is(&text.as_bytes()[..63]) && !token.is(b"") && !token.is(&[b'0'; 64]));
    let again = Secrets::load(&config, true).unwrap();
    assert!(again.changes(&made).is_empty());
    assert!(!format!("{again:?}").contains(text.trim()));

    fs::write(&path, "another-token-of-ours").unwrap();
    let changed = Secrets::load(&config, true).unwrap();
    assert_eq!(changed.changes(&made), ["tcp.token_file"]);
}

#[test]
fn a_token_that_others_can_read_or_guess_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &[]);
    let path = folder.path().join("token");
    for (text, mode, words) in [
        ("0123456789abcdef", 0o640, "0640"),
        ("short", 0o600, "5 bytes"),
        ("0123456789 abcdef", 0o600, "one word"),
    ] {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = Secrets::load(&config, true).unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("tcp.token_file"),
            "{error}"
        );
    }
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
        Secrets::load(&config(folder.path(), &set), true)
    };
    let first = load("cert", "key", None).unwrap();
    assert!(first.keys.is_some());
    let second = load("cert", "key", Some("cert")).unwrap();
    assert_eq!(second.changes(&first), ["tcp.tls_certificate"]);
    for (cert, key, ca, words) in [
        ("cert", "wrong", None, "does not go with"),
        ("empty", "key", None, "no certificate"),
        ("cert", "empty", None, "no key"),
        ("cert", "key", Some("empty"), "tcp.tls_client_ca"),
        ("missing", "key", None, "missing"),
    ] {
        let error = load(cert, key, ca).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    fs::set_permissions(path("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let error = load("cert", "key", None).unwrap_err().to_string();
    assert!(error.contains("chmod"), "{error}");
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
        read_pem(&config, "tcp.tls_client_ca", &path, &mut Vec::new())
    };
    assert_eq!(read(most).unwrap().len(), most);
    let error = read(most + 1).unwrap_err().to_string();
    assert!(error.contains("tcp.tls_client_ca"), "{error}");
    assert!(error.contains("1048576"), "{error}");
}
