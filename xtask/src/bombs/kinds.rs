//! Kinds of bombs: each makes a file or a directory of at most 1 MB from a random number.

use super::pack::{PACKED, Packing, Tar, deep_pack, some, wide_pack};
use super::random::Random;
use super::rows::{Rows, text};

/// What a bomb may occupy on the disk.
pub(super) const MOST: usize = 1_000_000;

/// A file, or the files of a directory.
pub(super) enum Bomb {
    File(String, Vec<u8>),
    Dir(Vec<(String, Vec<u8>)>),
    /// A file of so many bytes, of which only the first are written.
    Holes(String, Vec<u8>, u64),
}

type Make = fn(&mut Random, &Seeds) -> Bomb;

/// Texts to grow.
pub(super) struct Seeds {
    /// Files of a node.
    pub(super) tree: Vec<(String, Vec<u8>)>,
    /// Outputs of tools and logs.
    pub(super) texts: Vec<(String, Vec<u8>)>,
    /// Texts by their rows.
    pub(super) rows: Vec<Rows>,
}

const OTHERS: &[(&str, Make)] = &[
    ("one-byte", one_byte),
    ("repeated-line", repeated_line),
    ("members", members),
    ("nested-packing", nested_packing),
    ("many-members", many_members),
    ("tar-tiny", tar_tiny),
    ("tar-deep", tar_deep),
    ("tar-hardlinks", tar_hardlinks),
    ("tar-links", tar_links),
    ("tar-large", tar_large),
    ("tar-sparse", tar_sparse),
    ("tar-in-tar", tar_in_tar),
    ("tar-functions", tar_functions),
    ("tree-grown", tree_grown),
    ("tree-doubled", tree_doubled),
    ("pack-deep", |r, _| Bomb::File("deep.tar.zst".into(), deep_pack(1 << (6 + r.below(15))))),
    ("pack-wide", |r, _| Bomb::File("wide.tar.zst".into(), wide_pack(1 << (10 + r.below(11))))),
    ("manifest", manifest),
    ("texts", texts),
    ("packed-texts", packed_texts),
    ("holes", holes),
    ("json-in-json", json_deep),
    ("matrix", matrix),
    ("nv-matrix", nv_matrix),
    ("seed-grown", seed_grown),
    ("seed-words", seed_words),
];

/// Number of kinds.
pub(super) fn count(seeds: &Seeds) -> usize {
    // Grown seeds more often: most readers are behind them.
    OTHERS.len() + seeds.rows.len() * 2 + 24
}

/// The n-th kind's bomb.
pub(super) fn make(n: usize, random: &mut Random, seeds: &Seeds) -> (String, Bomb) {
    if let Some((name, make)) = OTHERS.get(n) {
        return ((*name).to_owned(), make(random, seeds));
    }
    let n = n - OTHERS.len();
    if let Some(of) = seeds.rows.get(n) {
        let bytes = of.rows(random, MOST, Some(Packing::Plain));
        return (of.name.clone(), bytes);
    }
    if let Some(of) = seeds.rows.get(n - seeds.rows.len()) {
        let most = *random.pick(&[4 << 20, 16 << 20, 40 << 20]);
        return (format!("{}-packed", of.name), of.rows(random, most, None));
    }
    ("seed-grown".to_owned(), seed_grown(random, seeds))
}

impl Rows {
    fn rows(&self, random: &mut Random, bytes: usize, packing: Option<Packing>) -> Bomb {
        let bytes = if packing.is_some() { bytes - 2 * self.row.len() - 600 } else { bytes };
        let text = text(self, bytes, random);
        let packing = packing.unwrap_or_else(|| *random.pick(&PACKED));
        let mut packed = packing.pack(&text);
        packed.truncate(MOST);
        Bomb::File(format!("{}{}", self.file, packing.ending()), packed)
    }
}

