use farthing_core::confine::confinement;
use farthing_core::confine::protection::Protection;
use napi_derive::napi;

/// What a confined process may still do.
#[napi(object)]
pub struct ConfineOptions {
    /// Folders whose files may be opened, for reading only.
    pub readable: Vec<String>,
    /// Most writable memory, in bytes.
    pub memory_bytes: f64,
}

/// Each protection: `enforced`, `partial: why` or `unavailable: why`.
#[napi(object)]
pub struct ConfineOutcome {
    pub no_new_privileges: String,
    pub landlock: String,
    pub seccomp: String,
    pub memory_limit: String,
}

/// Confines the calling process for good, all its threads. Where the kernel lacks a protection, that is reported.
/// Throws, and changes nothing, in a process that has an io_uring, as Node's event loop may: see `forbidRings`.
#[napi(catch_unwind)]
pub fn confine(options: ConfineOptions) -> napi::Result<ConfineOutcome> {
    let outcome =
        confinement::confine(&options.readable, options.memory_bytes as u64).map_err(napi::Error::from_reason)?;
    Ok(ConfineOutcome {
        no_new_privileges: words(outcome.no_new_privileges),
        landlock: words(outcome.landlock),
        seccomp: words(outcome.seccomp),
        memory_limit: words(outcome.memory_limit),
    })
}

/// Forbids io_uring to this thread and to the program that it executes next, which keeps the descriptor `pipe`.
/// Returns an empty text, or why it could not be done.
#[napi(catch_unwind)]
pub fn forbid_rings(pipe: i32) -> String {
    confinement::forbid_rings(pipe).err().unwrap_or_default()
}

fn words(protection: Protection) -> String {
    match protection {
        Protection::Enforced => "enforced".into(),
        Protection::Partial(why) => format!("partial: {why}"),
        Protection::Unavailable(why) => format!("unavailable: {why}"),
    }
}
