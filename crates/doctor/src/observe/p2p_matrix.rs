//! The matrices of CUDA's p2pBandwidthLatencyTest (NVIDIA/cuda-samples, `Samples/5_Domain_Specific/p2pBandwidthLatencyTest`): bandwidth between GPUs with
//! peer-to-peer off and on.
//!
//! ```text
//! Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
//!    D\D     0      1
//!      0 1008.06  10.34
//!      1  10.34 926.75
//! Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
//! ```

/// GPUs of one matrix.
const MAX: usize = 64;
/// With peer-to-peer a pair is slower than this part of what it does through host memory.
const SLOWER: f64 = 0.7;

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The matrix that is being read: with peer-to-peer or without.
    enabled: Option<bool>,
    /// Rows of the matrix without, and of the one with.
    rows: [Vec<Vec<f64>>; 2],
}

impl Reader {
    /// Whether a pair is slower with peer-to-peer than without, at the row that shows it first.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if self.enabled.is_none() && !line.contains("directional P2P=") {
            return false;
        }
        let text = line.trim();
        if let Some((_, rest)) =
            text.split_once("directional P2P=").filter(|(before, _)| matches!(*before, "Uni" | "Bi"))
        {
            let is_matrix = rest.contains("Bandwidth") && rest.ends_with("Matrix (GB/s)");
            self.enabled = is_matrix.then(|| rest.starts_with("Enabled "));
            if let Some(rows) = self.enabled.and_then(|e| self.rows.get_mut(usize::from(e))) {
                rows.clear();
            }
            return false;
        }
        let Some(enabled) = self.enabled else { return false };
        if text.starts_with("D\\D") {
            return false;
        }
        let [without, with] = &mut self.rows;
        let rows = if enabled { &mut *with } else { &mut *without };
        let mut words = text.split_whitespace();
        let number = words.next().and_then(|w| w.parse::<usize>().ok());
        let values: Option<Vec<f64>> = words.map(|w| w.parse().ok()).collect();
        let Some(row) = values.filter(|v| number == Some(rows.len()) && !v.is_empty() && v.len() <= MAX) else {
            self.enabled = None;
            return false;
        };
        rows.push(row);
        enabled && with.len() <= without.len() && slower(without, with)
    }
}

/// Whether the last row has such a pair, and none before it.
fn slower(without: &[Vec<f64>], with: &[Vec<f64>]) -> bool {
    let is = |at: usize| {
        let (Some(off), Some(on)) = (without.get(at), with.get(at)) else { return false };
        off.len() == on.len()
            && (off.iter().zip(on).enumerate()).any(|(to, (off, on))| to != at && *on < SLOWER * off && *on > 0.0)
    };
    let last = with.len().saturating_sub(1);
    is(last) && !(0..last).any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrices(off: &str, on: &str) -> usize {
        let text = format!(
            "P2P Connectivity Matrix\n     D\\D     0     1\n     0       1     1\n     1       1     1\n\
             Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n     0 838.06  {off} \n     1   {off} 826.75 \n\
             Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n   D\\D     0      1 \n     0 838.27   {on} \n     1   {on} 845.63 \n\
             P2P=Disabled Latency Matrix (us)\n   GPU     0      1 \n     0   1.5  10.1\n"
        );
        let mut reader = Reader::default();
        text.lines().filter(|l| reader.line(l)).count()
    }

    #[test]
    fn peer_to_peer_that_is_slower_than_without() {
        assert_eq!(matrices("16.34", "2.60"), 1);
        assert_eq!(matrices("16.34", "15.60"), 0);
        assert_eq!(matrices("16.34", "52.60"), 0);
        assert_eq!(matrices("16.34", "0.00"), 0);
        assert_eq!(matrices("16.34", "N/A"), 0);
        let mut reader = Reader::default();
        assert!(!reader.line("with Unidirectional P2P=Enabled it is slower"));
        assert!(!reader.line("     0 838.27   2.60"));
    }
}
