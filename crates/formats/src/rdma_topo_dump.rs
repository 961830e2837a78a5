//! `rdma_topo dump` of rdma-core: a JSON array of PCI functions with their configuration spaces and Vital Product Data
//! (`SysfsDevice.to_dict` and `cmd_dump` of <https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo>).
//!
//! Binary values are zlib streams in Base64. They stay packed here: who unpacks them sets the limit.

use crate::error::{ParseError, Why};
use crate::sniff::content;
use crate::text::decode;
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value as Json};

/// `rdma_topo dump`.
pub const DUMP: Tool = Tool {
    name: "rdma-topo-dump",
    called: "rdma_topo",
    run: "rdma_topo dump",
    gives: Gives::Facts,
    marks: &[Mark::json(|text| ["\"realpath\"", "\"config\"", "\"modalias\""].iter().all(|key| text.contains(key)))],
    commands: &[Command::with("rdma_topo", &["dump"])],
    read: Some(|b| seen(parse(b).is_ok())),
    samples: &[
        "[\n    {\n        \"realpath\": \"/sys\",\n        \"config\": \"eJwD\",\n        \"modalias\": \"pci:v\"",
    ],
    once: true,
    ..Tool::NONE
};

/// `rdma_topo check`: a verdict on each line.
pub const CHECK: Tool = Tool {
    name: "rdma-topo-check",
    called: "rdma_topo",
    run: "rdma_topo check",
    gives: Gives::Facts,
    marks: &[Mark::whole(|text| {
        let mut content = content(text).peekable();
        content.peek().is_some() && content.all(|l| starts(l, &["OK", "FAIL"]))
    })
    .holds(&["OK", "FAIL"])],
    commands: &[Command::with("rdma_topo", &["check"])],
    samples: &["OK\tACS\nFAIL\tATS\n"],
    ..Tool::NONE
};

/// `rdma_topo topo -j`.
pub const TOPO: Tool = Tool {
    name: "rdma-topo",
    called: "rdma_topo",
    run: "rdma_topo topo -j",
    gives: Gives::Facts,
    marks: &[Mark::json(|text| text.contains("\"rdma_dma\"") || text.contains("\"rdma_nic_pp\""))],
    commands: &[Command::any("rdma_topo")],
    documents: &["rdma_topo", "rdma-topo"],
    samples: &["[{\"rdma_nic_pp\": \"0000:00:01.0\"}]"],
    once: true,
    ..Tool::NONE
};

/// A PCI function.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Device {
    /// Its directory below `/sys`.
    pub realpath: String,
    /// Configuration space as a zlib stream.
    pub config: Vec<u8>,
    /// IOMMU group. `None`: the script found no link.
    pub iommu_group: Option<u32>,
    /// `pci:v…d…sv…sd…bc…sc…i…`.
    pub modalias: String,
    /// NUMA node; -1 where the firmware names none. `None`: the script found no file.
    pub numa_node: Option<i32>,
    /// Vital Product Data as a zlib stream.
    pub vpd: Option<Vec<u8>>,
    /// Names of devices of the classes `drm`, `infiniband`, `net` and `nvme`.
    pub subsystems: Vec<(String, Vec<String>)>,
}

/// A dump.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dump {
    /// Functions that are complete.
    pub devices: Vec<Device>,
    /// What is wrong with the others, a sentence each.
    pub refused: Vec<String>,
}

/// Reads a dump. A function without `realpath`, `config` or `modalias` is refused, as the script does.
///
/// # Errors
/// It is not a JSON array.
pub fn parse(bytes: &[u8]) -> Result<Dump, ParseError> {
    let text = decode(bytes);
    // The command's own line may be above it, and a prompt below.
    let at = text.find("[\n").or_else(|| text.find('[')).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(text.get(at..).unwrap_or_default()).into_iter::<Vec<Json>>();
    let list = match values.next() {
        Some(Ok(list)) => list,
        Some(Err(e)) => return Err(ParseError::syntax(u32::try_from(e.line()).unwrap_or_default(), "", &e)),
        None => return Err(ParseError::new(0, Why::Foreign("not a dump of rdma_topo: a JSON array is expected"))),
    };
    let mut dump = Dump::default();
    for (number, value) in list.iter().enumerate() {
        match value.as_object().ok_or("not an object").and_then(device) {
            Ok(device) => dump.devices.push(device),
            Err(why) => dump.refused.push(format!("function {}: {why}", number + 1)),
        }
    }
    Ok(dump)
}

