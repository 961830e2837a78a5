//! Alike lines of one list as one: what is written to a file of each of two hundred processors is read once.

/// So many alike lines are shown as they are.
pub(super) const FEW: usize = 3;

/// Lines of which neighbours that differ only in the numbers of names in paths are one, with how many they are. `all`: as they are.
pub(super) fn folded(lines: impl Iterator<Item = String>, all: bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut run: Vec<String> = Vec::new();
    let mut form = String::new();
    for line in lines {
        let own = if all { String::new() } else { pattern(&line) };
        if own != form || own.is_empty() {
            end(&mut run, &form, &mut out);
            form = own;
        }
        run.push(line);
    }
    end(&mut run, &form, &mut out);
    out
}

fn end(run: &mut Vec<String>, form: &str, out: &mut Vec<String>) {
    if run.len() > FEW && !form.is_empty() {
        out.push(format!("{form}: {} files", run.len()));
        run.clear();
    } else {
        out.append(run);
    }
}

/// The line with `*` for numbers behind a letter in a name of an absolute path: `cpu17` is `cpu*`, `0000:18:00.0` stays; empty where there is none.
fn pattern(line: &str) -> String {
    let mut found = false;
    let words: Vec<String> = line
        .split(' ')
        .map(|word| {
            if !word.starts_with('/') {
                return word.to_owned();
            }
            let mut out = String::new();
            let mut before = ' ';
            for c in word.chars() {
                let numbered = c.is_ascii_digit()
                    && (before.is_ascii_alphabetic() || out.ends_with('*') && before.is_ascii_digit());
                if !numbered {
                    out.push(c);
                } else if !out.ends_with('*') {
                    out.push('*');
                    found = true;
                }
                before = c;
            }
            out
        })
        .collect();
    if found { words.join(" ") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_each_processor_are_one_line() {
        let of = |value: &str, n: usize| {
            format!("write {value} to /sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor (now powersave)")
        };
        let mut lines: Vec<String> = (0..224).map(|n| of("performance", n)).collect();
        lines.push("write 0 to /proc/sys/kernel/numa_balancing (now 1)".to_owned());
        lines.extend((0..4).map(|n| of("schedutil", n)));
        let shown = folded(lines.iter().cloned(), false);
        assert_eq!(shown.len(), 3, "{shown:?}");
        assert!(shown[0].contains("/cpu*/cpufreq/") && shown[0].contains("224 files"));
        assert_eq!(folded(lines.iter().cloned(), true), lines);
    }

    #[test]
    fn few_and_addresses_stay() {
        let few: Vec<String> = (0..3).map(|n| format!("/sys/class/net/eth{n}/mtu reads 9000")).collect();
        assert_eq!(folded(few.iter().cloned(), false), few);
        let devices: Vec<String> =
            (0..9).map(|n| format!("/sys/bus/pci/devices/0000:1{n}:00.0/numa_node reads 1")).collect();
        assert_eq!(folded(devices.iter().cloned(), false), devices);
        assert_eq!(folded((0..5).map(|n| format!("cpu{n}")), false).len(), 5, "no path");
    }
}
