//! The words of the kernel's command line that all findings together add and remove.

use super::wish::Wish;
use linerate_formats::cmdline::Cmdline;
use linerate_rules::Action;

/// What changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Args {
    pub(super) add: Vec<String>,
    pub(super) remove: Vec<String>,
}

/// Of all wishes, against the running kernel's arguments: an option in a list (`pci=realloc,noats`) goes, and the rest of its list stays.
pub(super) fn args(wishes: &[&Wish], running: Option<&Cmdline>) -> Args {
    let mut out = Args::default();
    let put = |list: &mut Vec<String>, w: String| {
        if !list.contains(&w) {
            list.push(w);
        }
    };
    for w in wishes {
        let Action::KernelArgs { add, remove } = &w.remedy.action else { continue };
        add.iter().for_each(|a| put(&mut out.add, a.to_string()));
        remove.iter().for_each(|r| put(&mut out.remove, r.to_string()));
    }
    let Some(cmdline) = running else { return out };
    // Options that go, by the word they stand in: several may go from one list.
    let mut rest: Vec<(String, Vec<String>)> = Vec::new();
    for r in &out.remove {
        let Some((name, option)) = r.split_once('=') else { continue };
        for p in cmdline.get_all(name) {
            let Some(value) = &p.value else { continue };
            if value == option || option.contains(',') || !value.split(',').any(|o| o == option) {
                continue;
            }
            let word = format!("{}={value}", p.name);
            match rest.iter_mut().find(|(w, _)| *w == word) {
                Some((_, gone)) => gone.push(option.to_owned()),
                None => rest.push((word, vec![option.to_owned()])),
            }
        }
    }
    for (word, gone) in rest {
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        let kept: Vec<&str> = value.split(',').filter(|o| !gone.iter().any(|g| g == o)).collect();
        if !kept.is_empty() {
            put(&mut out.add, format!("{name}={}", kept.join(",")));
        }
        put(&mut out.remove, word);
    }
    out.add.retain(|a| !out.remove.contains(a));
    out
}

/// Whether the running kernel has it all already: then the words are not what is missing.
pub(super) fn nothing_to_do(args: &Args, running: &Cmdline) -> bool {
    let words: Vec<String> = running
        .params
        .iter()
        .map(|p| p.value.as_ref().map_or_else(|| p.name.clone(), |v| format!("{}={v}", p.name)))
        .collect();
    args.add.iter().all(|a| words.contains(a)) && !args.remove.iter().any(|r| words.contains(r))
}
