//! Stations 7 and 8 on reports built by hand: the gate, every renderer, reading, generated files.
//!
//! In: nothing. Out: assertions. I/O: temporary folders; repository files with `POLYMUT_BLESS=1`.

#[cfg(test)]
mod build;
#[cfg(test)]
mod elements;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod gate_laws;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod html;
#[cfg(test)]
mod sample;
