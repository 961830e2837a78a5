//! A label of the node's object in Kubernetes: only the API knows it.

use super::prove::Answer;
use super::{Outcome, Told};

pub(super) fn prove(told: &Told, node: &str, key: &str, wanted: Option<&str>) -> Answer {
    let place = format!("label {key} of the Kubernetes node {node}");
    let Some(labels) = &told.labels else {
        let why = match &told.labels_trouble {
            Some(why) => format!("the Kubernetes API could not be asked: {why}"),
            None => {
                "a node does not show its labels: ask the Kubernetes API (--kube-node, --kube-context or --kubeconfig)"
                    .to_owned()
            }
        };
        return (Outcome::Unknown(why), String::new(), place);
    };
    let read = labels.get(key).map(String::as_str);
    let outcome = match wanted {
        _ if read == wanted => Outcome::Effective,
        Some(_) if told.labels_due.contains(key) => {
            Outcome::Pending("it is put when everything else in the plan is proven".to_owned())
        }
        Some(_) if read.is_some() => Outcome::Ineffective("it has another value: somebody else set it".to_owned()),
        Some(_) => Outcome::Ineffective("it is not there: it was not put, or somebody took it off".to_owned()),
        None => Outcome::Ineffective("it is still there, or was put again: find out what sets it".to_owned()),
    };
    (outcome, read.map_or("no such label".to_owned(), |value| format!("{key}={value}")), place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(told: &Told, wanted: Option<&str>) -> &'static str {
        prove(told, "n1", "a/b", wanted).0.name()
    }

    #[test]
    fn only_what_the_api_shows_is_effective() {
        assert_eq!(name(&Told::default(), None), "unknown", "nobody looked");
        let trouble = Told { labels_trouble: Some("no way".to_owned()), ..Told::default() };
        assert!(
            name(&trouble, Some("1")) == "unknown" && prove(&trouble, "n1", "a/b", None).0.reason().contains("no way")
        );
        let none = Told { labels: Some([].into()), ..Told::default() };
        assert_eq!((name(&none, None), name(&none, Some("1"))), ("effective", "ineffective"));
        let other = Told { labels: Some([("a/b".to_owned(), "2".to_owned())].into()), ..Told::default() };
        assert_eq!(
            (name(&other, None), name(&other, Some("1")), name(&other, Some("2"))),
            ("ineffective", "ineffective", "effective")
        );
        let due = Told { labels_due: ["a/b".to_owned()].into(), ..other };
        assert_eq!((name(&due, Some("1")), name(&due, None)), ("pending", "ineffective"), "what goes is never due");
    }
}
