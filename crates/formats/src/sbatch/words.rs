//! Words: of a directive, as sbatch splits it, and of commands, as a shell does.

/// A word, and the line on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: u32,
}

/// The words of a directive: quotes group, a backslash takes the next sign as it is, and `#` begins a remark.
pub(super) fn directive(text: &str) -> Vec<String> {
    let (mut out, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;
    let mut signs = text.chars();
    while let Some(c) = signs.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(signs.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) => break,
            (c, None) if c.is_whitespace() => out.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

/// Words of commands that are read line by line.
#[derive(Default)]
pub(super) struct Shell {
    words: Vec<Word>,
    word: Option<Word>,
    quote: Option<char>,
}

/// No command that starts ranks has more words; of one that has, the rest is not read.
const WORDS: usize = 16_384;

impl Shell {
    /// Reads a line. Each command that ends on it goes to `each`. Whether the next line belongs to the last one.
    pub(super) fn line(&mut self, raw: &str, line: u32, mut each: impl FnMut(Vec<Word>)) -> bool {
        let mut signs = raw.chars().peekable();
        while let Some(c) = signs.next() {
            match (c, self.quote) {
                ('\\', None | Some('"')) => match signs.next() {
                    // The line goes on; in quotes, so does the word.
                    None => return true,
                    Some(next) => self.push(next, line),
                },
                (c, Some(q)) if c == q => self.quote = None,
                (c, Some(_)) => self.push(c, line),
                ('"' | '\'', None) => {
                    self.quote = Some(c);
                    self.open(line);
                }
                ('#', None) if self.word.is_none() => break,
                (';' | '|' | '&', None) => {
                    while signs.next_if(|n| matches!(n, ';' | '|' | '&')).is_some() {}
                    self.end(&mut each);
                }
                (c, None) if c.is_whitespace() => self.end_word(),
                (c, None) => self.push(c, line),
            }
        }
        if self.quote.is_some() {
            self.push('\n', line);
            return true;
        }
        self.end(&mut each);
        false
    }

    /// Ends what is open.
    pub(super) fn end(&mut self, each: &mut impl FnMut(Vec<Word>)) {
        self.end_word();
        if !self.words.is_empty() {
            each(std::mem::take(&mut self.words));
        }
    }

    fn open(&mut self, line: u32) -> &mut Word {
        self.word.get_or_insert_with(|| Word { text: String::new(), line })
    }

    fn push(&mut self, c: char, line: u32) {
        self.open(line).text.push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take().filter(|_| self.words.len() < WORDS) {
            self.words.push(word);
        }
    }
}
