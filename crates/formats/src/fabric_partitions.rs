//! Partitions of NVSwitch fabrics, as the fabric manager's client lists them (`fmpm -l`): groups of GPUs that can be given to one guest with NVLink between them.
//!
//! Form: NVIDIA/Fabric-Manager-Client, `fmpm.cpp`, over `fmFabricPartitionList_t` of `nv_fm_types.h`. A GPU that a guest has, or that vfio-pci holds, has no UUID there, and an empty
//! bus id or `00000000:00:00.0`: its physical id, the module id of nvidia-smi, is what always holds.

use crate::error::{ParseError, Why};
use crate::pci::Bdf;
use crate::text::{LineIndex, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::{Deserialize, Serialize};

/// `fmpm -l`.
pub const TOOL: Tool = Tool {
    name: "fabric-partitions",
    called: "fmpm -l",
    run: "fmpm -l",
    gives: Gives::NoFacts("a list of the fabric manager's partitions (`linerate vm layout --partitions` reads it)"),
    marks: &[Mark::json(|text| text.contains("\"partitionInfo\"") && text.contains("\"gpuInfo\""))],
    commands: &[Command::with("fmpm", &["-l"])],
    read: Some(|b| seen(parse(b).is_ok())),
    samples: &[
        "{\n  \"maxNumPartitions\": 15,\n  \"numPartitions\": 1,\n  \"partitionInfo\": [ { \"gpuInfo\": [], \"isActive\": 0 } ] }",
    ],
    ..Tool::NONE
};

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Partition {
    /// Its number, by which it is activated.
    pub id: u32,
    /// It is active: a guest may have it.
    pub is_active: bool,
    /// GPUs in it.
    pub gpus: Vec<Gpu>,
    /// 1-based line.
    pub line: u32,
}

/// A GPU of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpu {
    /// Its place on the baseboard: the module id of nvidia-smi.
    pub module: u32,
    /// Its address, where the fabric manager has it.
    pub bdf: Option<Bdf>,
    /// Its UUID, where the fabric manager has it.
    pub uuid: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    num_partitions: Option<u32>,
    partition_info: Vec<Info>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    partition_id: u32,
    #[serde(default)]
    is_active: u32,
    num_gpus: Option<u32>,
    gpu_info: Vec<GpuInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GpuInfo {
    physical_id: u32,
    #[serde(default)]
    uuid: String,
    #[serde(default)]
    pci_bus_id: String,
}

/// Reads the list; a prompt before it is ignored.
///
/// # Errors
/// Broken JSON, another document, or a list that lacks what it counts.
pub fn parse(bytes: &[u8]) -> Result<Vec<Partition>, ParseError> {
    let text = decode(bytes);
    let start = text.find('{').ok_or_else(|| ParseError::new(0, Why::Foreign("no list of fabric partitions")))?;
    let json = text.get(start..).unwrap_or_default();
    let index = LineIndex::new(&text);
    let first = index.line(start).saturating_sub(1);
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<List>();
    let list = match values.next() {
        Some(Ok(list)) => list,
        Some(Err(e)) => {
            let line = first.saturating_add(u32::try_from(e.line()).unwrap_or(0));
            return Err(ParseError::syntax(line, "not a list of fabric partitions", &e));
        }
        None => return Err(ParseError::new(0, Why::Foreign("no list of fabric partitions"))),
    };
    let is_whole = |said: Option<u32>, has: usize| said.is_none_or(|n| usize::try_from(n) == Ok(has));
    if !is_whole(list.num_partitions, list.partition_info.len()) {
        return Err(ParseError::new(
            first + 1,
            Why::Missing("the list announces more partitions than it has: it is cut"),
        ));
    }
    let mut places = json.match_indices("\"partitionId\"").map(|(at, _)| index.line(start + at));
    let mut out = Vec::with_capacity(list.partition_info.len());
    for p in list.partition_info {
        let line = places.next().unwrap_or(first + 1);
        if !is_whole(p.num_gpus, p.gpu_info.len()) {
            return Err(ParseError::new(
                line,
                Why::Missing("the partition announces more GPUs than it has: it is cut"),
            ));
        }
        out.push(Partition {
            id: p.partition_id,
            is_active: p.is_active != 0,
            gpus: p.gpu_info.into_iter().map(gpu).collect(),
            line,
        });
    }
    Ok(out)
}

fn gpu(g: GpuInfo) -> Gpu {
    let nowhere = Bdf { domain: 0, bus: 0, device: 0, function: 0 };
    Gpu {
        module: g.physical_id,
        bdf: g.pci_bus_id.trim().parse().ok().filter(|b| *b != nowhere),
        uuid: Some(g.uuid).filter(|u| !u.trim().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"$ fmpm -l
{
   "maxNumPartitions" : 15,
   "numPartitions" : 2,
   "partitionInfo" : [
      {
         "gpuInfo" : [
            { "maxNumNvLinks" : 18, "numNvLinksAvailable" : 18, "nvlinkLineRateMBps" : 50000, "pciBusId" : "00000000:3B:00.0", "physicalId" : 3, "uuid" : "GPU-1" },
            { "maxNumNvLinks" : 0, "numNvLinksAvailable" : 0, "nvlinkLineRateMBps" : 26562, "pciBusId" : "00000000:00:00.0", "physicalId" : 7, "uuid" : "" }
         ],
         "isActive" : 1,
         "numGpus" : 2,
         "partitionId" : 4
      },
      { "gpuInfo" : [ { "pciBusId" : "", "physicalId" : 1 } ], "isActive" : 0, "numGpus" : 1, "partitionId" : 13 }
   ],
   "version" : 16909068
}
"#;

    #[test]
    fn gpus_with_and_without_addresses() {
        let all = parse(LIST.as_bytes()).unwrap();
        let first = &all[0];
        assert_eq!((first.id, first.is_active, first.line), (4, true, 13));
        let third = Gpu { module: 3, bdf: "3b:00.0".parse().ok(), uuid: Some("GPU-1".into()) };
        assert_eq!(first.gpus, [third, Gpu { module: 7, bdf: None, uuid: None }]);
        assert_eq!((all[1].id, all[1].gpus.len(), all[1].line), (13, 1, 15));
    }

    #[test]
    fn what_is_no_whole_list() {
        let why = |text: &str| parse(text.as_bytes()).unwrap_err().why;
        assert!(matches!(why("Error: connection refused"), Why::Foreign(_)));
        assert!(matches!(why("{\"a\":1}"), Why::Syntax { .. }));
        assert!(matches!(why(&LIST.replace("\"numGpus\" : 2", "\"numGpus\" : 4")), Why::Missing(_)));
        assert!(matches!(why(&LIST.replace("\"numPartitions\" : 2", "\"numPartitions\" : 3")), Why::Missing(_)));
        assert!(parse(LIST.get(..600).unwrap().as_bytes()).is_err());
    }
}
