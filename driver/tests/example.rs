//! The example of the documentation.

#[path = "../examples/verify.rs"]
mod verify;

/// The example panics unless the verdict is FALSE.
#[test]
fn the_example_finds_the_violation() {
    verify::main().unwrap();
}
