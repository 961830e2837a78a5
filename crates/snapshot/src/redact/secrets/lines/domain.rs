//! Domains of libvirt. It writes one element a line; a text between two tags may have several lines.

use super::super::shape::Shape;
use super::super::{net, words};
use super::{each, find, find_ignore_case, mark, rfind};

/// What it gives to the emulator, what people wrote about it: kept where it is plain.
const PLAIN: [&[u8]; 5] = [b"<qemu:arg", b"<qemu:env", b"<description", b"<title", b"<entry"];
/// Cookies of network disks, keys of encrypted memory: never kept (libvirt, `VIR_DOMAIN_XML_SECURE`; launchSecurity).
const SECRET: [&[u8]; 4] = [b"<cookie ", b"<session>", b"<dhCert>", b"<slic "];
/// What arguments of the emulator hold secrets behind: `-object secret,id=s0,data=…`.
const HOLDS: [&[u8]; 4] = [b"secret", b"data=", b"pass", b"key"];
/// Passwords of consoles.
const PASSWORD: &[u8] = b" passwd=";

/// A domain of libvirt: what it gives to the emulator, what people wrote about it, the kernel's arguments, passwords of its consoles.
pub(in super::super) fn domain(data: &mut Vec<u8>) {
    // The end of an element whose text has several lines.
    let mut inside: Option<Vec<u8>> = None;
    each(data, |line, out| {
        if let Some(end) = &inside {
            let Some(at) = find(line, end) else { return mark(out) };
            mark(out);
            out.extend_from_slice(line.get(at..).unwrap_or_default());
            inside = None;
            return;
        }
        let body = line.trim_ascii_start();
        let is = |names: &[&[u8]]| names.iter().any(|n| body.starts_with(n));
        if is(&[b"<cmdline>"]) {
            let start = line.len() - body.len() + 9;
            let end = find(line, b"</").filter(|e| *e >= start).unwrap_or(line.len());
            out.extend_from_slice(line.get(..start).unwrap_or_default());
            words::line(line.get(start..end).unwrap_or_default(), out);
            return out.extend_from_slice(line.get(end..).unwrap_or_default());
        }
        if is(&[b"<graphics"])
            && let Some((from, to)) = find(line, PASSWORD).and_then(|at| quoted(line, at + PASSWORD.len()))
        {
            return replaced(line, from, to, out);
        }
        let is_secret = is(&SECRET);
        if !is_secret && !is(&PLAIN) {
            return out.extend_from_slice(line);
        }
        let value = find(line, b"value=").and_then(|at| last_quoted(line, at + 6));
        let Some((from, to)) = value.or_else(|| text(line)) else { return out.extend_from_slice(line) };
        if to == line.len() {
            inside = closing(body);
        }
        let plain = |v: &[u8]| Shape::Path.fits(v) && !HOLDS.iter().any(|w| find_ignore_case(v, w).is_some());
        if is_secret || inside.is_some() || !line.get(from..to).is_some_and(plain) {
            return replaced(line, from, to, out);
        }
        out.extend_from_slice(line);
    });
    net::remove(data);
}

fn replaced(line: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(line.get(..from).unwrap_or_default());
    mark(out);
    out.extend_from_slice(line.get(to..).unwrap_or_default());
}

/// What is between the quote at a place and the next of its kind.
fn quoted(line: &[u8], at: usize) -> Option<(usize, usize)> {
    let quote = *line.get(at)?;
    let to = line.iter().skip(at + 1).position(|b| *b == quote).map_or(line.len(), |n| at + 1 + n);
    Some((at + 1, to))
}

/// The same to the last of its kind: whoever wrote it by hand may not have escaped the ones between.
fn last_quoted(line: &[u8], at: usize) -> Option<(usize, usize)> {
    let quote = *line.get(at)?;
    Some((at + 1, line.iter().rposition(|b| *b == quote).filter(|to| *to > at)?))
}

/// What is behind the first tag, to the next one or the line's end.
fn text(line: &[u8]) -> Option<(usize, usize)> {
    let from = line.iter().position(|b| *b == b'>')? + 1;
    if line.get(..from)?.ends_with(b"/>") {
        return None;
    }
    Some((from, rfind(line.get(from..)?, b"</").map_or(line.len(), |p| from + p)))
}

/// `</name>` of `<name …`.
fn closing(body: &[u8]) -> Option<Vec<u8>> {
    let name = body.strip_prefix(b"<")?;
    let end = name.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/'))?;
    Some([b"</", name.get(..end)?, b">"].concat())
}

#[cfg(test)]
mod tests {
    use super::domain;

    fn cleaned(text: &str) -> String {
        let mut data = text.as_bytes().to_vec();
        domain(&mut data);
        String::from_utf8(data).unwrap()
    }

    #[test]
    fn what_is_secret_goes_and_lines_stay() {
        let text = "<domain type='kvm'>
  <title>ask bob@example.org</title>
  <description>root: hunter2
and port: sesame</description>
  <launchSecurity type='sev'>
    <dhCert>AAAAsecretAAAA</dhCert>
    <session>BBBBsecretBBBB
CCCC</session>
  </launchSecurity>
  <devices>
    <graphics type='vnc' port='-1' passwd='hunter2' keymap='de'/>
    <graphics type='spice' passwd=\"hunter2\"/>
    <disk><source><cookies>
      <cookie name='c'>open sesame</cookie>
    </cookies></source></disk>
  </devices>
  <qemu:commandline>
    <qemu:arg value='-fw_cfg'/>
    <qemu:arg value='name=opt/ovmf/X-PciMmio64Mb,string=262144'/>
    <qemu:arg value='secret,id=s0,data=hunter2'/>
  </qemu:commandline>
</domain>
";
        let out = cleaned(text);
        for secret in ["hunter2", "sesame", "secretAAAA", "secretBBBB", "CCCC", "bob@"] {
            assert!(!out.contains(secret), "{secret}: {out}");
        }
        for kept in [
            "keymap='de'",
            "value='-fw_cfg'",
            "X-PciMmio64Mb,string=262144",
            "</description>",
            "</session>",
            "<dhCert>",
        ] {
            assert!(out.contains(kept), "{kept}: {out}");
        }
        assert_eq!(out.lines().count(), text.lines().count());
        assert_eq!(cleaned(&out), out, "twice is once");
    }
}
