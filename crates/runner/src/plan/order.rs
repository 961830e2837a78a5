//! The order of runs. Settings that are compared alternate, A B B A A B …, so that a drift of the hosts over time meets them equally
//! instead of looking like a difference between them.

use super::Step;
use crate::request::Request;

/// Settings of a round: forwards in even rounds, backwards in odd ones, beginning one further each time that both were done.
fn variants(round: u32, count: usize) -> Vec<usize> {
    let shift = (round as usize / 2) % count.max(1);
    // With two settings A B B A repeats itself; a shift would make blocks of it.
    let shift = if count > 2 { shift } else { 0 };
    let mut out: Vec<usize> = (0..count).map(|v| (v + shift) % count).collect();
    if round % 2 == 1 {
        out.reverse();
    }
    out
}

/// All steps: warm-ups of a test right before its first round, then one run of each test and setting in each round.
pub(super) fn steps(tests: usize, request: &Request) -> Vec<Step> {
    let mut out = Vec::new();
    for round in 0..request.repetitions {
        let mut order: Vec<usize> = (0..tests).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for test in order {
            let step = |variant, repetition, warmup| Step { test, variant, repetition, warmup };
            if round == 0 {
                for warmup in 0..request.warmups {
                    let all = variants(warmup, request.variants.len()).into_iter();
                    out.extend(all.map(|v| step(v, warmup + 1, true)));
                }
            }
            let all = variants(round, request.variants.len()).into_iter();
            out.extend(all.map(|v| step(v, round + 1, false)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Variant, What};

    fn request(variants: usize, repetitions: u32, warmups: u32) -> Request {
        let variants = (0..variants).map(|v| Variant { name: v.to_string(), ..Variant::default() }).collect();
        Request { variants, repetitions, warmups, ..Request::new(What::Tests(Vec::new())) }
    }

    fn letters(steps: &[Step]) -> String {
        let letter = |s: &Step| {
            let c = char::from(b'A' + s.variant as u8);
            if s.warmup { c.to_ascii_lowercase() } else { c }
        };
        steps.iter().map(letter).collect()
    }

    #[test]
    fn settings_alternate() {
        assert_eq!(letters(&steps(1, &request(2, 4, 0))), "ABBAABBA");
        assert_eq!(letters(&steps(1, &request(2, 2, 1))), "abABBA");
        assert_eq!(letters(&steps(1, &request(3, 4, 0))), "ABCCBABCAACB");
        assert_eq!(letters(&steps(1, &request(1, 3, 2))), "aaAAA");
    }

    #[test]
    fn mean_positions_are_equal() {
        // A linear drift adds the same to each of two settings after an even number of rounds.
        let steps = steps(1, &request(2, 6, 0));
        let sum = |v| steps.iter().zip(0..).filter(|(s, _)| s.variant == v).map(|(_, at): (_, i32)| at).sum::<i32>();
        assert_eq!(sum(0), sum(1));
    }

    #[test]
    fn each_test_is_warmed_up_and_measured() {
        let steps = steps(3, &request(2, 3, 1));
        assert_eq!(steps.len(), 3 * 2 * (3 + 1));
        for test in 0..3 {
            let mine: Vec<&Step> = steps.iter().filter(|s| s.test == test).collect();
            assert!(mine[0].warmup && mine[1].warmup && mine[2..].iter().all(|s| !s.warmup));
        }
        assert_eq!(steps.last().map(|s| s.test), Some(2), "third round forwards again");
    }
}
