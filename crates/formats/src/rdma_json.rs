//! `rdma` of iproute2: `rdma link`, `rdma statistic`, `rdma system`, each as text and as JSON.

use crate::error::{ParseError, Why};
use crate::ib_port::PortState;
use crate::text::{decode, flag, line_number, lines, unquoted};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// `rdma link`.
pub const LINK: Tool = Tool {
    name: "rdma-link",
    called: "rdma",
    run: "rdma -j link",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| l.contains(" state ") && starts(l, &["link "]) && l.contains('/')).begins(&["link "]),
        Mark::json(|text| text.contains("\"ifname\"") && text.contains("\"physical_state\"")),
    ],
    commands: &[Command::with("rdma", &["link"])],
    documents: &["rdma-link"],
    read: Some(|b| seen(parse_links(b).is_ok())),
    samples: &[
        "[{\"ifname\":\"mlx5_0\",\"port\":1,\"state\":\"ACTIVE\",\"physical_state\":\"LINK_UP\"}]",
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP\n",
        "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 3 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n",
    ],
    once: true,
    ..Tool::NONE
};

/// `rdma statistic`.
pub const STATISTIC: Tool = Tool {
    name: "rdma-statistic",
    called: "rdma",
    run: "rdma -j statistic",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| text_counters(l).is_some_and(|(_, _, c)| !c.is_empty())).begins(&["link "]),
        Mark::json(|text| {
            text.trim_start().starts_with('[')
                && text.contains("\"ifname\"")
                && !text.contains("\"physical_state\"")
                && !text.contains("\"operstate\"")
                && has_port(text)
        }),
    ],
    commands: &[Command::with("rdma", &["statistic"])],
    documents: &["rdma-statistic"],
    read: Some(|b| seen(parse_statistics(b).is_ok())),
    samples: &[
        "link mlx5_0/1 rx_write_requests 0 rx_read_requests 0 out_of_sequence 5 \n",
        "[ {\n\"ifname\":\"mlx5_0\",\"port\":1,\"rx_write_requests\":0}]",
        "[ {\"ifname\":\"mlx5_0\",\"port\":1,\"rx_write_requests\":0}]",
    ],
    once: true,
    ..Tool::NONE
};

/// `rdma system`.
pub const SYSTEM: Tool = Tool {
    name: "rdma-system",
    called: "rdma",
    run: "rdma system",
    gives: Gives::Facts,
    marks: &[
        Mark::beginning(&["netns shared", "netns exclusive"]),
        Mark::json(|text| text.contains("\"netns\"") && !text.contains("\"ifname\"")),
    ],
    commands: &[Command::with("rdma", &["system"])],
    read: Some(|b| seen(parse_system(b))),
    samples: &["netns shared copy-on-fork on\n", "[{\"netns\":\"shared\"}]", "[\n {\"netns\":\"shared\"}]"],
    ..Tool::NONE
};

/// `"port": 1`, which tells counters of rdma from those of `ip`.
fn has_port(text: &str) -> bool {
    text.split("\"port\"").skip(1).any(|r| {
        r.trim_start().strip_prefix(':').is_some_and(|r| r.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// A port of `rdma link`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RdmaLink {
    /// 1-based line.
    pub line: u32,
    /// RDMA device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// Logical state.
    pub state: Option<PortState>,
    /// Physical state as printed, e.g. `LINK_UP`.
    pub physical_state: Option<String>,
    /// Network interface, where the port has one.
    pub netdev: Option<String>,
    /// LID: the kernel gives it of InfiniBand ports only (`fill_port_info`), 65535 where none was assigned.
    pub lid: Option<u32>,
    /// The subnet manager's LID.
    pub sm_lid: Option<u32>,
}

/// Counters of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RdmaCounters {
    /// 1-based line.
    pub line: u32,
    /// RDMA device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// Counter names and values.
    pub counters: Vec<(String, u64)>,
}

/// `rdma system`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RdmaSystem {
    /// 1-based line.
    pub line: u32,
    /// How RDMA devices belong to network namespaces.
    pub netns: NetnsMode,
    /// Whether pinned pages are copied on fork.
    pub copy_on_fork: Option<bool>,
}

/// How RDMA devices belong to network namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum NetnsMode {
    /// Every namespace sees every device.
    Shared,
    /// A device belongs to one namespace.
    Exclusive,
    /// As printed.
    Other(String),
}

