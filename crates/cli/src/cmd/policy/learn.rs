//! `linerate policy learn`.

use crate::output::{Failure, Sink, remark};
use crate::policy_args::{LearnArgs, ShortFormat};
use crate::progress::Line;
use linerate_fleet::policy::{Lessons, write};
use linerate_fleet::{Profile, Traits};
use linerate_node::Node;
use linerate_out::file::Access;
use linerate_report::policy::Lesson;
use std::io::Write;
use std::path::Path;

pub(super) fn run(a: &LearnArgs) -> Result<u8, Failure> {
    if let Some(unknown) = a.accept.iter().find(|r| linerate_rules::find(r).is_none()) {
        return Err(Failure::new(format!("no rule is called `{unknown}`")).hint("`linerate rules` lists all"));
    }
    let nodes = super::nodes(&a.sources, &a.of, &a.on, None)?;
    let members = &nodes.members;
    let mut lessons = Lessons::accepting(a.accept.iter().cloned());
    let (mut read, mut failed) = (0, nodes.unread().len());
    let progress = Line::new(members.len() > 1);
    nodes.each(|i, label, node| {
        match node {
            Ok(snapshot) => {
                let node = Node::decode(&snapshot);
                lessons.add(label, &Profile::of(label, &node, &snapshot, linerate_rules::rules()), &Traits::of(&node));
                read += 1;
            }
            Err(e) => {
                remark(&format!("{label}: {}", e.what()));
                failed += 1;
            }
        }
        progress.count(i + 1, members.len(), "nodes");
        Ok(())
    })?;
    drop(progress);
    if read == 0 {
        return Err(Failure::new("no source could be read: nothing was learnt"));
    }
    let learnt = lessons.learn(&super::label(&a.output));
    let standard = a.output == Path::new("-");
    let mut file = Sink::open_for(Some(&a.output), Access::Private)?;
    file.write_all(write(&learnt.policy).as_bytes())?;
    file.finish()?;
    let lesson = Lesson::of(&learnt);
    // Beside a policy on standard output nothing else is written there.
    if !standard {
        let mut sink = Sink::open(None)?;
        match a.format {
            ShortFormat::Text => {
                let style = sink.style(a.color, a.verbose);
                lesson.text(&a.output.display().to_string(), style, &mut sink)?;
            }
            ShortFormat::Json => lesson.json(&mut sink)?,
        }
        sink.finish()?;
    }
    Ok(if failed > 0 && lesson.exit_code() == 0 { 2 } else { lesson.exit_code() })
}
