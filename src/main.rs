//! The `polymut` program.

fn main() {}