/// Parses `rdma link`, JSON or text.
pub fn parse_links(bytes: &[u8]) -> Result<Vec<RdmaLink>, ParseError> {
    let text = decode(bytes);
    if !looks_like_json(&text) {
        return Ok(lines(&text).filter_map(|(line, raw)| text_link(raw, line)).collect());
    }
    Ok(objects(&text)?
        .into_iter()
        .filter_map(|(line, o)| {
            let word = |k: &str| o.get(k).and_then(Json::as_str).map(str::to_owned);
            Some(RdmaLink {
                line,
                // Until iproute2 4.20 with its port: `mlx5_0/1`.
                device: word("ifname")?.split('/').next()?.to_owned(),
                port: port_of(&o)?,
                state: word("state").map(|s| PortState::new(&s)),
                physical_state: word("physical_state"),
                netdev: word("netdev"),
                lid: number_of(&o, "lid"),
                sm_lid: number_of(&o, "sm_lid"),
            })
        })
        .collect())
}

/// Parses `rdma statistic`, JSON or text.
pub fn parse_statistics(bytes: &[u8]) -> Result<Vec<RdmaCounters>, ParseError> {
    let text = decode(bytes);
    if !looks_like_json(&text) {
        return Ok(text_statistics(&text));
    }
    Ok(objects(&text)?
        .into_iter()
        .filter_map(|(line, o)| {
            let device = o.get("ifname")?.as_str()?.to_owned();
            let port = port_of(&o)?;
            let counters = o
                .iter()
                .filter(|(k, _)| !matches!(k.as_str(), "ifindex" | "port" | "ifname"))
                .filter_map(|(k, v)| Some((k.clone(), v.as_u64()?)))
                .collect();
            Some(RdmaCounters { line, device, port, counters })
        })
        .collect())
}

/// Parses `rdma system`, JSON or text. `None` where the mode is not in the text.
pub fn parse_system(bytes: &[u8]) -> Option<RdmaSystem> {
    let text = decode(bytes);
    if looks_like_json(&text) {
        let (line, o) = objects(&text).ok()?.into_iter().find(|(_, o)| o.contains_key("netns"))?;
        let copy_on_fork = o.get("copy-on-fork").and_then(|v| v.as_bool().or_else(|| on_off(v.as_str()?)));
        return Some(RdmaSystem { line, netns: netns(o.get("netns")?.as_str()?), copy_on_fork });
    }
    lines(&text).find_map(|(line, raw)| {
        let words: Vec<&str> = raw.split_whitespace().collect();
        let after = |k: &str| words.iter().position(|w| *w == k).and_then(|i| words.get(i + 1)).copied();
        let copy_on_fork = after("copy-on-fork").and_then(on_off);
        Some(RdmaSystem { line, netns: netns(after("netns")?), copy_on_fork })
    })
}

fn netns(word: &str) -> NetnsMode {
    match word {
        "shared" => NetnsMode::Shared,
        "exclusive" => NetnsMode::Exclusive,
        other => NetnsMode::Other(other.to_owned()),
    }
}

fn on_off(word: &str) -> Option<bool> {
    flag(word, "on", "off")
}

/// `link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0`, of an InfiniBand port
/// `link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 3 sm_lid 1 lmc 0 state …`; older: `0/1: mlx5_0/1: state …` (iproute2, rdma/link.c).
fn text_link(raw: &str, line: u32) -> Option<RdmaLink> {
    let mut words = unquoted(raw).split_whitespace().take(LINK_WORDS);
    let first = words.next()?;
    let name = match first.strip_suffix(':') {
        _ if first == "link" => words.next()?,
        Some(index) if is_port_index(index) => words.next()?,
        _ => first,
    };
    let (device, port) = name.trim_end_matches(':').split_once('/')?;
    let words: Vec<&str> = words.collect();
    // The names are at even places: a network interface may be called as anything.
    let pairs = || words.chunks_exact(2).filter_map(|p| Some((*p.first()?, *p.last()?)));
    let after = |k: &str| pairs().find(|(name, _)| *name == k).map(|(_, v)| v.to_owned());
    let number = |k: &str| after(k)?.parse().ok();
    after("state")?;
    Some(RdmaLink {
        lid: number("lid"),
        sm_lid: number("sm_lid"),
        line,
        device: device.to_owned(),
        port: port.parse().ok()?,
        state: after("state").map(|s| PortState::new(&s)),
        physical_state: after("physical_state"),
        netdev: after("netdev"),
    })
}

