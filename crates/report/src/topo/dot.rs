//! Graphviz.
use super::scene::Scene;
/// x
#[must_use]
pub fn dot(_: &Scene) -> String {
    String::new()
}
