//! What shows whose a text is.

/// What shows whose a text is, and literals that stand wherever it holds. Recognition asks a mark only of a line (or text) with one of them, so a mark
/// may take its time; a mark without literals is always asked.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    pub(crate) shows: Shows,
    /// The line begins with one of these, or
    pub(crate) begins: &'static [&'static str],
    /// one of these stands in it.
    pub(crate) holds: &'static [&'static str],
}

/// What is asked. Lines come without the `>` and spaces before them.
#[derive(Debug, Clone, Copy)]
pub enum Shows {
    /// A line that only this tool prints. The first such line of a text decides.
    Line(fn(&str) -> bool),
    /// As [`Shows::Line`]: a line that begins with one of these.
    Begins(&'static [&'static str]),
    /// A line that is this tool's where the text holds these words, too.
    LineWith(fn(&str) -> bool, &'static str),
    /// A line that is this tool's where the text as a whole is, too.
    LineWhere(fn(&str) -> bool, fn(&str) -> bool),
    /// The whole text, which has a line that begins with `GPU0`.
    Matrix(fn(&str) -> bool),
    /// The whole text, where no line decides.
    Whole(fn(&str) -> bool),
    /// A line that only this tool prints, and that people paste beside what matters more: it decides last.
    Aside(fn(&str) -> bool),
    /// A JSON document.
    Json(fn(&str) -> bool),
    /// The root of an XML document: its name, and the document from there on.
    Root(fn(&str, &str) -> bool),
    /// The whole text, where neither content, nor a command line, nor the name shows anything.
    Last(fn(&str) -> bool),
}

impl Mark {
    const fn new(shows: Shows) -> Mark {
        Mark { shows, begins: &[], holds: &[] }
    }

    /// [`Shows::Line`].
    pub(crate) const fn line(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Line(is))
    }

    /// [`Shows::Begins`], which is its own literals.
    pub(crate) const fn beginning(words: &'static [&'static str]) -> Mark {
        Mark::new(Shows::Begins(words)).begins(words)
    }

    /// [`Shows::LineWith`].
    pub(crate) const fn line_with(is: fn(&str) -> bool, words: &'static str) -> Mark {
        Mark::new(Shows::LineWith(is, words))
    }

    /// [`Shows::LineWhere`].
    pub(crate) const fn line_where(is: fn(&str) -> bool, whole: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::LineWhere(is, whole))
    }

    /// [`Shows::Matrix`].
    pub(crate) const fn matrix(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Matrix(is))
    }

    /// [`Shows::Whole`].
    pub(crate) const fn whole(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Whole(is))
    }

    /// [`Shows::Aside`].
    pub(crate) const fn aside(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Aside(is))
    }

    /// [`Shows::Json`].
    pub(crate) const fn json(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Json(is))
    }

    /// [`Shows::Root`].
    pub(crate) const fn root(is: fn(&str, &str) -> bool) -> Mark {
        Mark::new(Shows::Root(is))
    }

    /// [`Shows::Last`].
    pub(crate) const fn last(is: fn(&str) -> bool) -> Mark {
        Mark::new(Shows::Last(is))
    }

    /// Of a line: it holds only where one of these begins the line, or one of [`Mark::holds`] stands in it. The first eight bytes count.
    pub(crate) const fn begins(self, literals: &'static [&'static str]) -> Mark {
        Mark { begins: literals, ..self }
    }

    /// It holds only where one of these stands in the line (the text, for [`Shows::Whole`]), or one of [`Mark::begins`] begins it.
    pub(crate) const fn holds(self, literals: &'static [&'static str]) -> Mark {
        Mark { holds: literals, ..self }
    }
}
