//! Vital Product Data of a card, as `/sys/bus/pci/devices/*/vpd` shows it: a list of resources, of which the read-only one holds fields
//! with two-letter keywords (PCI local bus specification 3.0, appendix I). What is cut or garbled ends the list.

const NAME: u8 = 0x82;
const READ_ONLY: u8 = 0x90;
const END: [u8; 2] = [0x78, 0x79];
const LARGE: u8 = 0x80;

/// What a card says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vpd {
    /// Name of the product.
    pub name: String,
    /// Keyword SN.
    pub serial: Option<String>,
    /// Keyword V3 of NVIDIA's cards: an identity that all functions of one card share, the Data Direct function included
    /// (`parse_vpd` of rdma-core's rdma_topo).
    pub v3: Option<String>,
    /// Whether a field says `SMDL=SW_MNG`: the function manages NVLink switches and is no network card.
    pub manages_switches: bool,
}

/// Reads Vital Product Data; `None` where the bytes are none.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Vpd> {
    let mut out = Vpd::default();
    let mut any = false;
    let mut rest = bytes;
    while let [tag, tail @ ..] = rest {
        if END.contains(tag) {
            break;
        }
        let (length, tail) = match (tag & LARGE != 0, tail) {
            (true, [low, high, tail @ ..]) => (usize::from(u16::from_le_bytes([*low, *high])), tail),
            (true, _) => break,
            (false, tail) => (usize::from(tag & 7), tail),
        };
        let Some((data, after)) = tail.split_at_checked(length) else { break };
        match *tag {
            NAME => {
                any = true;
                out.name = text(data);
            }
            READ_ONLY => {
                any = true;
                fields(data, &mut out);
            }
            _ => {}
        }
        rest = after;
    }
    any.then_some(out)
}

fn fields(mut data: &[u8], out: &mut Vpd) {
    while let [a, b, length, tail @ ..] = data {
        let Some((value, after)) = tail.split_at_checked(usize::from(*length)) else { return };
        match [*a, *b] {
            [b'S', b'N'] => out.serial = Some(text(value)),
            [b'V', b'3'] => out.v3 = Some(text(value)),
            _ => out.manages_switches |= says_switches(value),
        }
        data = after;
    }
}

/// `SMDL=SW_MNG`, among the items of a field.
pub fn says_switches(field: &[u8]) -> bool {
    const MARK: &[u8] = b"SMDL=SW_MNG";
    field.windows(MARK.len()).any(|w| w == MARK)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn vpd(fields: &[(&str, &str)]) -> Vec<u8> {
        let body: Vec<u8> =
            fields.iter().flat_map(|(k, v)| [k.as_bytes(), &[v.len() as u8], v.as_bytes()].concat()).collect();
        let mut out = vec![NAME, 4, 0];
        out.extend(b"Card");
        out.push(READ_ONLY);
        out.extend((body.len() as u16).to_le_bytes());
        out.extend(body);
        out.push(0x78);
        out
    }

    #[test]
    fn fields_of_a_card() {
        let v = parse(&vpd(&[("SN", "MT1"), ("V3", "a1b2"), ("VA", "MLX:MODL=CX7:SMDL=SW_MNG")])).unwrap();
        assert_eq!((v.name.as_str(), v.serial.as_deref(), v.v3.as_deref()), ("Card", Some("MT1"), Some("a1b2")));
        assert!(v.manages_switches);
        assert!(!parse(&vpd(&[("VA", "MLX:MODL=CX75310A")])).unwrap().manages_switches);
    }

    #[test]
    fn what_is_cut_or_garbled_ends_the_list() {
        let whole = vpd(&[("V3", "a1b2"), ("VA", "x")]);
        for n in 0..whole.len() {
            let _ = parse(&whole[..n]);
        }
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0xff; 64]), None);
        assert_eq!(parse(&[0; 64]), None);
    }
}
