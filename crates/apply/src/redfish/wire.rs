//! Requests and answers, whoever carries them.

use super::Error;
use super::error::short;
use serde_json::Value;

/// What is done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Change.
    Patch,
    /// Make it act.
    Post,
}

impl Method {
    /// As HTTP writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Patch => "PATCH",
            Method::Post => "POST",
        }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path on the service.
    pub path: String,
    /// What is sent.
    pub body: Option<Value>,
    /// `If-Match`: only if the resource is still this one.
    pub if_match: Option<String>,
}

impl Request {
    /// Reads a resource.
    #[must_use]
    pub fn get(path: &str) -> Request {
        Request { method: Method::Get, path: path.to_owned(), body: None, if_match: None }
    }
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

/// Who carries requests to the service.
pub trait Transport {
    /// Carries one.
    ///
    /// # Errors
    /// There is no answer. An answer with an error's status is an answer.
    fn send(&self, request: &Request) -> Result<Response, Error>;
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn send(&self, request: &Request) -> Result<Response, Error> {
        (**self).send(request)
    }
}

impl Response {
    /// A header's first value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The body, where the status says that all went well.
    pub(super) fn json(&self, request: &Request) -> Result<Value, Error> {
        self.good(request)?;
        let wrong = |what: String| Error::Answer { path: request.path.clone(), what };
        // The reader itself limits the depth.
        let value: Value = serde_json::from_slice(&self.body).map_err(|e| wrong(format!("not JSON: {e}")))?;
        if !value.is_object() {
            return Err(wrong("not a JSON object".to_owned()));
        }
        Ok(value)
    }

    pub(super) fn good(&self, request: &Request) -> Result<(), Error> {
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        let (method, path) = (request.method.word(), request.path.clone());
        let why = match self.status {
            300..400 => {
                format!("it redirects to {:?}, which is not followed", self.header("location").unwrap_or_default())
            }
            _ => words(&self.body).unwrap_or_else(|| advice(self.status).to_owned()),
        };
        Err(Error::Status { method, path, status: self.status, why: short(&why) })
    }
}

fn advice(status: u16) -> &'static str {
    match status {
        401 => "the credentials are not accepted",
        403 => "this user may not do that",
        404 => "it has no such resource",
        405 => "the resource does not allow that",
        501 => "it does not implement that",
        503 => "it is busy: try again later",
        _ => "no message",
    }
}

/// The messages of an error, or of a task.
pub(super) fn words(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let listed = ["@Message.ExtendedInfo", "Messages"].iter().find_map(|k| error.get(k)?.as_array());
    let mut all: Vec<&str> =
        listed.into_iter().flatten().take(8).filter_map(|m| m.get("Message").and_then(Value::as_str)).collect();
    if all.is_empty() {
        all.extend(error.get("message").and_then(Value::as_str));
    }
    (!all.is_empty()).then(|| all.join(" "))
}
