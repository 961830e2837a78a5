//! Requests carried by the program `curl`.

use super::error::short;
use super::{Error, Origin, Request, Response, Transport};
use linerate_out::child::{self, Need};
use std::fmt;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// The largest answer: attribute registries have a few megabytes.
const LARGEST: usize = 16 << 20;

/// Who asks.
#[derive(Clone, Default)]
pub enum Credentials {
    /// Nobody.
    #[default]
    None,
    /// A netrc file, which curl reads itself.
    Netrc(PathBuf),
    /// Name and password, which go to curl's standard input.
    Password {
        /// Name.
        user: String,
        /// Password.
        password: String,
    },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credentials::None => "None",
            Credentials::Netrc(_) => "Netrc(…)",
            Credentials::Password { .. } => "Password(…)",
        })
    }
}

/// The program `curl`, for one service.
#[derive(Debug, Clone)]
pub struct Curl {
    /// Service.
    pub origin: Origin,
    /// Who asks.
    pub credentials: Credentials,
    /// Take any certificate. Only where the operator asked for it.
    pub insecure: bool,
    /// Certificates to trust instead of the system's.
    pub cacert: Option<PathBuf>,
    /// Time for one request.
    pub limit: Duration,
    /// The program.
    pub program: PathBuf,
}

impl Curl {
    /// For a service, with verified TLS and half a minute a request.
    ///
    /// # Errors
    /// The credentials cannot be sent: they would go over an open connection, or hold characters that HTTP cannot carry.
    pub fn new(origin: Origin, credentials: Credentials) -> Result<Curl, Error> {
        if !matches!(credentials, Credentials::None) && !origin.is_tls() && !origin.is_loopback() {
            return Err(Error::Credentials("http:// would send them in the clear; use https://"));
        }
        if let Credentials::Password { user, password } = &credentials {
            if user.is_empty() || user.contains(':') {
                return Err(Error::Credentials("the user is empty, or has a colon"));
            }
            if user.chars().chain(password.chars()).any(char::is_control) {
                return Err(Error::Credentials("the user or the password has a control character"));
            }
        }
        let program = PathBuf::from("curl");
        Ok(Curl { origin, credentials, insecure: false, cacert: None, limit: Duration::from_secs(30), program })
    }

    /// Arguments: nothing secret, nothing of a request's body.
    fn arguments(&self, request: &Request) -> Vec<String> {
        let mut all: Vec<String> =
            ["-q", "--config", "-", "--silent", "--show-error", "--include", "--globoff", "--http1.1"]
                .map(str::to_owned)
                .into();
        let mut add = |words: &[&str]| all.extend(words.iter().map(|w| (*w).to_owned()));
        // A BMC is spoken to directly; an answer never sends us elsewhere.
        add(&["--noproxy", "*", "--max-redirs", "0", "--proto", if self.origin.is_tls() { "=https" } else { "=http" }]);
        let seconds = self.limit.as_secs().max(1).to_string();
        add(&["--max-time", &seconds, "--connect-timeout", &seconds, "--max-filesize", &LARGEST.to_string()]);
        if self.insecure {
            add(&["--insecure"]);
        }
        if let Some(file) = &self.cacert {
            add(&["--cacert", &file.display().to_string()]);
        }
        if let Credentials::Netrc(file) = &self.credentials {
            add(&["--netrc-file", &file.display().to_string()]);
        }
        add(&["--request", request.method.word(), "--url", &format!("{}{}", self.origin, request.path)]);
        all
    }

    /// What curl reads from its standard input.
    fn config(&self, request: &Request) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: &str| out.push_str(&format!("{key} = \"{}\"\n", quoted(value)));
        line("header", "Accept: application/json");
        line("header", "OData-Version: 4.0");
        line("header", "Expect:");
        if let Credentials::Password { user, password } = &self.credentials {
            line("user", &format!("{user}:{password}"));
        }
        if let Some(etag) = &request.if_match {
            line("header", &format!("If-Match: {etag}"));
        }
        if let Some(body) = &request.body {
            line("header", "Content-Type: application/json");
            line("data-raw", &body.to_string());
        }
        out
    }
}

/// Inside the double quotes of curl's configuration.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '"' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out
}

