//! The columns, as DuckDB and Polars see them.

use parquet::errors::Result;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescriptor, TypePtr};
use std::sync::Arc;

/// A column, by its place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// When the snapshot was taken.
    Time,
    /// Identity of the node, else its label.
    Node,
    /// How people call it.
    Label,
    /// Hardware class.
    Class,
    /// Whose the row is: empty for the node, `rail 3 NIC`, `=NUMA node 0`.
    Subject,
    /// Which of the subject's: a port, a setting, a word of a list.
    Part,
    /// Id of the fact or of the rule.
    Fact,
    /// What was seen; null where nothing was. Of an answer of a rule its message.
    Value,
    /// `known`, `absent`, `unreadable`.
    State,
    /// What rules say: `pass`, `fail`, `unknown`, `not-applicable`; null where none reads it.
    Verdict,
    /// How bad that is.
    Severity,
    /// The rule that says it.
    Rule,
    /// The file, by its path in the directory.
    Snapshot,
}

impl Column {
    pub(super) const ALL: [Column; 13] = [
        Column::Time,
        Column::Node,
        Column::Label,
        Column::Class,
        Column::Subject,
        Column::Part,
        Column::Fact,
        Column::Value,
        Column::State,
        Column::Verdict,
        Column::Severity,
        Column::Rule,
        Column::Snapshot,
    ];

    /// As the schema has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Time => "time",
            Column::Node => "node",
            Column::Label => "label",
            Column::Class => "class",
            Column::Subject => "subject",
            Column::Part => "part",
            Column::Fact => "fact",
            Column::Value => "value",
            Column::State => "state",
            Column::Verdict => "verdict",
            Column::Severity => "severity",
            Column::Rule => "rule",
            Column::Snapshot => "snapshot",
        }
    }

    /// Whether a row may have none.
    pub(super) fn is_optional(self) -> bool {
        matches!(self, Column::Value | Column::Verdict | Column::Severity | Column::Rule)
    }
}

/// The schema of the file.
pub(super) fn schema() -> Result<TypePtr> {
    let fields = Column::ALL.map(|column| {
        let name = column.name();
        match column {
            Column::Time => format!("required int64 {name} (TIMESTAMP(MICROS,true));"),
            _ if column.is_optional() => format!("optional binary {name} (STRING);"),
            _ => format!("required binary {name} (STRING);"),
        }
    });
    Ok(Arc::new(parse_message_type(&format!("message linerate_fleet {{ {} }}", fields.join(" ")))?))
}

/// The same, by columns.
pub(super) fn described() -> Result<SchemaDescriptor> {
    Ok(SchemaDescriptor::new(schema()?))
}