/// The words of a port: nine pairs, and as many again for attributes that this does not know.
const LINK_WORDS: usize = 40;

/// `0/1`
fn is_port_index(word: &str) -> bool {
    let is_number = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    word.split_once('/').is_some_and(|(device, port)| is_number(device) && is_number(port))
}

/// The ports of the text form. The last counter of a text that is cut is left out: half a number is another one.
fn text_statistics(text: &str) -> Vec<RdmaCounters> {
    let unended = !text.ends_with('\n') && !text.ends_with(' ');
    let mut out: Vec<RdmaCounters> = lines(text)
        .filter_map(|(line, raw)| {
            let (device, port, counters) = text_counters(raw.trim_start_matches(['>', ' ', '\t']))?;
            let counters = counters.into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
            Some(RdmaCounters { line, device: device.to_owned(), port, counters })
        })
        .collect();
    let last = lines(text).last().map(|(line, _)| line);
    if let Some(cut) = out.last_mut().filter(|c| unended && Some(c.line) == last) {
        cut.counters.pop();
    }
    out
}

/// Device, port, and the counters by name.
type TextCounters<'a> = (&'a str, u32, Vec<(&'a str, u64)>);

/// `link mlx5_0/1 rx_write_requests 0 rx_read_requests 0 …`. The counters of one queue pair (`cntn`, `lqpn`) are not the port's.
fn text_counters(line: &str) -> Option<TextCounters<'_>> {
    let mut words = line.strip_prefix("link ")?.split_whitespace();
    let (device, port) = words.next()?.split_once('/')?;
    let port = port.parse().ok()?;
    let mut counters = Vec::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let good = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !good || matches!(name, "cntn" | "lqpn" | "state" | "type") {
            return None;
        }
        counters.push((name, value.parse().ok()?));
    }
    Some((device, port, counters))
}

fn port_of(o: &Map<String, Json>) -> Option<u32> {
    number_of(o, "port")
}

fn number_of(o: &Map<String, Json>, key: &str) -> Option<u32> {
    o.get(key)?.as_u64().and_then(|n| n.try_into().ok())
}

fn looks_like_json(text: &str) -> bool {
    text.lines().any(|l| l.trim_start().starts_with(['[', '{']))
}

/// Line and members.
pub(crate) type Object = (u32, Map<String, Json>);

