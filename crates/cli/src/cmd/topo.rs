//! `linerate topo`.

use super::topo_source::{self, Loaded, Source};
use crate::args::{TopoArgs, TopoFormat, modelled};
use crate::output::{Failure, Sink};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use linerate_formats::nvidia_smi::Topo as TopoM;
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_out::json::Inert;
use linerate_report::Style;
use linerate_report::topo::scene::{Extras, Scene};
use linerate_report::topo::{LinkState, PcieLink, Topo, dot, json, matrix, names, svg, text};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::rdma_dump;
use linerate_topology::ceiling::{Extra, bottleneck, known_ceilings};
use linerate_topology::what_if::Change;
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Env, Search, what_if};
use std::io::Write;

pub(crate) fn run(a: &TopoArgs) -> Result<u8, Failure> {
    refuse(a)?;
    if a.format == TopoFormat::RdmaTopoDump {
        return dump(a);
    }
    for change in &a.what_if {
        if let Change::Nccl(v) = change {
            modelled(&v.to_string())?;
        }
    }
    let mut source = match topo_source::load(a)? {
        Loaded::Topology(source) => *source,
        Loaded::Matrix(label, matrix, incomplete) => return matrix_alone(a, &label, &matrix, incomplete),
    };
    let code = exit_code(source.incomplete);
    if source.incomplete && !matches!(a.format, TopoFormat::Text | TopoFormat::Json) {
        // These forms have no place for notes.
        source.notes.iter().for_each(|n| crate::output::remark(n));
    }
    let mut env = variables(&a.env)?;
    let mut config = Config { version: a.nccl, nodes: a.nodes, input: source.input, ..Config::default() };
    config.env = Env::parse(env.iter().map(|(k, v)| (k.as_str(), v.as_str())), config.version);
    topo_source::assume(a, &mut config);
    if let Some(found) = &source.found {
        found.configure(&mut config);
    } else if source.input == linerate_topology::Input::File && !source.has_nvlink() {
        config.unseen.push(linerate_topology::Open::Nvlink);
    }
    let mut sink = Sink::open(a.output.as_deref())?;
    let style = sink.style(a.color, false);
    let mut document = source.document.clone();
    let mut changed = config.clone();
    let possible = |busid: &str| {
        let link = source.links.get(busid).map(|l| l.possible.or(l.now))?;
        Some((link.speed?.generation(), link.width?.0))
    };
    what_if::apply(&a.what_if, &mut document, &mut changed, &mut env, &possible)?;
    change_links(&a.what_if, &mut source);
    if a.format == TopoFormat::Xml {
        sink.write_all(document.to_xml(Dialect::Nccl).as_bytes())?;
        sink.finish()?;
        return Ok(code);
    }
    let judge = |document, config: &Config| {
        Analysis::new(document, config).map_err(|e| Failure::new(format!("{}: {e}", source.label)))
    };
    let analysis = judge(&document, &changed)?;
    // What is not shown is not computed: a search can take longer than all the rest.
    let drawn = matches!(a.format, TopoFormat::Svg | TopoFormat::Dot);
    let explained = a.format == TopoFormat::Text && !a.explain.is_empty();
    let whole = !drawn && !explained;
    let search = whole.then(|| Search::new(&analysis, a.nodes));
    let extra = Extra { nodes: Some(a.nodes), ..source.extra.clone() };
    // A drawing marks what limits.
    let ceilings = (drawn || whole && a.ceiling).then(|| known_ceilings(&analysis, &extra));
    let links = |busid: &str| source.links.get(busid).copied();
    let mut notes = source.notes.clone();
    notes.extend(changed.env.notes.iter().cloned());
    let models = |busid: &str| source.models.get(busid).cloned();
    let topo = Topo {
        label: &source.label,
        document: &document,
        config: &changed,
        analysis: &analysis,
        links: &links,
        models: &models,
        notes: &notes,
        matrix: source.matrix.as_ref().filter(|_| a.what_if.is_empty()),
        theirs: source.theirs.as_ref(),
        search: search.as_ref(),
        ceilings: ceilings.as_ref(),
    };
    // The answer to what was asked comes before all the rest.
    if !a.what_if.is_empty() && a.format == TopoFormat::Text {
        let before = judge(&source.document, &config)?;
        text::changes(&before, &analysis, style, &mut sink)?;
    }
    match a.format {
        TopoFormat::Text if explained => explain(a, &topo, style, &mut sink)?,
        TopoFormat::Text => text::render(&topo, style, &mut sink)?,
        TopoFormat::Json => json::render(&topo, &mut sink)?,
        TopoFormat::Svg => sink.write_all(svg::svg(&scene(&topo)).as_bytes())?,
        TopoFormat::Dot => sink.write_all(dot::dot(&scene(&topo)).as_bytes())?,
        TopoFormat::Xml | TopoFormat::RdmaTopoDump => {}
    }
    sink.finish()?;
    Ok(code)
}

