use farthing_confine::confinement;
use farthing_confine::protection::Protection;
use napi_derive::napi;

/// Rights of a confined process.
#[napi(object)]
pub struct ConfineOptions {
    /// Folders whose files may be opened, for reading only.
    pub readable: Vec<String>,
    /// Limit of writable memory, in bytes.
    pub memory_bytes: f64,
}

/// For each protection `enforced`, `partial: reason` or `unavailable: reason`.
#[napi(object)]
pub struct ConfineOutcome {
    pub no_new_privileges: String,
    pub landlock: String,
    pub seccomp: String,
    pub memory_limit: String,
}

/// Confines the calling process permanently, with all its threads. Protections that the kernel lacks are reported.
/// Throws and changes nothing if the process has an io_uring, as Node's event loop may: see `forbidRings`.
#[napi(catch_unwind)]
pub fn confine(options: ConfineOptions) -> napi::Result<ConfineOutcome> {
    let outcome =
        confinement::confine(&options.readable, options.memory_bytes as u64).map_err(napi::Error::from_reason)?;
    Ok(ConfineOutcome {
        no_new_privileges: described(outcome.no_new_privileges),
        landlock: described(outcome.landlock),
        seccomp: described(outcome.seccomp),
        memory_limit: described(outcome.memory_limit),
    })
}

/// Forbids io_uring to this thread and to the program that it executes next, which keeps the descriptor `pipe`.
/// Returns an empty string, or why it failed.
#[napi(catch_unwind)]
pub fn forbid_rings(pipe: i32) -> String {
    confinement::forbid_rings(pipe).err().unwrap_or_default()
}

fn described(protection: Protection) -> String {
    match protection {
        Protection::Enforced => "enforced".into(),
        Protection::Partial(reason) => format!("partial: {reason}"),
        Protection::Unavailable(reason) => format!("unavailable: {reason}"),
    }
}
