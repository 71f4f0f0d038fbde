//! `amem-scripted`: one server for each provider, until its standard input ends.
//!
//! It prints a line for each, the name and the base URL, and the key. A model named `status-429` is refused with 429.

#![forbid(unsafe_code)]

use std::io::{self, Read, Write};

use amem_scripted::{KEY, Protocol, Script, ScriptedServer};

fn main() -> io::Result<()> {
    let mut servers = Vec::new();
    let mut out = io::stdout().lock();
    for protocol in Protocol::ALL {
        let server = ScriptedServer::start(protocol, Script::default())?;
        writeln!(out, "{} {}", protocol.name(), server.url())?;
        servers.push(server);
    }
    writeln!(out, "key {KEY}")?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
