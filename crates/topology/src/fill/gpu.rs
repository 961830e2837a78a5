//! GPUs: ranks, numbers, compute capability, NVLink.

use super::{Assumptions, Nvlink};
use crate::error::Error;
use crate::number::{bus_id, bus_id_text, int};
use crate::open::Open;
use crate::system::MAX_NODES;
use crate::tree::{Tag, Tree};
use crate::xml::name;

/// A rank's GPU.
#[derive(Debug, Clone)]
pub(super) struct RankGpu {
    pub(super) rank: i32,
    /// The `<pci>` that the rank has it in.
    pub(super) pci: u32,
    /// The `<gpu>` of the document, which other ranks have.
    pub(super) theirs: Option<u32>,
    /// The `<gpu>` that this rank has, complete.
    pub(super) own: u32,
    /// A `<pci>` (with its CPU, where it is new) that only this rank has: the document's bus id is not NCCL's.
    pub(super) apart: Option<Apart>,
}

/// A branch that only one rank has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    /// The top of the branch.
    pub(super) top: u32,
    /// Where it hangs.
    pub(super) under: u32,
    /// Before this child; `None` is the end.
    pub(super) before: Option<u32>,
}

/// Finds the GPUs, and makes each rank's own `<gpu>`.
pub(super) fn fill(
    tree: &mut Tree,
    assume: &Assumptions,
    assumed: &mut Vec<String>,
    open: &mut Vec<Open>,
) -> Result<Vec<RankGpu>, Error> {
    let found = ranked(tree, assumed);
    if found.is_empty() {
        return Err(Error::NoGpu);
    }
    if found.len() > MAX_NODES {
        return Err(Error::TooMany { what: "GPU", limit: MAX_NODES });
    }
    let busids: Vec<String> = found.iter().map(|f| tree.get(f.1, "busid").unwrap_or_default().to_owned()).collect();
    let mut gpus = Vec::with_capacity(found.len());
    let mut said = Said::default();
    for (i, (rank, pci, theirs)) in found.iter().copied().enumerate() {
        let attributes = theirs.and_then(|g| tree.node(g)).map(|n| n.attributes.clone()).unwrap_or_default();
        let canonical = bus_id_text(bus_id(busids.get(i).map_or("", String::as_str)));
        let known = tree.get(pci, "busid") == Some(&canonical) || tree.get(pci, "busid").is_none();
        let (pci, apart) = if known {
            tree.init(pci, "class", "0x03");
            (pci, None)
        } else {
            said.apart.push(busids.get(i).cloned().unwrap_or_default());
            let (pci, apart) = branch(tree, &canonical, assume);
            (pci, Some(apart))
        };
        let own = tree.add(crate::tree::TreeNode {
            tag: Tag::Gpu,
            attributes,
            at: theirs.or(Some(pci)).and_then(|g| tree.node(g)).map(|n| n.at).unwrap_or_default(),
            parent: None,
            children: Vec::new(),
            keep: true,
        });
        if let Some(n) = tree.nodes.get_mut(own as usize) {
            n.parent = Some(pci);
        }
        said.dev |= tree.init(own, "dev", i.to_string());
        said.sm |= tree.init(own, "sm", assume.sm.to_string());
        tree.set(own, "rank", rank.to_string());
        said.gdr |= tree.init(own, "gdr", u8::from(assume.gdr).to_string());
        tree.init(own, "mlopart", "-1");
        links(tree, own, theirs, i, &busids, assume, &mut said);
        gpus.push(RankGpu { rank, pci, theirs, own, apart });
    }
    open.extend(said.sm.then_some(Open::GpuSm));
    open.extend(said.gdr.then_some(Open::Gdr));
    said.tell(assume, assumed);
    gpus.sort_by_key(|g| g.rank);
    Ok(gpus)
}

