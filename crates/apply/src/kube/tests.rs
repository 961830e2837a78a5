//! kubectl as a few lines: an object, what others do to it, and what kubectl then says.

use super::*;
use linerate_transport::TransportError;
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) const UUID: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";

/// An object in a cluster.
pub(crate) struct State {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) version: u32,
    pub(crate) uid: String,
    pub(crate) system: String,
    pub(crate) machine: String,
    /// Whether labels may be changed; `None`: it does not say.
    pub(crate) may: Option<bool>,
    /// What kubectl says to each change.
    pub(crate) says: Option<&'static str>,
    /// So many changes meet an object that the node wrote to just before.
    pub(crate) beats: u32,
    /// What somebody else does just before a change.
    pub(crate) thief: Option<(&'static str, &'static str)>,
    /// A change is made, and kubectl is not heard.
    pub(crate) hangs: bool,
    pub(crate) gone: bool,
    /// After so many changes and one look, the object cannot be read.
    pub(crate) blind_after: Option<usize>,
    /// Changes that were made, in order, with what `see` said.
    pub(crate) sent: Vec<(String, bool)>,
    /// Looks at something else at the moment of a change.
    pub(crate) see: Box<dyn Fn() -> bool + Send>,
}

/// A cluster that threads share.
#[derive(Clone)]
pub(crate) struct Cluster(Arc<Mutex<State>>);

impl Cluster {
    pub(crate) fn new() -> Cluster {
        let state = State {
            labels: [("old".to_owned(), "yes".to_owned()), ("zone".to_owned(), "a".to_owned())].into(),
            version: 7,
            uid: "u-1".to_owned(),
            system: UUID.to_ascii_uppercase(),
            machine: "0123456789abcdef0123456789abcdef".to_owned(),
            may: Some(true),
            says: None,
            beats: 0,
            thief: None,
            hangs: false,
            gone: false,
            blind_after: None,
            sent: Vec::new(),
            see: Box::new(|| false),
        };
        Cluster(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(crate) fn kube(&self) -> Kube {
        Kube::new(Box::new(self.clone()), None)
    }

    /// Labels in one line.
    pub(crate) fn labels(&self) -> String {
        self.state().labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    /// Changes that were made.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.state().sent.iter().map(|(words, _)| words.clone()).collect()
    }
}

fn ran(status: i32, out: &str, err: &str) -> Ran {
    Ran { status, stdout: out.as_bytes().to_vec(), stderr: err.as_bytes().to_vec(), cut: false }
}

fn json(s: &State) -> String {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n1", "uid": s.uid, "resourceVersion": s.version.to_string(), "labels": s.labels },
        "status": { "nodeInfo": { "systemUUID": s.system, "machineID": s.machine, "architecture": "amd64" } },
    })
    .to_string()
}

