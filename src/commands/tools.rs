//! `polymut tools`: what polymut drives, and what is in the private store.
//!
//! In: the registry. Out: a table; with `install`, a filled store. I/O: store, stdout.

use std::fmt::Write as _;

use polymut_adapters::ToolInfo;

use super::context::{Place, adapters};
use super::run::all_cores;
use crate::cli::ToolsAction;
use crate::exec::{EventSender, Install, State, Stop, Store};
use crate::exit::Exit;
use crate::ui;

/// Lists or installs.
pub(super) fn tools(place: &Place, action: Option<ToolsAction>) -> anyhow::Result<Exit> {
    let root = place.repo().map_or_else(|_| place.here.clone(), |repo| repo.root().clone());
    let state = State::open(&place.host, &root)?;
    let store = Store::at(state.tools().clone());
    match action {
        None => {
            place.terminal.data(table(&store).as_bytes())?;
            Ok(Exit::Pass)
        }
        Some(ToolsAction::Install { tools }) => {
            let named = |info: &&ToolInfo| tools.is_empty() || tools.iter().any(|name| name == info.id);
            let wanted: Vec<&'static ToolInfo> = adapters()
                .iter()
                .map(|adapter| adapter.info())
                .filter(named)
                .filter(|info| !info.recipe.steps.is_empty())
                .collect();
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(install(place, &store, &wanted))
        }
    }
}

async fn install(place: &Place, store: &Store, wanted: &[&'static ToolInfo]) -> anyhow::Result<Exit> {
    let (events, listener) = EventSender::channel();
    let stop = Stop::new();
    stop.install_signals(&events)?;
    let progress = ui::progress(listener, false);
    for info in wanted {
        let env = place.host.for_tool(info.scrub, &[]);
        store.install(info, &Install { env: &env, cores: all_cores(), stop: &stop, events: &events }).await?;
    }
    drop(events);
    progress.finish().await;
    Ok(Exit::Pass)
}

fn table(store: &Store) -> String {
    let mut out = String::new();
    let _ =
        writeln!(out, "{:<15} {:<10} {:<24} {:<9} languages", "tool", "pinned", "tested with", "in store");
    for adapter in adapters() {
        let info = adapter.info();
        let stored = if store.has(info) { "yes" } else { "no" };
        let languages = info.languages.join(", ");
        let _ = writeln!(
            out,
            "{:<15} {:<10} {:<24} {stored:<9} {languages}",
            info.id, info.recipe.version, info.supported
        );
    }
    out
}
