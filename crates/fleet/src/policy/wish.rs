//! What a plan could do about an answer that fails: the desired state of each fact that linerate can change.

use super::read::is_words;
use super::{Answer, Held, Kind, Owner, Row};
use linerate_facts::{Fact, Reading, Subject, Value, Want, each};
use linerate_formats::mlxconfig;
use linerate_node::Node;
use linerate_remedy::Wished;
use linerate_rules::{Action, Remedy, Status};

/// What is wished where an answer fails; `None`: it does not.
#[must_use]
pub fn wish(answer: &Answer<'_>, node: &Node<'_>) -> Option<Wished> {
    if answer.status != Status::Fail {
        return None;
    }
    let about = answer.kind.about();
    let mut out = Wished {
        id: about.id.clone(),
        fact: String::new(),
        part: String::new(),
        wants: Vec::new(),
        message: message(answer),
        remedy: by_hand(answer),
    };
    match answer.kind {
        Kind::Row(row) => of_row(answer, row, node, &mut out),
        Kind::Condition(c) => {
            if let Some(action) = &c.fix {
                out.remedy = Remedy::new(format!("bring about {}", about.id), action.clone());
            }
        }
        Kind::Claim(c) => {
            if let Some(action) = &c.fix {
                out.remedy = Remedy::new(format!("make {} true", about.id), action.clone());
            }
        }
        Kind::Count(_) => {}
    }
    Some(out)
}

fn of_row(answer: &Answer<'_>, row: &Row, node: &Node<'_>, out: &mut Wished) {
    let words = is_words(row.def);
    let mut found = None;
    each(node, &mut |fact| {
        let here = answer.place.is_some_and(|p| p == fact.reading.place());
        if found.is_none() && fact.def.id == row.def.id && (here || words) {
            found = Some((fact.to_string(), action(answer, row, fact)));
        }
    });
    let Some((fact, action)) = found else { return };
    out.fact = fact;
    out.wants = row.wants.clone();
    if words {
        out.part = answer.part.clone();
        // Of all other words this one must go.
        if matches!(row.wants.as_slice(), [Want::NoOther(_)]) {
            out.wants = vec![Want::Absent];
        }
    }
    if let Some(action) = row.fix.clone().or(action) {
        let at = at(&answer.owner);
        let of = if at.is_empty() { String::new() } else { format!(" of {at}") };
        let wanted: Vec<String> = out.wants.iter().map(ToString::to_string).collect();
        let summary = match row.def.id {
            "kernel.cmdline" | "kernel.modules" => format!("{} {}: {}", row.def.id, out.part, wanted.join(", ")),
            _ => format!("bring {}{of} to {}", subject(row), wanted.join(", ")),
        };
        out.remedy = Remedy::new(summary, action).prove(out.fact.clone());
    }
}

fn subject(row: &Row) -> String {
    Kind::Row(row).subject()
}

/// What was seen and what is wanted.
fn message(answer: &Answer<'_>) -> String {
    let at = at(&answer.owner);
    let whose = if at.is_empty() { String::new() } else { format!("{at}: ") };
    let about = answer.kind.about();
    let because = if about.reason.is_empty() { String::new() } else { format!(" ({})", about.reason) };
    let (seen, part) = (shown(&answer.seen), part(answer));
    format!("{whose}{}{part} is {seen}, the policy wants {}{because}", answer.kind.subject(), answer.kind.wanted())
}

/// What people are asked to do.
fn by_hand(answer: &Answer<'_>) -> Remedy {
    let seen = match &answer.seen {
        Held::NoDevice => "the device is absent".to_owned(),
        seen => format!("now {}", shown(seen)),
    };
    let whose = answer.kind.whose();
    let of = if whose.is_empty() { String::new() } else { format!(" of {whose}") };
    let summary = match answer.kind {
        Kind::Condition(c) => format!("bring about what {} asks for: {}", c.about.id, c.cel.source()),
        Kind::Claim(c) => {
            format!("make {} true, or withdraw the claim: {}", c.about.id, answer.kind.subject())
        }
        kind => format!("bring {}{}{of} to: {} ({seen})", kind.subject(), part(answer), kind.wanted()),
    };
    let at = at(&answer.owner);
    Remedy::investigate(summary, if at.is_empty() { "the node".to_owned() } else { at })
}

pub(super) fn shown(seen: &Held) -> String {
    match seen {
        Held::Value(v) if v.is_empty() => "empty".to_owned(),
        Held::Value(v) => v.clone(),
        Held::Absent => "absent".to_owned(),
        Held::NoDevice => "the device is absent".to_owned(),
        Held::Unseen(why) => why.clone(),
        Held::Says(b, _) => b.to_string(),
    }
}