impl Kubectl for Cluster {
    fn run(&self, what: &str, arguments: &[String]) -> Result<Ran, Error> {
        let mut s = self.state();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if s.gone {
            return Ok(ran(1, "", "Error from server (NotFound): nodes \"n1\" not found\n"));
        }
        match words.as_slice() {
            ["get", "node", "n1", "-o", "json"] if s.blind_after == Some(0) => {
                Ok(ran(1, "", "helper: token=hunter2\nUnable to connect to the server: hunter2\n"))
            }
            ["get", "node", "n1", "-o", "json"] => {
                let sent = s.sent.len();
                s.blind_after = s.blind_after.map(|n| if n == sent { 0 } else { n });
                Ok(ran(0, &json(&s), ""))
            }
            ["auth", "can-i", "patch", "nodes/n1"] => Ok(match s.may {
                Some(true) => ran(0, "yes\n", "Warning: resource 'nodes' is not namespace scoped\n"),
                Some(false) => ran(1, "no - not for you\n", ""),
                None => ran(1, "", "Error from server (Forbidden): you may not even ask\n"),
            }),
            ["label", "node", "n1", changes @ ..] => {
                let (options, changes): (Vec<&str>, Vec<&str>) = changes.iter().partition(|w| w.starts_with("--"));
                assert!(options.contains(&"--overwrite"), "{words:?}");
                if let Some(said) = s.says {
                    return Ok(ran(1, "", said));
                }
                if s.beats > 0 {
                    (s.beats, s.version) = (s.beats - 1, s.version + 1);
                }
                if let Some((key, value)) = s.thief.take() {
                    s.labels.insert(key.to_owned(), value.to_owned());
                    s.version += 1;
                }
                if !options.contains(&format!("--resource-version={}", s.version).as_str()) {
                    return Ok(ran(1, "", "Error from server (Conflict): the object has been modified\n"));
                }
                for word in &changes {
                    match word.split_once('=') {
                        Some((key, value)) => s.labels.insert(key.to_owned(), value.to_owned()),
                        None => s.labels.remove(word.trim_end_matches('-')),
                    };
                }
                s.version += 1;
                let seen = (s.see)();
                s.sent.push((changes.join(" "), seen));
                if std::mem::take(&mut s.hangs) {
                    return Err(Error::TimedOut { what: what.to_owned(), seconds: 60 });
                }
                Ok(ran(0, "node/n1 labeled\n", ""))
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_object_is_read_and_changed_as_it_was_read() {
    let cluster = Cluster::new();
    let kube = cluster.kube();
    let seen = kube.look("n1").unwrap();
    assert_eq!((seen.node.name.as_str(), seen.node.system.as_deref()), ("n1", Some(UUID)));
    assert_eq!(seen.node.machine.as_deref().map(str::len), Some(64), "the machine id itself is not kept");
    kube.set(&seen, &[("new", Some("1")), ("old", None)]).unwrap();
    assert_eq!((cluster.labels().as_str(), cluster.sent()), ("new=1 zone=a", vec!["new=1 old-".to_owned()]));
    assert_eq!(kube.set(&seen, &[("x", Some("1"))]), Err(Error::Conflict("n1".into())), "it is another by now");
}

#[test]
fn no_word_that_is_more_than_a_word_reaches_a_program() {
    let cluster = Cluster::new();
    let (kube, seen) = (cluster.kube(), cluster.kube().look("n1").unwrap());
    for node in ["--all", "N1", "", "n1 n2", "n1;x"] {
        assert!(matches!(kube.look(node), Err(Error::Word(_))), "{node:?}");
    }
    for change in [("--all", None), ("a b", None), ("a", Some("$(x)")), ("kubernetes.io/hostname", Some("n2"))] {
        assert!(matches!(kube.set(&seen, &[change]), Err(Error::Word(_))), "{change:?}");
    }
    for (field, wrong) in [("7", "7 --all"), ("u-1", "u 1"), ("\"Node\"", "\"Pod\""), ("\"n1\"", "\"n2\"")] {
        let text = json(&cluster.state()).replace(field, wrong);
        assert!(object("n1", text.as_bytes(), "").is_err(), "{text}");
    }
    let numbered = json(&cluster.state()).replace("\"yes\"", "1");
    assert!(
        object("n1", numbered.as_bytes(), "").is_err_and(|e| e.to_string().contains("old")),
        "a label that is no text is not skipped"
    );
    assert!(object("n1", b"{}", "").is_err() && object("n1", b"", "").is_err());
}

/// What kubectl 1.20 and 1.32 print.
#[test]
fn what_kubectl_says_is_told_apart() {
    let of = |status, said: &str| Error::of_status("kubectl label node n1", "n1", &ran(status, "", said));
    let denied = of(
        1,
        "Error from server (Forbidden): nodes \"n1\" is forbidden: User \"me\" cannot patch resource \"nodes\"\n",
    );
    assert!(matches!(denied, Error::Denied { .. }) && denied.is_unwritten(), "{denied}");
    assert!(denied.to_string().contains("cannot patch") && !denied.brief().contains("me"), "{}", denied.brief());
    for why in ["Unauthorized", "the server has asked for the client to provide credentials"] {
        assert!(matches!(
            of(1, &format!("error: You must be logged in to the server ({why})\n")),
            Error::Denied { .. }
        ));
    }
    let none = of(1, "Error from server (NotFound): nodes \"n1\" not found");
    assert!(none.is_gone() && none.to_string().contains("kubectl get nodes"), "{none}");
    assert!(
        of(127, "setsid: failed to execute kubectl: No such file or directory")
            .to_string()
            .contains("kubernetes-client")
    );
    let lost = of(
        1,
        "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n\u{1b}[2J",
    );
    assert!(matches!(lost, Error::Failed { .. }) && !lost.is_unwritten(), "{lost}");
    assert!(!lost.to_string().contains('\u{1b}') && !of(1, "Error from server (InternalError): x").is_unwritten());
    let late = TransportError::TimedOut { host: "local".into(), program: "sh".into(), seconds: 60 };
    let late = Error::of_transport("kubectl label node n1", &late);
    assert!(matches!(late, Error::TimedOut { seconds: 60, .. }) && !late.is_unwritten(), "{late}");
}

#[test]
fn the_operator_may_name_the_only_object() {
    let cluster = Cluster::new();
    let known = cluster.kube().look("n1").unwrap().node;
    let named = |name: &str| Kube::new(Box::new(cluster.clone()), Some(name.to_owned())).look_for(&known).map(drop);
    assert_eq!(named("n1"), Ok(()));
    assert!(matches!(named("n2"), Err(Error::Other { .. })));
    cluster.state().uid = "u-2".to_owned();
    assert!(matches!(named("n1"), Err(Error::Anew { .. })));
}

#[test]
fn what_kubectl_says_is_told_without_secrets() {
    for p in crate::hand::tests::secrets::corpus::lines(0) {
        let stderr = format!("a line\n{}\n", p.text).into_bytes();
        let said = super::error::said(&Ran { status: 1, stdout: Vec::new(), stderr, cut: false });
        assert!(!said.contains(&p.secret), "{said}");
    }
}
