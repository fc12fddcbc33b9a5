//! Stations 7 and 8 on reports built by hand: the gate, every renderer, reading, generated files.
//!
//! In: nothing. Out: assertions. I/O: temporary folders; repository files with `POLYMUT_BLESS=1`.

#[cfg(test)]
mod build;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod gate_laws;
