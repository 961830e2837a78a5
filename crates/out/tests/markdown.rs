//! What a CommonMark parser with every extension reads from text that was made safe for Markdown.

use crate::hostile;

use hostile::{config, inert, text, visible};
use linerate_out::markdown;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

/// What is read, code within back-ticks; `Err`: a construct that the page did not ask for.
fn read(page: &str, allowed: &[&str]) -> Result<String, String> {
    // Typographic quotes are no construct, but change the text. No site that people paste into raises text between `^`.
    let options = Options::all() - Options::ENABLE_SMART_PUNCTUATION - Options::ENABLE_SUPERSCRIPT;
    let mut out = String::new();
    for event in Parser::new_ext(page, options) {
        match event {
            Event::Text(t) => out.push_str(&t),
            // The sign of a mention is put into code, so that no name follows it in the text.
            Event::Code(t) if t.chars().all(|c| c == '@') => out.push_str(&t),
            Event::Code(t) => out.push_str(&format!("`{t}`")),
            Event::SoftBreak => out.push(' '),
            Event::End(_) => {}
            Event::Start(tag) if allowed.contains(&name(&tag)) => {}
            other => return Err(format!("{other:?} in {page:?}")),
        }
    }
    Ok(out)
}

fn name(tag: &Tag<'_>) -> &'static str {
    match tag {
        Tag::Paragraph => "paragraph",
        Tag::Heading { .. } => "heading",
        Tag::List(None) => "list",
        Tag::Item => "item",
        Tag::Strong => "strong",
        Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell => "table",
        Tag::CodeBlock(_) => "block",
        _ => "",
    }
}

/// Blanks apart: a reader takes off those around code and at the ends of lines.
fn close(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Of ticks that pair, the content is code for the reader, too.
fn same(page: &str, allowed: &[&str], text: &str) -> Result<(), TestCaseError> {
    let got = read(page, allowed).map_err(TestCaseError::fail)?;
    prop_assert_eq!(close(&got), close(&visible(text, false)), "{}", page);
    prop_assert!(inert(page), "{}", page);
    Ok(())
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn inline_is_text(text in text()) {
        let md = markdown::inline(&text);
        prop_assume!(!close(&md).is_empty());
        same(&md, &["paragraph"], &text)?;
        same(&format!("x\n{md}\n"), &["paragraph"], &format!("x{text}"))?;
        same(&format!("- {md}\n"), &["list", "item"], &text)?;
        same(&format!("x: {md} (y)"), &["paragraph"], &format!("x: {text} (y)"))?;
    }

    #[test]
    fn cells_are_text(text in text()) {
        let md = markdown::cell(&text);
        same(&format!("| a | b |\n|---|---|\n| {md} | end |\n"), &["table"], &format!("ab{text}end"))?;
        let md = markdown::code_cell(&text);
        let got = read(&format!("| a | b |\n|---|---|\n| {md} | end |\n"), &["table"]).map_err(TestCaseError::fail)?;
        let want = close(&visible(&text, false));
        let got = close(&got);
        prop_assert!(got == format!("ab`{want}`end") || got == format!("ab{want}end"), "{} {}", got, md);
    }

    #[test]
    fn code_is_one_span(text in text()) {
        let got = read(&format!("x {} y", markdown::code(&text)), &["paragraph"]).map_err(TestCaseError::fail)?;
        let text = visible(&text, false);
        if text.chars().any(|c| c != '@') {
            prop_assert_eq!(close(&got), close(&format!("x `{text}` y")));
        }
    }

    #[test]
    fn blocks_end_where_they_should(text in text()) {
        let page = format!("{}\n\nafter", markdown::block("text", &text));
        let got = read(&page, &["block", "paragraph"]).map_err(TestCaseError::fail)?;
        prop_assert_eq!(got, format!("{}\nafter", visible(&text, true)));
    }

    #[test]
    fn nobody_is_mentioned(text in "[a-z@ `._/-]{0,16}") {
        for md in [markdown::inline(&text), markdown::cell(&text)] {
            let options = Options::all();
            for event in Parser::new_ext(&md, options) {
                if let Event::Text(t) = event {
                    let chars: Vec<char> = t.chars().collect();
                    let names = |w: &[char]| !w[0].is_alphanumeric() && w[1] == '@' && w[2].is_alphanumeric();
                    prop_assert!(!chars.windows(3).any(names), "{} {}", t, md);
                    prop_assert!(!(chars.first() == Some(&'@') && chars.get(1).is_some_and(|c| c.is_alphanumeric())), "{} {}", t, md);
                }
            }
        }
    }
}
