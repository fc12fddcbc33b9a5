//! How much memory this machine has.
//!
//! In: nothing. Out: bytes. I/O: reads what the kernel says.

/// All memory of the machine in bytes; `None` where it does not say.
#[cfg(target_os = "linux")]
pub fn machine_memory() -> Option<u64> {
    use procfs::Current as _;
    procfs::Meminfo::current().ok().map(|memory| memory.mem_total)
}

/// All memory of the machine in bytes; `None` where it does not say.
#[cfg(not(target_os = "linux"))]
pub fn machine_memory() -> Option<u64> {
    None
}
