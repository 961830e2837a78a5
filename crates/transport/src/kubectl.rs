//! A node of a Kubernetes cluster, by `kubectl exec` in a pod that runs there already. No pod is made: what a DaemonSet keeps on all nodes is used.

use crate::srun::is_node;
use crate::{Cancel, Command, Local, Transport, TransportError};
use linerate_out::child::Need;
use std::sync::OnceLock;
use std::time::Duration;

/// Longest that the question for the pod may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Names of pods that are not on their way out, a line each. A constant.
const NAMES: &str = "--output=go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}}{{\"\\n\"}}{{end}}{{end}}";

/// Which pods stand for their nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Pods {
    /// Context of kubectl's configuration; `None`: the present one.
    pub context: Option<String>,
    /// Namespace.
    pub namespace: String,
    /// Selector of labels, as kubectl takes it: `app=node-shell`.
    pub selector: String,
    /// Container; `None`: the pod's default one.
    pub container: Option<String>,
    /// Where the node's file system is in the container (`/host`): programs run with it as their root. `None`: in the container itself.
    pub root: Option<String>,
}

/// A node by a pod on it.
#[derive(Debug)]
pub struct Kubectl {
    name: String,
    node: String,
    pods: Pods,
    /// The pod, once it was asked for.
    pod: OnceLock<String>,
}

/// kubectl, with the configuration and the context that it works in; `None`: its own choice.
#[must_use]
pub fn kubectl(config: Option<&str>, context: Option<&str>) -> Vec<String> {
    let config = config.map(|file| format!("--kubeconfig={file}"));
    let context = context.map(|context| format!("--context={context}"));
    std::iter::once("kubectl".to_owned()).chain(config).chain(context).collect()
}

impl Kubectl {
    /// A node by its name in Kubernetes.
    ///
    /// # Errors
    /// The name is none of a node, or a word of the pods is empty or has characters that it cannot have.
    pub fn new(node: &str, pods: &Pods) -> Result<Self, TransportError> {
        let name = format!("kubectl:{node}");
        let fail = |argument: &str, why| TransportError::Way { host: name.clone(), argument: argument.to_owned(), why };
        if !is_node(node) {
            return Err(fail(node, "not a valid name of a node"));
        }
        let words = [Some(&pods.namespace), Some(&pods.selector), pods.context.as_ref(), pods.container.as_ref()];
        if let Some(w) = words.iter().flatten().find(|w| w.is_empty() || w.contains(char::is_control)) {
            return Err(fail(w, "kubectl needs a namespace and a selector, and no word of it may be empty"));
        }
        if let Some(root) = pods.root.as_ref().filter(|r| !r.starts_with('/')) {
            return Err(fail(root, "the root is a directory of the container, from /"));
        }
        Ok(Kubectl { name, node: node.to_owned(), pods: pods.clone(), pod: OnceLock::new() })
    }

    fn head(&self) -> Vec<String> {
        let mut argv = kubectl(None, self.pods.context.as_deref());
        argv.push(format!("--namespace={}", self.pods.namespace));
        argv
    }

    /// The question for the pod.
    fn question(&self) -> Vec<String> {
        let mut argv = self.head();
        argv.extend(["get", "pods", "--request-timeout=15s", NAMES].map(str::to_owned));
        argv.push(format!("--selector={}", self.pods.selector));
        argv.push(format!("--field-selector=spec.nodeName={},status.phase=Running", self.node));
        argv
    }

    /// The pod on the node.
    fn pod(&self) -> Result<&str, TransportError> {
        if let Some(pod) = self.pod.get() {
            return Ok(pod);
        }
        let command = Command::new(self.question()).limit(LIMIT).need(Need::Kubectl).tidy();
        let ran = Local::new().run(&command, &Cancel::new())?;
        let none = |why: String| TransportError::NotConnected { host: self.name.clone(), why: Some(why) };
        match ran.status {
            0 => {}
            127 => {
                let (host, program) = (self.name.clone(), "kubectl".to_owned());
                return Err(TransportError::Start { host, program, why: "it is not installed here".to_owned() });
            }
            status => return Err(none(format!("kubectl ended with status {status}: {}", ran.last_words()))),
        }
        let text = ran.text();
        let first = text.lines().map(str::trim).find(|name| is_node(name));
        let Pods { namespace, selector, .. } = &self.pods;
        let first = first.ok_or_else(|| none(format!("no running pod of {namespace} with {selector} is on it")))?;
        Ok(self.pod.get_or_init(|| first.to_owned()))
    }

    /// The local argument list, for a pod.
    fn exec(&self, pod: &str, argv: &[String]) -> Vec<String> {
        let mut out = self.head();
        out.extend(["exec", "--stdin"].map(str::to_owned));
        out.extend(self.pods.container.iter().map(|c| format!("--container={c}")));
        out.extend([pod.to_owned(), "--".to_owned()]);
        out.extend(self.pods.root.iter().flat_map(|root| ["chroot".to_owned(), root.clone()]));
        out.extend(argv.iter().cloned());
        out
    }
}

impl Transport for Kubectl {
    fn host(&self) -> &str {
        &self.name
    }

    fn carrier(&self) -> Option<Need> {
        Some(Need::Kubectl)
    }

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        Ok(self.exec(self.pod()?, argv))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods() -> Pods {
        Pods {
            context: Some("prod".into()),
            namespace: "tools".into(),
            selector: "app=shell,tier in (a,b)".into(),
            container: Some("shell".into()),
            root: Some("/host".into()),
        }
    }

    #[test]
    fn the_pod_is_asked_for_and_the_words_are_as_they_are() {
        let node = Kubectl::new("gpu001", &pods()).unwrap();
        let asked = node.question();
        assert_eq!(asked[..3], ["kubectl", "--context=prod", "--namespace=tools"]);
        assert!(asked.contains(&"--selector=app=shell,tier in (a,b)".to_owned()));
        assert!(asked.contains(&"--field-selector=spec.nodeName=gpu001,status.phase=Running".to_owned()));
        let words = ["sh", "-c", "echo $(x); 'y'"].map(str::to_owned);
        let argv = node.exec("shell-7x", &words);
        assert_eq!(argv[3..9], ["exec", "--stdin", "--container=shell", "shell-7x", "--", "chroot"]);
        assert_eq!(argv[9..], ["/host", "sh", "-c", "echo $(x); 'y'"]);
    }

    #[test]
    fn what_names_no_pod() {
        let wrong: [fn(&mut Pods); 5] = [
            |p| p.namespace.clear(),
            |p| p.selector.clear(),
            |p| p.container = Some(String::new()),
            |p| p.context = Some("a\nb".into()),
            |p| p.root = Some("host".into()),
        ];
        for wrong in wrong {
            let mut pods = pods();
            wrong(&mut pods);
            assert!(matches!(Kubectl::new("a", &pods), Err(TransportError::Way { .. })), "{pods:?}");
        }
        assert!(Kubectl::new("a,spec.nodeName=b", &pods()).is_err());
    }
}
