//! Tells the linker what a Node addon needs on this platform.

fn main() {
    napi_build::setup();
    // Functions that are the same, of generic code for several types, once: the package has a limit of size. The linker that Rust brings
    // for this target can do it; those of other targets may not.
    if std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--icf=all");
    }
}
