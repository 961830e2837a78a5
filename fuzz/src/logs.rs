//! NCCL's logs: line by line, and as the stream that the doctor takes.

use crate::mutate::Random;
use crate::page::inert;
use linerate_doctor::{Answer, Observer, Reader, conclude};
use linerate_formats::nccl_log::{
    Completion, Message, Who, comm_of_call, distance, nics, oob, split, stamp, status, wording,
};
use linerate_logs::{Dress, gallery, releases, scenarios};
use linerate_report::Style;
use linerate_report::doctor::{json, markdown, text};
use std::hint::black_box;

/// Bytes of a seed: a mutant is judged many times a second.
const SEED: usize = 12 << 10;

/// Every line, and every part of one that is read on its own.
pub(crate) fn lines(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).split('\n') {
        // A text of no line is a message, too: a launcher may have eaten the head.
        parts(line);
        black_box(Message::info(line));
        let Some(l) = split(line) else { continue };
        // Parts of the line, nothing of our own.
        for part in [l.before, l.who, l.message].into_iter().chain(l.source) {
            assert!(line.contains(part), "{part:?} is not in the line");
        }
        assert_eq!(split(line), Some(l), "the same line, another reading");
        black_box((stamp::find(l.before), Who::read(l.who)));
        let message = Message::read(&l);
        black_box((&message, message.is_whole(l.message)));
        parts(l.message);
    }
}

fn parts(text: &str) {
    black_box((Who::read(text), Completion::find(text), comm_of_call(text), oob(text), nics(text).count()));
    if let Some(s) = stamp::find(text) {
        assert!(s.seconds.is_finite(), "{s:?}");
    }
    if let Some((first, last)) = wording::releases(text) {
        assert!(first <= last, "{first} to {last}");
    }
    let number = text.bytes().find(u8::is_ascii_digit).map_or(0, |b| b - b'0');
    black_box((status::Status::of(number.into()).name(), distance::name(u16::from(number) * 4, 0, i64::from(number))));
}

/// As a stream, in pieces of sizes that the input decides: the answer is that of the same bytes at once.
pub(crate) fn stream(bytes: &[u8]) {
    let mut random = Random::new(bytes.iter().fold(bytes.len() as u64, |h, b| h.rotate_left(5) ^ u64::from(*b)));
    // Mostly a kind of sizes for the whole input: bytes, lines, blocks.
    let scale = 1 << random.below(17);
    let pieces = read(bytes, || 1 + random.below(scale));
    let whole = read(bytes, || usize::MAX);
    assert_eq!(format!("{pieces:?}"), format!("{whole:?}"), "the answer depends on how the bytes come");
}

/// From bytes to what is printed.
pub(crate) fn report(bytes: &[u8]) {
    let answer = read(bytes, || 64 << 10);
    let mut page = Vec::new();
    let _ = text::render(&answer, Style { verbose: true, ..Style::default() }, &mut page);
    let _ = markdown::render(&answer, &mut page);
    let _ = json::render(&answer, &mut page);
    inert(&page, &[]);
}

/// Two files of the same text: a job whose ranks write their own, or a log that was pasted twice.
fn read(bytes: &[u8], mut size: impl FnMut() -> usize) -> Answer {
    let mut observer = Observer::default();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for (name, mut rest) in [("whole", bytes), ("first half", first), ("second half", second)] {
        let mut reader = Reader::new(&mut observer, name);
        // The first two bytes come together: they tell the encoding.
        let mut least = 2;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(size().max(least).min(rest.len()));
            least = 1;
            reader.feed(&mut observer, piece);
            rest = more;
        }
        reader.finish(&mut observer);
    }
    conclude(&observer, &[])
}

/// Every form of some releases; and jobs of all scenarios, each in another release and other clothes.
pub(crate) fn seeds() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let every = |n: usize| releases().iter().copied().step_by(n);
    let galleries = every(9).filter_map(|r| gallery::lines(r, 1).ok());
    let mut lines: Vec<Vec<u8>> =
        galleries.map(|all| all.into_iter().map(|(_, line)| line).collect::<String>().into_bytes()).collect();
    let mut streams = Vec::new();
    for (i, s) in scenarios().iter().enumerate() {
        let (all, dress) = (s.releases(), Dress::ALL.get(i % Dress::ALL.len()).copied().unwrap_or_default());
        let Some(release) = all.get(i * 7 % all.len().max(1)) else { continue };
        for file in s.render(*release, i as u64, dress) {
            streams.push(window(&file.bytes, i % 3));
        }
    }
    lines.extend(streams.iter().step_by(5).cloned());
    streams
        .push("\u{feff}node1:1:2 [0] NCCL INFO Using network IB\n".encode_utf16().flat_map(u16::to_le_bytes).collect());
    (lines, streams)
}

/// The beginning, the middle or the end.
fn window(bytes: &[u8], which: usize) -> Vec<u8> {
    let start = bytes.len().saturating_sub(SEED) * which / 2;
    bytes.iter().copied().skip(start).take(SEED).collect()
}