/// Ranks, `<pci>` and `<gpu>` in document order.
fn ranked(tree: &Tree, assumed: &mut Vec<String>) -> Vec<(i32, u32, Option<u32>)> {
    let mut found = Vec::new();
    for (id, node) in (0_u32..).zip(&tree.nodes) {
        match (node.tag, node.parent) {
            (Tag::Gpu, Some(pci)) => found.push((pci, Some(id))),
            (Tag::Pci, _)
                if tree.get(id, "class").is_some_and(|c| c.starts_with("0x03"))
                    && tree.child(id, Tag::Gpu).is_none() =>
            {
                found.push((id, None));
            }
            _ => {}
        }
    }
    let rank = |(pci, gpu): &(u32, Option<u32>)| Some((int(tree.get((*gpu)?, "rank")?), *pci, *gpu));
    let ranked: Vec<_> = found.iter().filter_map(rank).collect();
    let mut ranks: Vec<i32> = ranked.iter().map(|r| r.0).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if !ranked.is_empty() && ranks.len() == ranked.len() {
        if ranked.len() < found.len() {
            assumed.push(format!("{} GPUs without a rank are not of the job", found.len() - ranked.len()));
        }
        return ranked;
    }
    if found.is_empty() {
        return Vec::new();
    }
    assumed.push("GPU ranks: 0 to n-1 in document order".to_owned());
    (0_i32..).zip(found).map(|(rank, (pci, gpu))| (rank, pci, gpu)).collect()
}

/// What was assumed, to be reported once.
#[derive(Default)]
struct Said {
    dev: bool,
    sm: bool,
    gdr: bool,
    class: bool,
    nvlink: Option<String>,
    apart: Vec<String>,
}

impl Said {
    fn tell(self, assume: &Assumptions, assumed: &mut Vec<String>) {
        if self.dev {
            assumed.push("GPU numbers (NVML): document order".to_owned());
        }
        if self.sm {
            assumed.push(format!("GPU compute capability: {}", assume.sm));
        }
        if self.gdr {
            let can = if assume.gdr { "can" } else { "cannot" };
            assumed.push(format!("GPUs {can} do GPUDirect RDMA"));
        }
        if self.class {
            assumed.push(
                "NVLink ends of unknown class: the class of the GPU of that bus id, else an NVLink switch".into(),
            );
        }
        assumed.extend(self.nvlink);
        for busid in self.apart {
            assumed.push(format!(
                "{busid} is not as NCCL writes bus ids (lower case, 0000:00:00.0): it finds no such <pci>, and puts the GPU under a CPU of its own"
            ));
        }
    }
}

/// NVLinks: those of the document, or those assumed; and what is at their ends.
fn links(
    tree: &mut Tree,
    own: u32,
    theirs: Option<u32>,
    i: usize,
    busids: &[String],
    assume: &Assumptions,
    said: &mut Said,
) {
    let children = theirs.map(|g| tree.children(g).to_vec()).unwrap_or_default();
    for child in children {
        if let Some(n) = tree.node(child).cloned() {
            tree.add(crate::tree::TreeNode { parent: Some(own), children: Vec::new(), ..n });
        }
    }
    if tree.child(own, Tag::Nvlink).is_none() {
        let sm = tree.int_or(own, "sm", 0);
        let mut make = |target: &str, count: u32, class: Option<&str>| {
            let mut attributes = vec![(name("target"), target.to_owned()), (name("count"), count.to_string())];
            attributes.extend(class.map(|c| (name("tclass"), c.to_owned())));
            tree.make(Tag::Nvlink, own, attributes);
        };
        match &assume.nvlink {
            Nvlink::None => {}
            Nvlink::Switch(count) => {
                let count = count.unwrap_or_else(|| crate::system::nvlinks(sm));
                if count > 0 {
                    make("fffffff:ffff:ff", count, Some("0x068000"));
                    said.nvlink = Some(format!("NVLink: {count} links of each GPU to NVLink switches"));
                }
            }
            Nvlink::Mesh(mesh) => {
                for (a, b, count) in mesh {
                    let peer = match i {
                        i if i == *a as usize => *b,
                        i if i == *b as usize => *a,
                        _ => continue,
                    };
                    if let Some(target) = busids.get(peer as usize) {
                        make(target, *count, None);
                    }
                }
                said.nvlink = Some("NVLink: between GPUs, as given".to_owned());
            }
        }
    }
    for link in tree.children(own).to_vec() {
        if tree.tag(link) != Some(Tag::Nvlink) || tree.get(link, "tclass").is_some() {
            continue;
        }
        let target = tree.get(link, "target").map(str::to_owned).unwrap_or_default();
        let there = tree.all(Tag::Pci).find(|p| tree.get(*p, "busid") == Some(&target));
        let class = there.and_then(|p| tree.get(p, "class")).unwrap_or("0x068000").to_owned();
        tree.set(link, "tclass", class);
        said.class = true;
    }
}