/// The part of an answer, where the expectation does not name it.
fn part(answer: &Answer<'_>) -> String {
    let named = answer.part.is_empty() || answer.kind.subject().ends_with(&answer.part);
    if named { String::new() } else { format!(" {}", answer.part) }
}

fn at(owner: &Owner) -> String {
    match owner {
        Owner::Node => String::new(),
        Owner::Device { role, name } => format!("{role} ({name})"),
        Owner::Named(name) | Owner::Missing(name) => name.clone(),
    }
}

/// The desired state that changes a fact; `None`: linerate cannot change it.
fn action(answer: &Answer<'_>, row: &Row, fact: &Fact<'_>) -> Option<Action> {
    let value = || row.wants.iter().find_map(Want::value);
    let number = || value().and_then(|v| linerate_facts::number(row.def, v));
    let sysfs = |path: &'static str| Some(Action::Sysfs { path: path.into(), value: value()?.to_owned().into() });
    let register = |field: &'static str, value: Option<u32>| match fact.subject {
        Subject::Function(f) => Some(Action::DeviceControl { function: f.bdf, field: field.into(), value: value? }),
        _ => None,
    };
    let on = || value().map(|v| u32::from(v == "true"));
    match row.def.id {
        "kernel.cmdline" => arguments(&answer.part, &row.wants, fact),
        "kernel.modules" => match row.wants.as_slice() {
            [Want::Equals(_) | Want::Present] => Some(Action::LoadModule { module: answer.part.clone().into() }),
            _ => None,
        },
        "nic_firmware.settings.current" | "nic_firmware.settings.next" => match fact.subject {
            Subject::Setting(nic, param) => Some(Action::NicFirmware {
                device: nic.name.clone().into(),
                parameter: param.name.to_string().into(),
                value: for_tool(value()?).into(),
            }),
            _ => None,
        },
        "net.mtu" => match fact.subject {
            Subject::Interface(n) => {
                let mtu = number().filter(|m| (68.0..=65_536.0).contains(m))? as u32;
                Some(Action::Mtu { interface: n.name.to_owned().into(), mtu })
            }
            _ => None,
        },
        "memory.numa_balancing" => sysfs("/proc/sys/kernel/numa_balancing"),
        "sysctl.value" => match fact.subject {
            Subject::Sysctl(c) => {
                Some(Action::Sysfs { path: format!("/{}", c.path).into(), value: value()?.to_owned().into() })
            }
            _ => None,
        },
        "memory.huge_pages" => sysfs("/proc/sys/vm/nr_hugepages"),
        "memory.transparent_hugepages" => sysfs("/sys/kernel/mm/transparent_hugepage/enabled"),
        "cpu.governors" => sysfs("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
        "cpu.energy_preferences" => sysfs("/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"),
        "memory.memlock.soft_bytes" | "memory.memlock.hard_bytes" => {
            let unlimited = value().filter(|v| *v == "unlimited")?;
            Some(Action::Limit { limit: "memlock".into(), value: unlimited.to_owned().into() })
        }
        "pci.express.max_read_request" => register("max-read-request", number().map(|n| n as u32)),
        "pci.express.relaxed_ordering" => register("relaxed-ordering", on()),
        "pci.express.ten_bit_tag_enabled" => register("ten-bit-tag", on()),
        _ => None,
    }
}

/// A value of a setting as its tool takes it: `False(0)`, as the tool prints it, is 0.
fn for_tool(value: &str) -> String {
    let parsed = mlxconfig::Value::new(value);
    parsed.number.map_or_else(|| value.to_owned(), |n| n.to_string())
}

/// Arguments of the kernel of one name: those that are wanted and no others.
fn arguments(name: &str, wants: &[Want], fact: &Fact<'_>) -> Option<Action> {
    let Reading::Known(Value::Arguments(all), _) = &fact.reading else { return None };
    let of = all.params.iter().map(|p| p.raw.to_string());
    let there: Vec<String> = of.filter(|raw| raw.split('=').next() == Some(name)).collect();
    let wanted: Vec<String> = match wants {
        [Want::Equals(v)] => v.split(' ').map(str::to_owned).collect(),
        [Want::OneOf(all)] => all.first()?.split(' ').map(str::to_owned).collect(),
        [Want::Absent | Want::NoOther(_)] => Vec::new(),
        _ => return None,
    };
    let add: Vec<_> = wanted.iter().filter(|w| !there.contains(w)).map(|w| w.clone().into()).collect();
    let remove: Vec<_> = there.iter().filter(|w| !wanted.contains(w)).map(|w| w.clone().into()).collect();
    (!add.is_empty() || !remove.is_empty()).then_some(Action::KernelArgs { add, remove })
}