impl Transport for Curl {
    /// It does not use `linerate_transport`'s `converse`: that starts programs in a process group of their own, so Ctrl-C in the terminal would no
    /// longer end a curl that waits for a BMC, and it looks every 20 ms whether the program has ended, which would be added to each request.
    fn send(&self, request: &Request) -> Result<Response, Error> {
        let program =
            |e: std::io::Error| Error::Program { program: self.program.display().to_string(), why: e.to_string() };
        let mut child = child::command(&self.program, Need::Curl)
            .args(self.arguments(request))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(program)?;
        if let Some(mut input) = child.stdin.take() {
            // A curl that ended early says why itself.
            let _ = input.write_all(self.config(request).as_bytes());
        }
        let mut bytes = Vec::new();
        if let Some(output) = child.stdout.take() {
            let most = LARGEST as u64 + (64 << 10);
            output.take(most + 1).read_to_end(&mut bytes).map_err(program)?;
            if bytes.len() as u64 > most {
                let _ = child.kill();
                let _ = child.wait();
                let what = format!("the answer is larger than {} MiB", LARGEST >> 20);
                return Err(Error::Answer { path: request.path.clone(), what });
            }
        }
        let mut said = String::new();
        if let Some(errors) = child.stderr.take() {
            let _ = errors.take(4096).read_to_string(&mut said);
        }
        let status = child.wait().map_err(program)?;
        if !status.success() {
            let why = short(if said.trim().is_empty() { "curl said nothing" } else { &said });
            return Err(Error::NoAnswer { method: request.method.word(), path: request.path.clone(), why });
        }
        answer(&bytes)
            .ok_or_else(|| Error::Answer { path: request.path.clone(), what: "not an HTTP answer".to_owned() })
    }
}

/// Reads what `--include` prints: the headers, an empty line, the body. Interim answers (1xx) come before.
pub(super) fn answer(mut bytes: &[u8]) -> Option<Response> {
    loop {
        let (at, gap) = [&b"\r\n\r\n"[..], b"\n\n"]
            .iter()
            .filter_map(|gap| Some((bytes.windows(gap.len()).position(|w| w == *gap)?, gap.len())))
            .min()?;
        let head = String::from_utf8_lossy(bytes.get(..at)?);
        let mut lines = head.lines();
        let status: u16 = lines.next()?.strip_prefix("HTTP/")?.split_whitespace().nth(1)?.parse().ok()?;
        let body = bytes.get(at + gap..)?;
        if (100..200).contains(&status) {
            bytes = body;
            continue;
        }
        let headers = lines
            .filter_map(|l| l.split_once(':'))
            .take(256)
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        return Some(Response { status, headers, body: body.to_vec() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn curl(credentials: Credentials) -> Curl {
        Curl::new(Origin::parse("https://bmc.example").unwrap(), credentials).unwrap()
    }

    #[test]
    fn secrets_and_bodies_are_not_in_the_arguments() {
        let secret = Credentials::Password { user: "root".into(), password: "hun\"te\\r2".into() };
        assert!(!format!("{secret:?}").contains("r2"));
        let c = curl(secret);
        let request = Request {
            method: super::super::Method::Patch,
            path: "/redfish/v1/x".into(),
            body: Some(json!({"Attributes": {"A": "quo\"te"}})),
            if_match: Some("W/\"1\"".into()),
        };
        let arguments = c.arguments(&request).join(" ");
        for word in ["hun", "root", "Attributes", "insecure", "W/"] {
            assert!(!arguments.contains(word), "{word}: {arguments}");
        }
        assert!(arguments.ends_with("--request PATCH --url https://bmc.example:443/redfish/v1/x"), "{arguments}");
        let config = c.config(&request);
        assert!(config.contains(r#"user = "root:hun\"te\\r2""#), "{config}");
        assert!(config.contains(r#"data-raw = "{\"Attributes\":{\"A\":\"quo\\\"te\"}}""#), "{config}");
        assert!(config.contains(r#"header = "If-Match: W/\"1\"""#), "{config}");
    }

    #[test]
    fn credentials_that_cannot_be_sent() {
        let open = Origin::parse("http://bmc.example").unwrap();
        assert!(Curl::new(open.clone(), Credentials::Netrc("n".into())).is_err());
        assert!(Curl::new(open, Credentials::None).is_ok());
        for (user, password) in [("", "x"), ("a:b", "x"), ("a", "x\ny"), ("a\r", "x")] {
            let c = Credentials::Password { user: user.into(), password: password.into() };
            assert!(Curl::new(Origin::parse("https://bmc.example").unwrap(), c).is_err(), "{user:?}");
        }
    }

    #[test]
    fn answers_of_http() {
        let r = answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nETag: W/\"7\"\r\nX\r\n\r\n{}\r\n\r\n")
            .unwrap();
        assert_eq!((r.status, r.header("etag"), r.body.as_slice()), (202, Some("W/\"7\""), &b"{}\r\n\r\n"[..]));
        for bad in ["", "HTTP/1.1 200 OK", "garbage\r\n\r\n", "HTTP/1.1 many\r\n\r\n", "HTTP/1.1 100 C\r\n\r\n"] {
            assert_eq!(answer(bad.as_bytes()), None, "{bad}");
        }
    }
}
