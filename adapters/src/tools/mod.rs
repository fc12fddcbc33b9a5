//! The registry: the only list of tools. A new tool is one file here and one line below.

mod cargo_mutants;
mod cosmic_ray;
mod elements;
mod gremlins;
mod mutmut;
mod pit;
mod python;
mod stryker4s;
mod stryker_js;
mod stryker_net;

use crate::Adapter;

/// Every tool that polymut can drive, in the order of the README's table.
pub static REGISTRY: &[&dyn Adapter] = &[
    &cargo_mutants::CargoMutants,
    &stryker_js::StrykerJs,
    &pit::Pit,
    &stryker_net::StrykerNet,
    &gremlins::Gremlins,
    &mutmut::Mutmut,
    &cosmic_ray::CosmicRay,
    &stryker4s::Stryker4s,
    &elements::Elements,
];

/// The adapter called `id`.
pub fn adapter(id: &str) -> Option<&'static dyn Adapter> {
    REGISTRY.iter().copied().find(|adapter| adapter.info().id == id)
}