fn file(name: &str, bytes: Vec<u8>) -> Bomb {
    Bomb::File(name.to_owned(), bytes)
}

fn one_byte(random: &mut Random, _: &Seeds) -> Bomb {
    let byte = *random.pick(b"\0\xffA\n [{<,\t");
    let packing = *random.pick(&PACKED);
    let bytes = packing.repeat(&vec![byte; 16 << 20], 1 << (10 + random.below(10)));
    file(&format!("x.log{}", packing.ending()), bytes)
}

fn repeated_line(random: &mut Random, seeds: &Seeds) -> Bomb {
    let of = random.pick(&seeds.rows);
    let block = text(of, 1 << 20, random);
    let packing = *random.pick(&PACKED);
    file(&format!("{}{}", of.file, packing.ending()), packing.repeat(&block, MOST))
}

fn members(random: &mut Random, _: &Seeds) -> Bomb {
    let packing = *random.pick(&PACKED);
    file(&format!("members.log{}", packing.ending()), packing.repeat(b"", MOST))
}

fn nested_packing(random: &mut Random, _: &Seeds) -> Bomb {
    let mut bytes = vec![b'a'; 64 << 20];
    let mut name = "nested.log".to_owned();
    for _ in 0..2 + random.below(3) {
        let packing = *random.pick(&PACKED);
        bytes = packing.pack(&bytes);
        name += packing.ending();
    }
    file(&name, bytes)
}

fn many_members(random: &mut Random, seeds: &Seeds) -> Bomb {
    let packing = *random.pick(&PACKED);
    let mut line = random.pick(&seeds.rows).head.as_bytes().to_vec();
    line.extend(b"NCCL INFO x\n");
    file(&format!("members.log{}", packing.ending()), packing.repeat(&line, MOST))
}

fn packed(tar: Tar, random: &mut Random) -> Bomb {
    let (bytes, ending) = some(random, &tar.end(), MOST);
    file(&format!("node.tar{ending}"), bytes)
}

fn tar_tiny(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let dir = *random.pick(&["proc", "sys/class/net/eth0", "sys/devices/pci0000:00", "cmd", "x"]);
    tiny(&mut tar, dir, 1 << (12 + random.below(6)));
    packed(tar, random)
}

/// So many small files.
pub(super) fn tiny(tar: &mut Tar, dir: &str, n: usize) {
    for i in 0..n {
        tar.file(&format!("{dir}/{i}/stdout"), b"x\n");
    }
}

fn tar_deep(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    tar.file("proc/cpuinfo", b"vendor_id : GenuineIntel\n");
    let most = 1 << (6 + random.below(10));
    for depth in [most / 4, most / 2, most] {
        tar.file(&format!("sys/{}vendor", "a/".repeat(depth)), b"0x10de\n");
    }
    packed(tar, random)
}

fn tar_hardlinks(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    tar.file("proc/cmdline", &vec![b'a'; 1 << (10 + random.below(13))]);
    for i in 0..1 << (8 + random.below(8)) {
        tar.entry(&format!("proc/{i}/cmdline"), b'1', "proc/cmdline", 0, b"");
    }
    packed(tar, random)
}

fn tar_links(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let n = 1 << (8 + random.below(9));
    for i in 0..n {
        tar.entry(
            &format!("sys/bus/pci/devices/{:04x}:{:02x}:00.0", i / 256, i % 256),
            b'2',
            &format!("{:04x}:{:02x}:00.0", (i + 1) / 256, (i + 1) % 256),
            0,
            b"",
        );
    }
    packed(tar, random)
}

fn tar_large(random: &mut Random, seeds: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let names = [
        "proc/cmdline",
        "var/log/dmesg",
        "sos_commands/pci/lspci",
        "proc/cpuinfo",
        "linerate/manifest.json",
        "etc/nccl.conf",
        "cmd/1/stdout",
    ];
    for _ in 0..1 + random.below(8) {
        let of = random.pick(&seeds.rows);
        let (path, bytes) = (*random.pick(&names), 1 << (16 + random.below(8)));
        tar.file(path, &text(of, bytes, random));
    }
    packed(tar, random)
}

