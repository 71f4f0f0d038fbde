//! A proxy that takes every host to one server.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use amem_locks::LockResultExt;

use crate::request::RecordedRequest;

/// A proxy with CONNECT for TLS, and whole URLs for plain requests. It runs as long as its process.
pub struct ScriptedProxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl ScriptedProxy {
    /// Starts a proxy to a server; `authorization` is the value of Proxy-Authorization that it wants.
    ///
    /// # Errors
    /// If this machine has no port.
    pub fn start(target: SocketAddr, authorization: Option<&str>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, wanted) = (requests.clone(), authorization.map(str::to_owned));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, wanted) = (seen.clone(), wanted.clone());
                thread::spawn(move || _ = forward(stream, target, wanted.as_deref(), &seen));
            }
        });
        Ok(Self { address, requests })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The heads of the requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        let requests = self.requests.lock();
        requests.unpoisoned().clone()
    }
}

fn forward(
    stream: TcpStream,
    target: SocketAddr,
    wanted: Option<&str>,
    seen: &Mutex<Vec<RecordedRequest>>,
) -> io::Result<()> {
    let mut client = BufReader::new(stream);
    let Some(head) = RecordedRequest::read_head(&mut client)? else {
        return Ok(());
    };
    seen.lock().unpoisoned().push(head.clone());
    if wanted.is_some() && head.header("proxy-authorization") != wanted {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
        return client.get_mut().write_all(refusal);
    }
    let mut server = TcpStream::connect(target)?;
    if head.method == "CONNECT" {
        client
            .get_mut()
            .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    } else {
        let mut text = format!("{} {} HTTP/1.1\r\n", head.method, head.path());
        for (name, value) in &head.headers {
            if name != "proxy-authorization" {
                text += &format!("{name}: {value}\r\n");
            }
        }
        server.write_all(format!("{text}\r\n").as_bytes())?;
    }
    let (mut back, mut to_client) = (server.try_clone()?, client.get_ref().try_clone()?);
    thread::spawn(move || {
        _ = io::copy(&mut back, &mut to_client);
        _ = to_client.shutdown(Shutdown::Both);
    });
    let mut chunk = [0; 16 << 10];
    loop {
        let count = client.read(&mut chunk)?;
        if count == 0 {
            return server.shutdown(Shutdown::Write);
        }
        server.write_all(&chunk[..count])?;
    }
}
