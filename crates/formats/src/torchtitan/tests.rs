use super::*;
use crate::units::PerSecond;

const LINE: &str =
    "loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 1,314.71  mfu: 13.99%";

fn lines(all: &[&str]) -> Vec<Run> {
    parse((all.join("\n") + "\n").as_bytes())
}

fn only(all: &[&str]) -> Run {
    let mut runs = lines(all);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

#[test]
fn a_line_of_today() {
    let run = only(&[
        &format!("[rank0]:[titan] 2025-12-31 23:59:59,774 - root - INFO - \x1b[31mstep:  4  {LINE}\x1b[39m"),
        &format!("[rank0]:[titan] 2026-01-01 00:00:01,024 - root - INFO - step:  5  {LINE}"),
    ]);
    let [rank] = &run.ranks[..] else { panic!("{run:#?}") };
    assert_eq!((rank.who.rank, rank.copy), (Some(0), 0));
    assert_eq!(
        rank.steps[0],
        Step {
            line: 1,
            step: 4,
            at: Some(Seconds(0.0)),
            loss: Some(7.62585),
            grad_norm: Some(26.625),
            memory: Some(Memory {
                reserved: Some(crate::units::GiB(66.91)),
                share: Some(crate::units::Percent(37.51))
            }),
            tps: Some(PerSecond(10050.0)),
            tflops: Some(TFlops(1314.71)),
            mfu: Some(crate::units::Percent(13.99)),
            end_to_end: None,
            is_finite: true,
        }
    );
    assert_eq!(rank.steps[1].at, Some(Seconds(1.25)));
    assert!(run.refused.is_empty() && run.failures.is_empty() && run.notes.is_empty());
    assert_eq!(run.lines, (1, 2));
}

#[test]
fn every_published_form() {
    for (text, step, loss, tps, share) in [
        (
            "step: 22  loss:  6.2250  memory:  1.41GiB(1.79%)  tps: 193,831  tflops: 18.36  mfu: 1.86%",
            22,
            Some(6.225),
            Some(193_831.0),
            Some(1.79),
        ),
        (
            "2024-05-01 00:00:00,000 - root - INFO - step: 1  loss: 10.9  memory: 1.00GiB(2.00%)  wps: 512  mfu: 0.10%",
            1,
            Some(10.9),
            Some(512.0),
            Some(2.0),
        ),
        (
            "step:  1  loss: 10.8  iter:  0.5  data: 0.01  lr: 3e-4  peak_memory: 37.5%  wps:   1,024",
            1,
            Some(10.8),
            Some(1024.0),
            Some(37.5),
        ),
        (
            "step: 10  loss:  3.91  grad_norm:  1.65  memory:  0.00GiB(0.00%)  tps: 34,574  tflops: 3.54  mfu: N/A",
            10,
            Some(3.91),
            Some(34574.0),
            Some(0.0),
        ),
        (
            "step: 3  loss: -1.0000  memory: 42.78GiB(54.06%)  tps: 8  tflops: 1.81  mfu: 0.58%",
            3,
            None,
            Some(8.0),
            Some(54.06),
        ),
        ("step: 3  loss: 2.0  memory: -0.00GiB(-100.00%)  tps: 8  mfu: 0.58%", 3, Some(2.0), Some(8.0), None),
    ] {
        let run = only(&[text]);
        let s = &run.ranks[0].steps[0];
        assert_eq!((s.step, s.loss, s.tps.map(|t| t.0)), (step, loss, tps), "{text}");
        assert_eq!(s.memory.and_then(|m| m.share).map(|p| p.0), share, "{text}");
        assert!(run.refused.is_empty(), "{run:#?}");
    }
}

#[test]
fn tags_of_launchers_name_ranks() {
    for (tag, rank, local, task) in [
        ("[rank12]:", Some(12), None, None),
        ("[default3]:", None, Some(3), None),
        ("[default3]:[rank11]:", Some(11), Some(3), None),
        ("7: ", None, None, Some(7)),
        ("1:[rank9]:", Some(9), None, Some(1)),
        ("[1,5]<stdout>:", Some(5), None, None),
        ("[pod/titan-0/main] [trainer0]:", None, Some(0), None),
        ("2024-01-31T12:00:00.123456789Z stdout F [rank2]: ", Some(2), None, None),
        ("", None, None, None),
    ] {
        let text = format!("{tag}[titan] 2025-07-21 15:57:42,774 - root - INFO - step:  1  {LINE}");
        let run = only(&[&text]);
        let who = &run.ranks[0].who;
        assert_eq!((who.rank, who.local, who.task), (rank, local, task), "{text}");
    }
}

#[test]
fn ranks_without_tags_repeat_steps() {
    let line = |step: u32| format!("[titan] 2026-02-24 19:46:17,508 - root - INFO - step: {step:2}  {LINE}");
    let all: Vec<String> = [4, 4, 4, 5, 5, 6, 5, 6, 6].into_iter().map(line).collect();
    let run = only(&all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(run.ranks.len(), 3);
    for (i, rank) in run.ranks.iter().enumerate() {
        assert_eq!(rank.steps.iter().map(|s| s.step).collect::<Vec<_>>(), [4, 5, 6], "{i}");
        assert_eq!(rank.copy, i as u32);
    }
    assert!(run.notes.iter().any(|n| n.kind == NoteKind::RanksNotNamed));
}

#[test]
fn a_training_that_begins_anew_is_another_run() {
    let line = |minute: usize, step: u32| {
        format!("[rank0]:[titan] 2025-07-21 15:{minute:02}:42,774 - root - INFO - step: {step:2}  {LINE}")
    };
    let all: Vec<String> = [1, 10, 20, 10, 20, 30].into_iter().enumerate().map(|(m, s)| line(m, s)).collect();
    let runs = lines(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let steps: Vec<usize> = runs.iter().map(|r| r.ranks[0].steps.len()).collect();
    assert_eq!(steps, [3, 3]);
    assert_eq!(runs[1].ranks[0].steps[0].at, Some(Seconds(0.0)));
    // The same, without tags.
    let all: Vec<String> = [1, 10, 20, 30, 1, 10].iter().map(|s| format!("step: {s}  {LINE}")).collect();
    assert_eq!(lines(&all.iter().map(String::as_str).collect::<Vec<_>>()).len(), 2);
    // The same line twice is no new beginning.
    let twice = line(7, 7);
    let run = only(&[&line(6, 6), &twice, &twice]);
    assert_eq!((run.ranks[0].steps.len(), run.repeated), (2, 1));
}

#[test]
fn what_is_no_number_is_a_failure() {
    let run = only(&[
        "step: 1  loss: 9.0  grad_norm: 1.0  memory: 1.00GiB(1.00%)  tps: 100  tflops: 1.00  mfu: 1.00%",
        "step: 2  loss:     nan  grad_norm:     inf  memory: 1.00GiB(1.00%)  tps: 100  tflops: 1.00  mfu: 1.00%",
    ]);
    let s = &run.ranks[0].steps[1];
    assert!(!s.is_finite && s.loss.is_none() && s.grad_norm.is_none() && s.tps.is_some());
    let kinds: Vec<_> = run.failures.iter().map(|f| (f.line, f.step, f.kind.clone())).collect();
    assert_eq!(
        kinds,
        [
            (2, Some(2), FailureKind::NotFinite(Field::Loss, NotFinite::NotANumber)),
            (2, Some(2), FailureKind::NotFinite(Field::GradNorm, NotFinite::Infinite)),
        ]
    );
}

#[test]
fn cut_lines_are_refused() {
    let whole = format!("step: 1  {LINE}\n");
    for cut in [
        "step: 2  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 1,314.71  mfu: 13.9",
        "step: 2  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,05",
        "step: 2  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10",
        "step: 2  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps:",
        "step: 2  loss:  7.62585  grad_norm: 26.6250  memory: 66.91Gi",
    ] {
        let runs = parse((whole.clone() + cut).as_bytes());
        assert_eq!(runs.len(), 1);
        assert!(!runs[0].refused.is_empty(), "{cut}: {runs:#?}");
        // A number that may be cut is no value.
        let cut = runs[0].ranks[0].steps.get(1);
        assert!(cut.is_none_or(|s| s.tps.is_none_or(|t| t.0 == 10050.0)), "{cut:?}");
    }
}

#[test]
fn validation_and_what_stands_around() {
    let run = only(&[
        "[titan] 2025-08-22 07:52:50,000 - root - INFO - CUDA capacity: NVIDIA H100 with 94.99GiB memory",
        "[titan] 2025-08-22 07:52:57,467 - root - INFO - Peak FLOPS used for computing MFU: 9.890e+14",
        "[titan] 2025-08-22 07:52:57,498 - root - INFO - Trainer is initialized with local batch size 1, global batch size 8, gradient accumulation steps 1, sequence length 8192, total steps 10 (warmup 2)",
        "[titan] 2025-08-22 07:52:57,498 - root - INFO - Training starts at step 1",
        &format!("[titan] 2025-08-22 07:53:00,000 - root - INFO - step:  1  {LINE}"),
        "[titan] 2025-08-22 07:53:01,000 - root - INFO - validate step:  1  loss:  8.0000  memory: 9.00GiB(9.00%)  tps: 77",
        "[titan] 2025-08-22 07:53:01,100 - root - WARNING - 3 CUDA memory allocation retries.",
        &format!("[titan] 2025-08-22 07:53:02,000 - root - INFO - step:  2  {LINE}"),
        "[titan] 2025-08-22 07:53:02,100 - root - INFO - Training completed",
        "torch.OutOfMemoryError: CUDA out of memory.",
    ]);
    assert_eq!(run.device.as_ref().map(|d| d.value.as_str()), Some("NVIDIA H100"));
    assert_eq!(run.peak.map(|p| p.value.0), Some(989.0));
    let setup = run.setup.unwrap().value;
    assert_eq!(
        setup,
        Setup { local_batch: Some(1), global_batch: Some(8), sequence: Some(8192), total_steps: Some(10) }
    );
    assert_eq!((run.ranks[0].steps.len(), run.ranks[0].validation.len()), (2, 1));
    assert_eq!(run.ranks[0].validation[0].at, Some(Seconds(1.0)));
    assert!(run.is_complete);
    assert_eq!(run.notes.iter().map(|n| n.kind).collect::<Vec<_>>(), [NoteKind::AllocationRetries]);
    assert!(matches!(run.failures[0].kind, FailureKind::OutOfMemory));
}

#[test]
fn prose_is_no_training() {
    for text in [
        "Next step: 3 apples",
        "step: five loss: 3",
        "step: 5",
        "step: 5  loss: 3.0",
        "epoch 1 step: 5  loss: 3.0  lr: 1",
    ] {
        assert!(lines(&[text]).is_empty(), "{text}");
    }
}

#[test]
fn thousands() {
    for (word, value) in [
        ("10,050", Some(10050.0)),
        ("1,234,567.5", Some(1_234_567.5)),
        ("10,05", None),
        ("1,0050", None),
        ("3,5", None),
        ("1.000,5", None),
        ("0x10", None),
        ("infinity", None),
        ("1e999", None),
    ] {
        assert_eq!(line::grouped(word), value, "{word}");
    }
}

proptest::proptest! {
    #[test]
    fn never_panics(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn never_panics_on_likely_words(words in proptest::collection::vec(proptest::sample::select(vec![
        "step:", "loss:", "tps:", "memory:", "1", "2", "nan", "-1.0000", "1.0GiB(2%)", "10,050", "[rank1]:", "0:", "validate", "\n", "2025-07-21 15:57:42,774 - a - b - ", "N/A", "mfu:", "[titan] ", "Starting job", "9999999999999999999999",
    ]), 0..60)) {
        let text = words.join(" ");
        let runs = parse(text.as_bytes());
        let steps: usize = runs.iter().flat_map(|r| &r.ranks).map(|r| r.steps.len() + r.validation.len()).sum();
        proptest::prop_assert!(steps <= text.matches("step:").count());
        for s in runs.iter().flat_map(|r| &r.ranks).flat_map(|r| &r.steps) {
            proptest::prop_assert!(s.loss.is_none_or(f64::is_finite) && s.at.is_none_or(|t| t.0 >= 0.0));
        }
        for rank in runs.iter().flat_map(|r| &r.ranks) {
            proptest::prop_assert!(rank.steps.is_sorted_by(|a, b| a.step < b.step));
        }
    }
}
