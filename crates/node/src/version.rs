//! The version that this addon was built as; the typed layer compares it with that of the package.

use napi_derive::napi;

/// Version of the addon.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
