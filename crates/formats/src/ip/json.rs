//! The form of `-j`.

use super::{Interface, List, state};
use crate::bounds::Kept;
use crate::rdma_json::objects;
use crate::text::At;
use serde_json::{Map, Value as Json};

/// A document that is cut shows nothing.
pub(super) fn read(text: &str) -> Kept<Interface> {
    let mut list = List::default();
    for (line, o) in objects(text).unwrap_or_default() {
        let word =
            |o: &Map<String, Json>, k: &str| o.get(k).and_then(Json::as_str).map(|w| At::new(w.to_owned(), line));
        let Some(name) = word(&o, "ifname") else { continue };
        let info = o.get("linkinfo").and_then(Json::as_object);
        let kind = info.and_then(|i| word(i, "info_kind"));
        let vlan = info.and_then(|i| i.get("info_data")?.get("id")?.as_u64()).and_then(|v| v.try_into().ok());
        let flags = o.get("flags").and_then(Json::as_array).into_iter().flatten().take(32);
        list.push(Interface {
            line,
            name: name.value,
            below: word(&o, "link").map(|l| l.value),
            flags: flags.filter_map(|f| Some(f.as_str()?.to_owned())).collect(),
            mtu: o.get("mtu").and_then(Json::as_u64).and_then(|m| m.try_into().ok()).map(|m| At::new(m, line)),
            state: o.get("operstate").and_then(Json::as_str).and_then(state).map(|s| At::new(s, line)),
            master: word(&o, "master"),
            mac: word(&o, "address"),
            vlan: vlan.filter(|_| kind.as_ref().is_some_and(|k| k.value == "vlan")).map(|v| At::new(v, line)),
            kind,
            bdf: word(&o, "parentdev").and_then(|d| d.value.parse().ok()).map(|d| At::new(d, line)),
            addresses: Vec::new(),
        });
        for a in o.get("addr_info").and_then(Json::as_array).into_iter().flatten() {
            let (local, length) = (a.get("local").and_then(Json::as_str), a.get("prefixlen").and_then(Json::as_u64));
            if let (Some(local), Some(length)) = (local, length) {
                list.address(&format!("{local}/{length}"), line);
            }
        }
    }
    list.kept
}