/// The objects of the array, with the line on which each one's device name is. Text before the array (a prompt) is ignored.
pub(crate) fn objects(text: &str) -> Result<Vec<Object>, ParseError> {
    let start = text.find('[').ok_or_else(|| ParseError::new(0, Why::Foreign("no JSON array of rdma")))?;
    let before = memchr::memchr_iter(b'\n', text.get(..start).unwrap_or_default().as_bytes()).count();
    let json = text.get(start..).unwrap_or_default();
    let mut stream = serde_json::Deserializer::from_str(json).into_iter::<Vec<Json>>();
    let array = match stream.next() {
        Some(Ok(array)) => array,
        Some(Err(e)) => {
            return Err(ParseError::syntax(
                line_number(before + e.line().saturating_sub(1)),
                "broken JSON of rdma",
                &e,
            ));
        }
        None => return Err(ParseError::new(0, Why::Foreign("no JSON array of rdma"))),
    };
    // Each object has one "ifname" or "netns" key, so the n-th key marks the n-th object.
    let mut marks = Vec::new();
    for (i, l) in json.lines().enumerate() {
        let keys = l.matches("\"ifname\"").count() + l.matches("\"netns\"").count();
        marks.extend(std::iter::repeat_n(line_number(before + i), keys.min(array.len())));
    }
    let lines = marks.into_iter().chain(std::iter::repeat(line_number(before)));
    let maps = array.into_iter().filter_map(|v| match v {
        Json::Object(m) if m.contains_key("ifname") || m.contains_key("netns") => Some(m),
        _ => None,
    });
    Ok(maps.zip(lines).map(|(m, line)| (line, m)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_three_forms() {
        let j = b"$ rdma -j link\n[{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"port\":1,\"state\":\"ACTIVE\",\"physical_state\":\"LINK_UP\",\"netdev\":\"eth0\",\"netdev_index\":2},\n{\"ifname\":\"mlx5_1\",\"port\":1,\"state\":\"DOWN\"}]\n";
        let l = parse_links(j).unwrap();
        assert_eq!((l[0].netdev.as_deref(), l[0].state.clone(), l[0].line), (Some("eth0"), Some(PortState::Active), 2));
        assert_eq!((l[1].line, l[1].netdev.clone(), l[1].state.clone()), (3, None, Some(PortState::Down)));
        let t = parse_links(b"link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0 \n1/1: mlx5_1/1: state DOWN physical_state DISABLED\n").unwrap();
        assert_eq!((t[0].device.as_str(), t[1].device.as_str(), t[1].port), ("mlx5_0", "mlx5_1", 1));
        assert!(parse_links(b"[{\"ifname\":").is_err());
    }

    /// The order of iproute2's rdma/link.c (link_parse_cb), with `-d`, too.
    #[test]
    fn links_of_infiniband_have_lids() {
        let text = "$ rdma -d link\n\
            link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 3 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev state netdev_index 4\n\
            \x20   caps: <SM, TRAP>\n\
            > 1/1: mlx5_1/1: subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state DOWN physical_state DISABLED\n\
            link mlx5_2/1 state INIT physical_state LINK_UP\n\
            link mlx5_3/1 rx_write_requests 7\n";
        let seen: Vec<_> = parse_links(text.as_bytes())
            .unwrap()
            .into_iter()
            .map(|l| (l.line, l.device, l.state, l.lid, l.sm_lid, l.netdev.is_some()))
            .collect();
        let of = |line, device: &str, state, lid, sm, netdev| (line, device.to_owned(), Some(state), lid, sm, netdev);
        assert_eq!(
            seen,
            [
                of(2, "mlx5_0", PortState::Active, Some(3), Some(1), true),
                of(4, "mlx5_1", PortState::Down, Some(65535), Some(0), false),
                of(5, "mlx5_2", PortState::Initialize, None, None, false),
            ]
        );
        let json = b"[{\"ifindex\":0,\"port\":1,\"ifname\":\"mlx5_0/1\",\"lid\":3,\"sm_lid\":0,\"state\":\"INIT\",\"physical_state\":\"LINK_UP\"}]";
        let l = parse_links(json).unwrap();
        assert_eq!((l[0].device.as_str(), l[0].lid, l[0].sm_lid), ("mlx5_0", Some(3), Some(0)));
    }

    #[test]
    fn statistics_and_system() {
        let s = parse_statistics(b"[{\"ifname\":\"mlx5_0\",\"port\":1,\"out_of_sequence\":5,\"name\":\"x\"}]").unwrap();
        assert_eq!(s[0].counters, [("out_of_sequence".to_owned(), 5)]);
        let s = parse_statistics(b"# rdma statistic\nlink mlx5_0/1 rx_write_requests 7 out_of_sequence 5 \nlink mlx5_0/1 cntn 3 rx_write_requests 9\nlink mlx5_1/1 np_cnp_sent 12 out_of_buffer 1").unwrap();
        let seen: Vec<_> = s.iter().map(|c| (c.device.as_str(), c.line, c.counters.len())).collect();
        assert_eq!(seen, [("mlx5_0", 2, 2), ("mlx5_1", 4, 1)], "half a number is no value");
        assert_eq!(
            parse_system(b"netns shared copy-on-fork on\n").map(|s| (s.netns, s.copy_on_fork)),
            Some((NetnsMode::Shared, Some(true)))
        );
        assert_eq!(
            parse_system(b"[{\"netns\":\"exclusive\",\"copy-on-fork\":\"on\"}]").map(|s| s.netns),
            Some(NetnsMode::Exclusive)
        );
        assert_eq!(parse_system(b"error: x"), None);
    }
}