fn tar_sparse(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    for i in 0..1 << random.below(8) {
        tar.entry(&format!("proc/{i}/cmdline"), b'S', "", 1 << (10 + random.below(14)), b"abc");
    }
    packed(tar, random)
}

fn tar_in_tar(random: &mut Random, _: &Seeds) -> Bomb {
    let mut inner = vec![b'a'; 32 << 20];
    for _ in 0..2 + random.below(3) {
        let mut tar = Tar::default();
        tar.file("proc/cmdline", &inner);
        inner = Packing::Zstd.pack(&tar.end());
    }
    file("node.tar.zst", inner)
}

/// So many functions, each with what a function has.
fn tar_functions(random: &mut Random, _: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let kinds = [("0x10de\n", "0x030200\n"), ("0x15b3\n", "0x020700\n"), ("0x1000\n", "0x060400\n")];
    let (one, full) = (random.below(4), random.chance(50));
    let of = kinds.get(one).map_or(&kinds[..], std::slice::from_ref);
    functions(&mut tar, of, full, 1 << (10 + random.below(8)));
    packed(tar, random)
}

/// So many functions of these vendors and classes in turn.
pub(super) fn functions(tar: &mut Tar, of: &[(&str, &str)], full: bool, n: usize) {
    for i in 0..n {
        let (vendor, class) = of[i % of.len()];
        let bdf = format!("{:04x}:{:02x}:{:02x}.0", i >> 13, i >> 5 & 255, i & 31);
        let device = format!("sys/devices/pci{:04x}:00/{bdf}", i >> 13);
        tar.file(&format!("{device}/vendor"), vendor.as_bytes());
        tar.file(&format!("{device}/class"), class.as_bytes());
        if full {
            tar.file(&format!("{device}/numa_node"), b"0\n");
            tar.file(&format!("{device}/config"), &[0x10; 256]);
        }
        tar.entry(
            &format!("sys/bus/pci/devices/{bdf}"),
            b'2',
            &format!("../../../devices/pci{:04x}:00/{bdf}", i >> 13),
            0,
            b"",
        );
    }
}

/// A node with one file that is far too long.
fn tree_grown(random: &mut Random, seeds: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let chosen = random.below(seeds.tree.len());
    for (i, (path, data)) in seeds.tree.iter().enumerate() {
        if i == chosen {
            tar.file(path, &grow(data, 1 << (16 + random.below(7)), random));
        } else {
            tar.file(path, data);
        }
    }
    packed(tar, random)
}

/// A node whose directories are there many times, under other names.
fn tree_doubled(random: &mut Random, seeds: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    seeds.tree.iter().for_each(|(path, data)| tar.file(path, data));
    let (path, _) = random.pick(&seeds.tree);
    let names: Vec<&str> = path.split('/').collect();
    let depth = 1 + random.below(names.len());
    let parent = names.get(..depth).unwrap_or_default().join("/");
    let below: Vec<_> = seeds
        .tree
        .iter()
        .filter(|(p, _)| p.strip_prefix(&parent).is_some_and(|r| r.starts_with('/') || r.is_empty()))
        .collect();
    let copies = 40_000 / below.len().max(1);
    for i in 0..copies {
        for (path, data) in &below {
            let other = path.replacen(&parent, &renamed(&parent, i), 1);
            tar.file(&other, data);
        }
    }
    packed(tar, random)
}

/// Another name of the same form: its digits count on.
fn renamed(path: &str, i: usize) -> String {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = match name.rsplit_once(':') {
        Some(_) => format!("{:04x}:{:02x}:{:02x}.{}", 0x1000 + (i >> 16), i >> 8 & 255, i >> 3 & 31, i & 7),
        None => format!("{}{i}", name.trim_end_matches(|c: char| c.is_ascii_digit())),
    };
    if dir.is_empty() { name } else { format!("{dir}/{name}") }
}

