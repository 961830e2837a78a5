//! An emulator of the part of the Kubernetes API that labels of nodes need, for the real kubectl: discovery, one node's object, and patches
//! (merge and strategic merge, which are the same for labels) with `resourceVersion`, and who may patch. It is no Kubernetes: nothing checks names,
//! and nobody but the test writes to the object.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// The object, and how the API behaves.
pub(crate) struct State {
    pub(crate) labels: Value,
    pub(crate) version: u64,
    pub(crate) system: String,
    /// Nobody is let in.
    pub(crate) locked: bool,
    /// Nobody may change anything.
    pub(crate) read_only: bool,
    /// So many patches meet an object that was written to in between.
    pub(crate) beats: u32,
    /// The next patch is made, and its connection is cut before the answer.
    pub(crate) cut: bool,
    /// Patches that were made, in order.
    pub(crate) patches: Vec<Value>,
}

/// An API on a port of its own.
pub(crate) struct Api {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
}

impl Api {
    pub(crate) fn start(system: &str) -> Api {
        let state = State {
            labels: json!({ "kubernetes.io/hostname": "n1", "iommu-passthrough-u12-u25": "true" }),
            version: 100,
            system: system.to_owned(),
            locked: false,
            read_only: false,
            beats: 0,
            cut: false,
            patches: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::clone(&state);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Api { port, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn label(&self, key: &str) -> Option<String> {
        self.state().labels[key].as_str().map(str::to_owned)
    }

    /// What was sent, one line for each patch.
    pub(crate) fn patches(&self) -> Vec<String> {
        self.state().patches.iter().map(ToString::to_string).collect()
    }
}

/// One request, one answer: kubectl opens another connection for the next.
fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let path = target.split_once('?').map_or(target.as_str(), |(path, _)| path);
    let Some((code, answer)) = answer(&mut state.lock().unwrap(), &method, path, &body) else { return };
    let text = answer.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 {code} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
}

fn answer(s: &mut State, method: &str, path: &str, body: &[u8]) -> Option<(u16, Value)> {
    let list = |kind: &str, more: Value| {
        let mut all = json!({ "kind": kind, "apiVersion": "v1" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Some((200, all))
    };
    if s.locked {
        return Some(status(401, "Unauthorized", "Unauthorized"));
    }
    match (method, path) {
        ("GET", "/version") => Some((200, json!({ "major": "1", "minor": "32", "gitVersion": "v1.32.0" }))),
        ("GET", "/api") => list("APIVersions", json!({ "versions": ["v1"], "serverAddressByClientCIDRs": [] })),
        ("GET", "/apis") => list("APIGroupList", json!({ "groups": [] })),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") => {
            // JSON or protobuf, as kubectl's release has it: the words stand in both as they are.
            let says = |word: &str| body.windows(word.len()).any(|w| w == word.as_bytes());
            let allowed = ["patch", "nodes", "n1"].iter().all(|word| says(word)) && !s.read_only;
            let review = json!({
                "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {}, "status": { "allowed": allowed },
            });
            Some((201, review))
        }
        ("GET", "/api/v1") => {
            let verbs = ["get", "patch"];
            let nodes =
                json!({ "name": "nodes", "singularName": "node", "namespaced": false, "kind": "Node", "verbs": verbs });
            list("APIResourceList", json!({ "groupVersion": "v1", "resources": [nodes] }))
        }
        ("GET", "/api/v1/nodes/n1") => Some((200, object(s, &s.labels))),
        ("PATCH", "/api/v1/nodes/n1") if s.read_only => {
            let why = "nodes \"n1\" is forbidden: User \"reader\" cannot patch resource \"nodes\" in API group \"\" at the cluster scope";
            Some(status(403, "Forbidden", why))
        }
        ("PATCH", "/api/v1/nodes/n1") => patch(s, &serde_json::from_slice(body).unwrap()),
        _ => {
            Some(status(404, "NotFound", &format!("nodes {:?} not found", path.rsplit('/').next().unwrap_or_default())))
        }
    }
}

fn patch(s: &mut State, patch: &Value) -> Option<(u16, Value)> {
    if s.beats > 0 {
        (s.beats, s.version) = (s.beats - 1, s.version + 1);
    }
    let meta = &patch["metadata"];
    if meta["resourceVersion"].as_str().is_some_and(|v| v != s.version.to_string()) {
        let why = "Operation cannot be fulfilled on nodes \"n1\": the object has been modified; please apply your changes to the latest version and try again";
        return Some(status(409, "Conflict", why));
    }
    let mut labels = s.labels.as_object().unwrap().clone();
    for (key, value) in meta["labels"].as_object().into_iter().flatten() {
        match value {
            Value::Null => labels.remove(key),
            value => labels.insert(key.clone(), value.clone()),
        };
    }
    s.labels = Value::Object(labels);
    s.version += 1;
    s.patches.push(meta["labels"].clone());
    (!std::mem::take(&mut s.cut)).then(|| (200, object(s, &s.labels)))
}

fn object(s: &State, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n1", "uid": "5d9c1f0e-1f1b-4f0e-9f53-5f8f3c3c0001", "resourceVersion": s.version.to_string(), "labels": labels },
        "spec": {},
        "status": { "nodeInfo": { "systemUUID": s.system, "machineID": "0123456789abcdef0123456789abcdef" } },
    })
}

fn status(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let all = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code });
    (code, all)
}