/// 0, or 2 where a limit left part of the source out.
fn exit_code(incomplete: bool) -> u8 {
    u8::from(incomplete) * 2
}

/// Of a matrix alone there is a text, and nothing that would need more.
fn matrix_alone(a: &TopoArgs, label: &str, matrix: &TopoM, incomplete: bool) -> Result<u8, Failure> {
    if a.format != TopoFormat::Text || !a.explain.is_empty() || a.ceiling || !a.what_if.is_empty() {
        return Err(Failure::new(format!("{label}: a matrix of `nvidia-smi topo -m` alone shows no PCI functions"))
            .hint("`linerate topo FILE` without other options shows what the matrix says of NCCL; for the rest add the text of `lspci -vvv`"));
    }
    let mut sink = Sink::open(a.output.as_deref())?;
    matrix::render(label, matrix, &mut sink)?;
    sink.finish()?;
    Ok(exit_code(incomplete))
}

/// What another tool reads: of the node, whatever NCCL would make of it.
fn dump(a: &TopoArgs) -> Result<u8, Failure> {
    let snapshot = topo_source::snapshot(a, Purpose::Collect)?;
    let text = rdma_dump::print(&snapshot).map_err(|e| Failure::new(format!("{}: {e}", snapshot.label)))?;
    let mut sink = Sink::open(a.output.as_deref())?;
    Inert::new(&mut sink).write_all(text.as_bytes())?;
    sink.finish()?;
    if snapshot.incomplete {
        snapshot.problems.iter().for_each(|p| crate::output::remark(p));
    }
    Ok(exit_code(snapshot.incomplete))
}

/// Combinations of which one part would be ignored.
fn refuse(a: &TopoArgs) -> Result<(), Failure> {
    let form = a.format.to_possible_value();
    let form = form.as_ref().map_or("", PossibleValue::get_name);
    let explained = !a.explain.is_empty();
    if explained && a.format != TopoFormat::Text {
        return Err(Failure::new(format!("--explain cannot be written as `{form}`"))
            .hint("leave out --format; --format json without --explain has every pair's path and decision"));
    }
    if explained && a.ceiling {
        return Err(Failure::new("--explain and --ceiling are different reports").hint("ask for one of them at a time"));
    }
    if a.ceiling && !matches!(a.format, TopoFormat::Text | TopoFormat::Json) {
        let why = match a.format {
            TopoFormat::Xml => "NCCL's XML has no place for ceilings",
            TopoFormat::RdmaTopoDump => "rdma_topo's dump has no place for ceilings",
            _ => "a drawing always marks the limit",
        };
        return Err(Failure::new(format!("--ceiling cannot be written as `{form}`: {why}"))
            .hint("leave out --ceiling, or use --format text or json"));
    }
    if a.format == TopoFormat::RdmaTopoDump && !a.what_if.is_empty() {
        return Err(Failure::new("rdma_topo's dump is of the node as it is").hint("leave out --what-if"));
    }
    Ok(())
}