fn manifest(random: &mut Random, seeds: &Seeds) -> Bomb {
    let mut tar = Tar::default();
    let (form, n) = (random.below(5), 1 << (10 + random.below(8)));
    tar.file("linerate/manifest.json", manifest_of(form, n).as_bytes());
    seeds.tree.iter().for_each(|(path, data)| tar.file(path, data));
    let mut bytes = Packing::Zstd.pack(&tar.end());
    bytes.truncate(MOST);
    file("node.tar.zst", bytes)
}

/// A manifest of so many patterns, paths or remarks.
pub(super) fn manifest_of(form: usize, n: usize) -> String {
    let list = |form: &dyn Fn(usize) -> String| (0..n).map(form).collect::<Vec<_>>().join(",");
    let body = match form {
        0 => format!(r#""tried":[{}]"#, list(&|i| format!("\"sys/*/a{i}*/**\""))),
        1 => {
            format!(r#""tried":["**"],"unread":[{}]"#, list(&|i| format!(r#"{{"path":"sys/a{i}/**","why":"denied"}}"#)))
        }
        2 => format!(
            r#""tried":["**"],"unread":[{}]"#,
            list(&|i| format!(r#"{{"path":"sys/a/b{i}/c","why":"denied"}}"#))
        ),
        3 => format!(r#""tried":["**"],"problems":[{}]"#, list(&|i| format!("\"problem {i}\""))),
        _ => format!(r#""tried":[{}]"#, list(&|_| "\"****************a*a*a*a*a*a*\"".to_owned())),
    };
    format!(r#"{{"schema":1,"host":"a",{body}}}"#)
}

fn texts(random: &mut Random, seeds: &Seeds) -> Bomb {
    let n = 1 << (4 + random.below(7));
    let texts = (0..n).map(|i| {
        let (name, data) = random.pick(&seeds.texts);
        let data: Vec<u8> = data.iter().copied().take(MOST / n).collect();
        (format!("{i}-{name}"), data)
    });
    Bomb::Dir(texts.collect())
}

fn packed_texts(random: &mut Random, seeds: &Seeds) -> Bomb {
    let of = random.pick(&seeds.rows);
    let packing = *random.pick(&PACKED);
    let bytes = packing.pack(&text(of, 1 << 20, random).repeat(16));
    let n = (MOST / bytes.len().max(1)).clamp(1, 60);
    Bomb::Dir((0..n).map(|i| (format!("{i}-{}{}", of.file, packing.ending()), bytes.clone())).collect())
}

fn holes(random: &mut Random, seeds: &Seeds) -> Bomb {
    let of = random.pick(&seeds.rows);
    Bomb::Holes(of.file.clone(), text(of, 4096, random), 1 << (26 + random.below(12)))
}

fn json_deep(random: &mut Random, _: &Seeds) -> Bomb {
    let n = 1 << (4 + random.below(14));
    let open = *random.pick(&["[", "{\"a\":", "{\"results\":[", "{\"end\":{\"sum\":", "[[", "{\"jobs\":[{\"a\":"]);
    let mut out = open.repeat(n);
    out.push('1');
    for c in open.repeat(n).bytes().rev() {
        match c {
            b'[' => out.push(']'),
            b'{' => out.push('}'),
            _ => {}
        }
    }
    file("deep.json", out.into_bytes().into_iter().take(MOST).collect())
}

fn matrix(random: &mut Random, _: &Seeds) -> Bomb {
    let n = 1 << (3 + random.below(7));
    let mut out = String::new();
    (0..n).for_each(|i| out += &format!("\tGPU{i}"));
    out += "\tCPU Affinity\n";
    for i in 0..n {
        out += &format!("GPU{i}");
        (0..n).for_each(|j| out += if i == j { "\t X " } else { "\tPIX" });
        out += "\t0-51\n";
    }
    let (bytes, ending) = some(random, out.as_bytes(), MOST);
    file(&format!("topo-m.txt{ending}"), bytes)
}

fn nv_matrix(random: &mut Random, _: &Seeds) -> Bomb {
    let n = 1 << (3 + random.below(8));
    let mut out = "nvbandwidth Version: v0.8\nDriver Version: 580.95.05\n".to_owned();
    (0..n).for_each(|i| out += &format!("Device {i}: NVIDIA A (00000000:34:00)\n"));
    out += "\nRunning device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n ";
    (0..n).for_each(|i| out += &format!(" {i:9}"));
    for i in 0..n {
        out += &format!("\n {i}");
        (0..n).for_each(|j| out += &format!("    {}.{j}", 10 + i % 50));
    }
    out += "\n\nSUM device_to_device_memcpy_read_ce 41.00\n";
    let (bytes, ending) = some(random, out.as_bytes(), MOST);
    file(&format!("nvbandwidth.log{ending}"), bytes)
}

/// A text that a tool printed, with parts of it there again and again, under other numbers.
fn seed_grown(random: &mut Random, seeds: &Seeds) -> Bomb {
    let (name, data) = random.pick(&seeds.texts);
    let most = *random.pick(&[MOST, 4 << 20, 16 << 20, 64 << 20]);
    let grown = grow(data, most, random);
    let (bytes, ending) = some(random, &grown, MOST);
    file(&format!("{name}{ending}"), bytes)
}

/// A text in which one word has become very long.
fn seed_words(random: &mut Random, seeds: &Seeds) -> Bomb {
    let (name, data) = random.pick(&seeds.texts);
    let at = random.below(data.len());
    let from = data.get(..at).and_then(|d| d.iter().rposition(|b| b.is_ascii_whitespace())).unwrap_or(0);
    let word: Vec<u8> = data.iter().copied().skip(from).take(1 + random.below(40)).collect();
    let mut out = data.get(..at).unwrap_or_default().to_vec();
    out.extend(word.repeat(1 << random.below(16)));
    out.extend(data.get(at..).unwrap_or_default());
    let (bytes, ending) = some(random, &out, MOST);
    file(&format!("{name}{ending}"), bytes)
}

/// Repeats some lines of a text until it is so long; in each copy the numbers are others.
fn grow(data: &[u8], most: usize, random: &mut Random) -> Vec<u8> {
    let lines: Vec<&[u8]> = data.split_inclusive(|b| *b == b'\n').collect();
    let from = random.below(lines.len());
    let most_lines = if random.chance(50) { 4 } else { usize::MAX };
    let n = 1 + random.below((lines.len() - from).min(most_lines));
    let (before, rest) = lines.split_at(from);
    let (again, after) = rest.split_at(n.min(rest.len()));
    let mut out = before.concat();
    let block = again.concat();
    let other = random.chance(80);
    let mut i = 0_u64;
    let tail: usize = after.iter().map(|l| l.len()).sum();
    while out.len() + tail + block.len() < most && !block.is_empty() {
        match other {
            true => numbered(&block, i, random, &mut out),
            false => out.extend(&block),
        }
        i += 1;
    }
    after.iter().for_each(|l| out.extend(*l));
    out
}

fn numbered(block: &[u8], i: u64, random: &mut Random, out: &mut Vec<u8>) {
    let which = random.below(8);
    let mut number = 0;
    let mut at = 0;
    while let Some(b) = block.get(at) {
        let digits = block.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            out.push(*b);
            at += 1;
            continue;
        }
        // Every other number stays, so that most lines keep their form.
        if number % 8 == which || number == 0 {
            out.extend(i.to_string().as_bytes());
        } else {
            out.extend(block.get(at..at + digits).unwrap_or_default());
        }
        number += 1;
        at += digits;
    }
}
