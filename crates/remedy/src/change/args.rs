//! The words of the kernel's command line that all findings together add and remove.

use linerate_formats::cmdline::Cmdline;
use linerate_rules::Action;

/// What changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Args {
    pub(super) add: Vec<String>,
    pub(super) remove: Vec<String>,
}

/// Of all wishes, against the running kernel's arguments: an option in a list (`pci=realloc,noats`) goes, and the rest of its list stays.
pub(super) fn args(actions: &[&Action], running: Option<&Cmdline>) -> Args {
    let mut out = Args::default();
    let put = |list: &mut Vec<String>, w: String| {
        if !list.contains(&w) {
            list.push(w);
        }
    };
    for action in actions {
        let Action::KernelArgs { add, remove } = action else { continue };
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

/// Lists of options that may stand in several words, of which each holds.
const LISTS: &[&str] = &["pci"];

/// Where a tool replaces all words of a name by the one that it is given (`grubby --args`), what a list had stays in that one.
pub(super) fn in_one_word(args: &mut Args, running: &Cmdline) {
    for name in LISTS {
        let of = |w: &String| w.strip_prefix(name).and_then(|w| w.strip_prefix('=')).map(str::to_owned);
        let added: Vec<String> = args.add.iter().filter_map(of).collect();
        let mut had: Vec<String> = running.get_all(name).filter_map(|p| p.value.clone()).collect();
        if added.iter().all(|a| had.contains(a)) {
            continue;
        }
        had.retain(|v| !args.remove.contains(&format!("{name}={v}")) && !added.contains(v));
        if added.len() + had.len() < 2 {
            continue;
        }
        args.add.retain(|w| of(w).is_none());
        args.add.push(format!("{name}={}", had.iter().chain(&added).cloned().collect::<Vec<_>>().join(",")));
        args.remove.extend(had.iter().map(|v| format!("{name}={v}")));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stays_whole_in_one_word() {
        let of = |add: &[&str], remove: &[&str], running: &str| {
            let own = |w: &[&str]| w.iter().map(|w| (*w).to_owned()).collect();
            let mut args = Args { add: own(add), remove: own(remove) };
            in_one_word(&mut args, &linerate_formats::cmdline::parse(running.as_bytes()));
            (args.add.join(" "), args.remove.join(" "))
        };
        let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of(&["pci=x"], &[], "ro quiet"), two("pci=x", ""));
        assert_eq!(of(&["iommu=pt", "pci=x"], &[], "pci=y"), two("iommu=pt pci=y,x", "pci=y"));
        assert_eq!(of(&["pci=x"], &["pci=y"], "pci=y"), two("pci=x", "pci=y"), "what goes anyway");
        assert_eq!(of(&["pci=x", "pci=z"], &[], ""), two("pci=x,z", ""));
        assert_eq!(of(&["pci=x", "iommu=pt"], &[], "pci=y pci=x"), two("pci=x iommu=pt", ""), "it is there already");
        assert_eq!(of(&["iommu=pt"], &["iommu=off"], "iommu=off pci=y"), two("iommu=pt", "iommu=off"));
    }
}
