//! Two sides compared: for each metric and size an estimate, its interval, and a verdict that the data can carry.

mod answer;

pub use answer::{
    Check, Comparison, Comparisons, Confound, Design, Excluded, MethodNote, Outlier, RunRef, Side, SideSummary,
    Transient, Verdict, Weight,
};