/// A `<pci>` that is in no sysfs, as NCCL makes it: under CPU -1, with nothing known.
fn branch(tree: &mut Tree, busid: &str, assume: &Assumptions) -> (u32, Apart) {
    let made = |tree: &mut Tree, tag, parent, attributes| {
        let id = tree.make(tag, parent, attributes);
        // It is part of one rank's tree only: not of the document.
        if let Some(p) = tree.nodes.get_mut(parent as usize) {
            p.children.pop();
        }
        id
    };
    let cpu = tree.all(Tag::Cpu).find(|c| tree.get(*c, "numaid") == Some("-1"));
    let attributes = ["busid", "class", "link_speed", "link_width"].map(name);
    let values = [busid, "0x03", "", ""].map(str::to_owned);
    let attributes = attributes.into_iter().zip(values).collect();
    match cpu {
        Some(cpu) => {
            let before = tree.children(cpu).iter().copied().find(|c| tree.get(*c, "busid").is_some_and(|b| busid < b));
            let pci = made(tree, Tag::Pci, cpu, attributes);
            (pci, Apart { top: pci, under: cpu, before })
        }
        None => {
            let like = tree.all(Tag::Cpu).next();
            let mut cpu = vec![(name("numaid"), "-1".to_owned())];
            let (vendor, family, model) = &assume.cpu;
            for (key, default) in [
                ("host_hash", String::new()),
                ("arch", "x86_64".to_owned()),
                ("vendor", vendor.clone()),
                ("familyid", family.to_string()),
                ("modelid", model.to_string()),
            ] {
                let value = like.and_then(|c| tree.get(c, key)).map_or(default, str::to_owned);
                if !value.is_empty() {
                    cpu.push((name(key), value));
                }
            }
            let cpu = made(tree, Tag::Cpu, 0, cpu);
            let pci = tree.make(Tag::Pci, cpu, attributes);
            (pci, Apart { top: cpu, under: 0, before: None })
        }
    }
}

/// Fills speed and width of the switches above GPUs, where every rank that keeps the switch does so too.
pub(super) fn fill_links(tree: &mut Tree, gpus: &[RankGpu], assumed: &mut Vec<String>) {
    let mut above = vec![0_usize; tree.nodes.len()];
    for gpu in gpus {
        let chain = std::iter::successors(Some(gpu.pci), |p| tree.parent(*p));
        for id in chain {
            if let Some(n) = above.get_mut(id as usize) {
                *n += 1;
            }
        }
    }
    let mut nics = vec![false; tree.nodes.len()];
    for net in tree.all(Tag::Net).filter(|n| tree.node(*n).is_some_and(|n| n.keep)) {
        for id in std::iter::successors(Some(net), |p| tree.parent(*p)) {
            if let Some(n) = nics.get_mut(id as usize) {
                *n = true;
            }
        }
    }
    let mut count = 0;
    for id in tree.all(Tag::Pci).collect::<Vec<_>>() {
        let by = above.get(id as usize).copied().unwrap_or(0);
        let nic = nics.get(id as usize).copied().unwrap_or(false);
        if by == 0 || (nic && by < gpus.len()) {
            continue;
        }
        let speed = tree.init(id, "link_speed", "");
        let width = tree.init(id, "link_width", "");
        count += usize::from(speed || width);
    }
    if count > 0 {
        assumed.push(format!(
            "link_speed and link_width of {count} PCIe devices: unknown, which NCCL counts as Gen3, 16 lanes"
        ));
    }
}