fn device(o: &Map<String, Json>) -> Result<Device, &'static str> {
    let text = |key| o.get(key).and_then(Json::as_str).map(str::to_owned);
    let number = |key, why| match o.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or(why),
    };
    let vpd = match text("vpd") {
        Some(vpd) => Some(from_base64(&vpd).ok_or("`vpd` is not Base64")?),
        None => None,
    };
    let names = |list: &Json| list.as_array().map(|l| l.iter().filter_map(Json::as_str).map(str::to_owned).collect());
    let classes = o.get("subsystems").and_then(Json::as_object);
    Ok(Device {
        realpath: text("realpath").ok_or("no `realpath`")?,
        config: from_base64(&text("config").ok_or("no `config`")?).ok_or("`config` is not Base64")?,
        iommu_group: number("iommu_group", "`iommu_group` is not a number")?
            .map(|n| u32::try_from(n).map_err(|_| "`iommu_group` is not a group number"))
            .transpose()?,
        modalias: text("modalias").ok_or("no `modalias`")?,
        numa_node: number("numa_node", "`numa_node` is not a number")?
            .map(|n| i32::try_from(n).map_err(|_| "`numa_node` is not a node number"))
            .transpose()?,
        vpd,
        subsystems: classes.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), names(v)?))).collect(),
    })
}

/// As the script prints a function: keys in its order, `vpd` left out where there is none.
#[derive(Serialize)]
struct Printed<'a> {
    realpath: &'a str,
    config: String,
    iommu_group: Option<u32>,
    modalias: &'a str,
    numa_node: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vpd: Option<String>,
    subsystems: Map<String, Json>,
}

/// The text that the script would write, without a line feed at its end, as there.
#[must_use]
pub fn print(devices: &[Device]) -> String {
    let printed: Vec<Printed<'_>> = devices
        .iter()
        .map(|d| Printed {
            realpath: &d.realpath,
            config: to_base64(&d.config),
            iommu_group: d.iommu_group,
            modalias: &d.modalias,
            numa_node: d.numa_node,
            vpd: d.vpd.as_deref().map(to_base64),
            subsystems: d.subsystems.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect(),
        })
        .collect();
    let mut out = Vec::new();
    let mut to = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    // Strings and numbers in memory: nothing that JSON cannot hold.
    let whole = printed.serialize(&mut to).is_ok();
    if whole { String::from_utf8(out).unwrap_or_default() } else { String::new() }
}

/// Python's `base64` writes padding; a dump that lost it is read too, and so are bits that no byte needs.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// `None` where a character is not of the alphabet.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.trim_end()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
    {
        "realpath": "/sys/devices/pci0000:00/0000:00:01.0",
        "config": "eJwD",
        "iommu_group": 4,
        "modalias": "pci:v000010DEd000022B1sv00000000sd00000000bc06sc04i00",
        "numa_node": -1,
        "subsystems": {}
    },
    {
        "realpath": "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0",
        "config": "eJwDAAAAAAE=",
        "iommu_group": null,
        "modalias": "pci:v000015B3d00001023sv000015B3sd00000001bc02sc07i00",
        "numa_node": 0,
        "vpd": "gg==",
        "subsystems": {
            "infiniband": [
                "mlx5_0"
            ],
            "net": [
                "ib0",
                "ib1"
            ]
        }
    }
]"#;

    #[test]
    fn what_is_read_is_printed_again() {
        let dump = parse(TEXT.as_bytes()).unwrap();
        assert!(dump.refused.is_empty());
        let [port, nic] = dump.devices.as_slice() else { panic!("{dump:?}") };
        assert_eq!((port.iommu_group, port.numa_node, port.vpd.is_some()), (Some(4), Some(-1), false));
        assert_eq!((nic.iommu_group, nic.numa_node, nic.vpd.as_deref()), (None, Some(0), Some(&[0x82][..])));
        assert_eq!(nic.config, [0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
        assert_eq!(
            nic.subsystems.iter().map(|(k, v)| (k.as_str(), v.len())).collect::<Vec<_>>(),
            [("infiniband", 1), ("net", 2)]
        );
        assert_eq!(print(&dump.devices), TEXT);
    }

    #[test]
    fn what_is_not_complete_is_refused() {
        let dump = parse(
            br##"# rdma_topo dump
[{"realpath": "/a", "config": "eJwD"}, 7, {"realpath": "/a", "config": "#", "modalias": "pci:"},
 {"realpath": "/a", "config": "", "modalias": "pci:", "numa_node": "x"},
 {"realpath": "/a", "config": "", "modalias": "pci:", "iommu_group": -4},
 {"realpath": "/a", "config": "", "modalias": "pci:"}]
$"##,
        )
        .unwrap();
        assert_eq!((dump.devices.len(), dump.refused.len()), (1, 5));
        assert!(parse(b"").is_err() && parse(b"{}").is_err() && parse(b"[{\"realpath\":").is_err());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes);
            proptest::prop_assert_eq!(from_base64(&to_base64(&bytes)), Some(bytes));
        }

        #[test]
        fn never_panics_on_likely_words(words in proptest::collection::vec(proptest::sample::select(vec![
            "[", "]", "{", "}", ",", ":", "\"realpath\"", "\"config\"", "\"modalias\"", "\"vpd\"", "\"subsystems\"", "null", "-1", "\"eJwD\"", "\"/sys\"",
        ]), 0..60)) {
            if let Ok(dump) = parse(words.concat().as_bytes()) {
                let again = parse(print(&dump.devices).as_bytes());
                proptest::prop_assert_eq!(again.map(|d| d.devices), Ok(dump.devices));
            }
        }
    }
}
