//! Texts that are cut out line by line, wherever they stand: matrices of `nvidia-smi topo -m`, items of `ibv_devinfo` and `lspci`.

use super::line::{first, function, is_blank};
use crate::lines::Lines;
use linerate_formats::Kind;

/// How such a text is known.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kind: Kind,
    /// Whether a line can begin it, by its first byte that is neither a space nor a tab, and whether it is indented.
    pub(super) may: fn(u8, bool) -> bool,
    begins: fn(&str) -> bool,
    /// Whether a line that is not blank belongs to it.
    goes_on: fn(&str) -> bool,
    /// Its first line alone is none.
    needs_more: bool,
}

pub(super) const FORMS: &[Form] = &[
    Form {
        kind: Kind::NvidiaSmiTopo,
        may: |b, _| b == b'G',
        begins: is_matrix_head,
        goes_on: is_of_matrix,
        needs_more: true,
    },
    Form {
        kind: Kind::IbvDevinfo,
        may: |b, _| b == b'h',
        begins: is_hca,
        goes_on: |l| is_hca(l) || is_indented(l),
        needs_more: false,
    },
    // An address, or its group.
    Form {
        kind: Kind::Lspci,
        may: |b, indented| b.is_ascii_hexdigit() && !indented || matches!(b, b'G' | b'g' | b'I' | b'i'),
        begins: is_function,
        goes_on: |l| is_function(l) || is_indented(l),
        needs_more: false,
    },
];

impl Form {
    /// Whether texts of this tool are cut out line by line.
    pub(super) fn cuts(kind: Kind) -> bool {
        FORMS.iter().any(|f| f.kind == kind)
    }

    /// Of the item that a line begins.
    pub(super) fn of(line: &str) -> Option<&'static Form> {
        let first = first(line)?;
        let may = |f: &Form| (f.may)(first, is_indented(line));
        FORMS.iter().find(|f| (may(f) || !first.is_ascii_graphic()) && (f.begins)(line))
    }
}

/// One that has begun.
#[derive(Debug)]
pub(super) struct Item {
    form: &'static Form,
    /// Lines of the file above it.
    above: u64,
    text: String,
    /// Blank lines whose place in it the next line shows.
    blanks: usize,
    goes_on: bool,
}

impl Item {
    /// The item that a line begins.
    pub(super) fn begin(number: u64, line: &str) -> Option<Item> {
        let form = Form::of(line)?;
        let text = format!("{line}\n");
        Some(Item { form, above: number.saturating_sub(1), text, blanks: 0, goes_on: false })
    }

    /// Takes a line where it goes on with the item.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if is_blank(line) {
            self.blanks += 1;
            return true;
        }
        if !(self.form.goes_on)(line) {
            return false;
        }
        self.text.extend(std::iter::repeat_n('\n', std::mem::take(&mut self.blanks)));
        self.text.push_str(line);
        self.text.push('\n');
        self.goes_on = true;
        true
    }

    /// Bytes that are held.
    pub(super) fn len(&self) -> usize {
        self.text.len() + self.blanks
    }

    /// What it is, where it is one; the number of its first line otherwise.
    pub(super) fn end(self) -> Result<(Kind, Lines, String), u64> {
        if self.goes_on || !self.form.needs_more {
            Ok((self.form.kind, Lines::below(self.above), self.text))
        } else {
            Err(self.above + 1)
        }
    }
}

fn is_hca(line: &str) -> bool {
    line.trim_start().starts_with("hca_id:")
}

fn is_function(line: &str) -> bool {
    function(line).is_some()
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// `GPU0 GPU1 NIC0 CPU Affinity`: the head of a matrix, which names no path.
fn is_matrix_head(line: &str) -> bool {
    if !line.trim_start().starts_with("GPU0") {
        return false;
    }
    let mut words = line.split_whitespace();
    words.next() == Some("GPU0")
        && !line.contains(" X ")
        && words.next().is_none_or(|w| ["GPU", "NIC", "mlx", "CPU"].iter().any(|p| w.starts_with(p)))
}

/// Rows, and the legends, which stand after empty lines.
fn is_of_matrix(line: &str) -> bool {
    const ROWS: [&str; 5] = ["GPU", "NIC", "mlx", "bnxt", "rdma"];
    let text = line.trim_start();
    // Rows of rocm-smi, which has the same head: costs, hops, XGMI.
    if text.starts_with("GPU") {
        let cell = text.split_whitespace().nth(1).unwrap_or_default();
        let is_number = !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit());
        if is_number || matches!(cell, "XGMI" | "PCIE" | "XXXX" | "True" | "False") {
            return false;
        }
    }
    ROWS.iter().any(|p| text.starts_with(p))
        || ["Legend:", "NIC Legend:"].iter().any(|p| text.starts_with(p))
        || line.contains(" = ")
        || line.contains(": mlx")
}