/// What was seen of links outweighs the document: it is changed with it.
fn change_links(changes: &[Change], source: &mut Source) {
    let pcie = &mut source.extra.pcie;
    let mut run = |busid: &str, state: &mut LinkState, at: PcieLink| {
        state.now = at.or(state.now);
        if let Some(seen) = pcie.get_mut(busid) {
            seen.speed = at.speed.or(seen.speed);
            seen.width = at.width.map(|w| u32::from(w.0)).or(seen.width);
        }
    };
    for change in changes {
        match change {
            Change::FullLinks => source.links.iter_mut().for_each(|(busid, state)| run(busid, state, state.possible)),
            Change::Link { busid, generation, width } => {
                if let Some(state) = source.links.get_mut(busid) {
                    let speed = LinkSpeed::from_register(*generation);
                    run(busid, state, PcieLink { speed, width: Some(LinkWidth(*width)) });
                }
            }
            Change::Move { .. } | Change::Env(..) | Change::Nccl(_) => {}
        }
    }
}

/// What a drawing shows; what it marks as limiting is what `--ceiling` says.
fn scene(topo: &Topo<'_>) -> Scene {
    let limiting = topo.ceilings.and_then(bottleneck).map(|e| e.mark().to_owned());
    // Nothing is marked as the bottleneck by an assumption: such ceilings are not among these.
    let extras = Extras {
        title: topo.label.to_owned(),
        nccl: Some(topo.config.version.to_string()),
        notes: topo.notes.iter().take(4).cloned().collect(),
        links: Some(topo.links),
        bottleneck: limiting,
        matrix: topo.matrix,
    };
    Scene::new(topo.document, topo.analysis, &extras)
}

fn explain(a: &TopoArgs, topo: &Topo<'_>, style: Style, sink: &mut Sink) -> Result<(), Failure> {
    let find = |name: &String| names::find(&topo.analysis.system, name).map_err(Failure::new);
    let [from, to] = a.explain.as_slice() else { return Ok(()) };
    let (one, other) = (find(from)?, find(to)?);
    if one == other {
        return Err(Failure::new(format!(
            "{from} and {to} are one device, {}",
            names::name(&topo.analysis.system, one)
        ))
        .hint("name two, such as --explain GPU0 GPU1"));
    }
    Ok(text::explain(topo, (one, other), style, sink)?)
}

fn variables(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let one = |v: &String| {
        let (key, value) = v.split_once('=').filter(|(k, _)| !k.is_empty())?;
        Some((key.to_owned(), value.to_owned()))
    };
    let bad = |v: &String| Failure::new(format!("`{v}` is not KEY=VALUE")).hint("such as --env NCCL_NET_GDR_LEVEL=PHB");
    given.iter().map(|v| one(v).ok_or_else(|| bad(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_topology::Input;
    use linerate_topology::ceiling::PcieSeen;
    use linerate_topology::xml::Document;

    #[test]
    fn a_change_of_links_is_seen() {
        let busid = "0000:3d:00.0";
        let link = |generation, lanes| PcieLink::new(LinkSpeed::from_register(generation).unwrap(), LinkWidth(lanes));
        let changed = |change: &str| {
            let document = Document::parse("<system version=\"1\"/>", Dialect::Lenient).unwrap();
            let mut source = Source::new("test".to_owned(), document, Input::File);
            source.links.insert(busid.to_owned(), LinkState { now: link(5, 8), possible: link(5, 16) });
            let seen = PcieSeen { speed: Some(LinkSpeed::Gen5), width: Some(8), ..PcieSeen::default() };
            source.extra.pcie.insert(busid.to_owned(), seen);
            change_links(&[change.parse().unwrap()], &mut source);
            (source.links[busid].words(), source.extra.pcie[busid].speed, source.extra.pcie[busid].width)
        };
        assert_eq!(changed("full-links"), ("Gen5 x16".to_owned(), Some(LinkSpeed::Gen5), Some(16)));
        let slower = ("Gen3 x4 of Gen5 x16".to_owned(), Some(LinkSpeed::Gen3), Some(4));
        assert_eq!(changed("link=0000:3D:00.0:Gen3x4"), slower);
        assert_eq!(changed("level=SYS").0, "Gen5 x8 of Gen5 x16");
    }
}
