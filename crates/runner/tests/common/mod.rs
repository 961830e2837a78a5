//! What the tests share: runs, and hosts to run on.
#![allow(dead_code, unused_imports, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

#[path = "../../../transport/tests/common/mod.rs"]
mod hosts;

pub(crate) use hosts::{Sshd, all_gone, find, have, kill, processes, quietly, wait_for, word};
use linerate_runner::{Event, Measured, Prepared, Request, RunError, prepare};
use linerate_transport::{Cancel, HostSpec};

/// A short request whose processes carry a word.
pub(crate) fn request(what: &str, word: &str) -> Request {
    let mut request = Request::new(linerate_runner::What::of_name(what).unwrap());
    request.seconds = 1;
    request.repetitions = 1;
    request.warmups = 0;
    request.size = 16 << 20;
    request.variants[0].env = vec![("LINERATE_TEST".to_owned(), word.to_owned())];
    request
}

pub(crate) fn prepared(on: &str, request: &Request, ssh: &[String]) -> Result<Prepared, RunError> {
    let hosts = HostSpec::list(on).unwrap();
    prepare(&hosts, request, ssh, None, &Cancel::new(), &mut |_| {})
}

pub(crate) fn measured(on: &str, request: &Request, listen: &mut dyn FnMut(Event<'_>)) -> Measured {
    prepared(on, request, &[]).unwrap().measure(&Cancel::new(), listen)
}

/// Two network namespaces joined by a cable; or loopback, where they are not permitted.
pub(crate) struct Pair {
    names: [String; 2],
    pub(crate) on: String,
}

impl Pair {
    pub(crate) fn new(test: &str) -> Pair {
        let id = std::process::id();
        let names = ["a", "b"].map(|s| format!("lr{id}{test}{s}"));
        let cable = ["a", "b"].map(|s| format!("lr{}{s}", id % 100_000));
        let made = find("ip").is_some() && names.iter().all(|n| quietly("ip", &["netns", "add", n]));
        let mut pair = Pair { names: names.clone(), on: String::new() };
        let join = |n: usize, address: &str| {
            let (name, cable) = (names[n].as_str(), cable[n].as_str());
            quietly("ip", &["link", "set", cable, "netns", name])
                && quietly("ip", &["-n", name, "addr", "add", &format!("{address}/30"), "dev", cable])
                && quietly("ip", &["-n", name, "link", "set", cable, "up"])
                && quietly("ip", &["-n", name, "link", "set", "lo", "up"])
        };
        let joined = made
            && quietly("ip", &["link", "add", &cable[0], "type", "veth", "peer", "name", &cable[1]])
            && join(0, "10.231.7.1")
            && join(1, "10.231.7.2");
        if joined {
            println!("between two network namespaces");
            pair.on = format!("local:netns={}=10.231.7.1,local:netns={}=10.231.7.2", names[0], names[1]);
        } else {
            println!("network namespaces are not permitted here: over loopback");
            "local=127.0.0.1,local=127.0.0.1".clone_into(&mut pair.on);
        }
        pair
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            quietly("ip", &["netns", "del", name]);
        }
    }
}
