use super::*;
#[test]
fn nothing() {
    assert!(parse(b"").is_empty());
}
