//! How much memory this process has, as the system counts it.

/// Megabytes of this process in memory now, the parts of its file that it uses among them; 0 where the system does not say.
pub(crate) fn resident() -> f64 {
    status("VmRSS:")
}

/// Megabytes of memory that are nobody else's: no part of any file.
pub(crate) fn own() -> f64 {
    status("RssAnon:")
}

/// Most megabytes ever in memory.
pub(crate) fn peak() -> f64 {
    status("VmHWM:")
}

fn status(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}
