//! The kernels that this machine can run, and the one that this process uses.

use std::sync::OnceLock;

use super::kernel::Kernel;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// The kernels that this machine can run, best first. The scalar reference is always last.
pub fn available() -> &'static [Kernel] {
    static AVAILABLE: OnceLock<Vec<Kernel>> = OnceLock::new();
    AVAILABLE.get_or_init(detect)
}

fn detect() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        kernels.extend(avx512::detect());
        kernels.extend(avx2::detect());
    }
    kernels.push(scalar::KERNEL);
    kernels
}

/// The kernel of this process: the best of the machine, or the one that `FARTHING_KERNEL` names.
///
/// # Errors
/// If the machine has no kernel of that name: a forced kernel is never silently replaced.
pub fn chosen() -> Result<&'static Kernel, String> {
    static CHOSEN: OnceLock<Result<&'static Kernel, String>> = OnceLock::new();
    CHOSEN.get_or_init(|| by_name(std::env::var("FARTHING_KERNEL").ok().as_deref())).clone()
}

pub(super) fn by_name(name: Option<&str>) -> Result<&'static Kernel, String> {
    let kernels = available();
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(&kernels[0]) };
    kernels.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name).collect();
        format!("FARTHING_KERNEL is {name}; this machine has {}", names.join(", "))
    })
}
