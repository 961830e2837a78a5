//! Every parser of this crate on any bytes, by name: for what must hold of all of them.

use crate::tool::seen;
use crate::{
    Kind, cpulist, dlerror, gid, kernel_config, kernel_version, limits, nccl_log, nvidia_proc, pci, printed, sniff,
    torch_log, train_steps, xid,
};

/// A parser whose result is dropped.
pub type Parser = fn(&[u8]);

/// Those of tools' texts, where a text of the tool is parsed here, and the others.
pub fn parsers() -> impl Iterator<Item = (&'static str, Parser)> {
    let of_tools = Kind::ALL.iter().filter_map(|k| Some((k.tool().name, k.tool().read?)));
    of_tools.chain(OTHERS.iter().copied())
}

/// Parsers of single files, values and lines.
const OTHERS: &[(&str, Parser)] = &[
    ("bdf", |b| seen(text(b).parse::<pci::Bdf>().is_ok())),
    ("config-space", |b| {
        let c = pci::config::ConfigSpace::new(b);
        seen((c.header(), c.capabilities(), c.extent()));
    }),
    ("cpulist", |b| seen(cpulist::parse(&text(b)).map(|l| l.count()))),
    ("dlerror", |b| {
        let text = text(b);
        seen(dlerror::LoadError::read(&text).or(dlerror::LoadError::line(&text)).map(|e| e.fault));
    }),
    ("gid", |b| seen(text(b).parse::<gid::Gid>().is_ok())),
    ("kernel-config", |b| seen(kernel_config::parse(b))),
    ("kernel-version", |b| seen(kernel_version::parse(&text(b)))),
    ("limits", |b| seen(limits::parse_memlock(b))),
    ("nccl-line", |b| seen(nccl_log::split(&text(b)).or(nccl_log::split_short(&text(b))).is_some())),
    ("nvidia-proc", |b| {
        seen((nvidia_proc::parse_version(b), nvidia_proc::parse_params(b), nvidia_proc::parse_information(b)));
    }),
    ("printed", |b| {
        let text = text(b);
        seen((printed::own(&text).text.len(), printed::is_prose(&text), printed::is_tags(&text)));
    }),
    ("sniff", |b| seen(sniff::sniff("pasted.txt", b))),
    ("torch-log", |b| seen(torch_log::parse(b))),
    ("train-steps", |b| seen(train_steps::parse(b))),
    ("vpd", |b| seen(pci::vpd::parse(b))),
    ("xid", |b| seen(xid::read(&text(b)))),
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
