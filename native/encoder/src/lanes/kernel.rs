//! The instruction sets that this machine has, and the one that this process uses.

use std::fmt;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use super::amx::Amx;
#[cfg(all(test, target_arch = "x86_64"))]
use super::amx_emulated::EmulatedUnit;
#[cfg(target_arch = "x86_64")]
use super::amx_unit::AmxUnit;
#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(all(test, target_arch = "x86_64"))]
use super::avx2_dots::ModelledVnni;
#[cfg(target_arch = "x86_64")]
use super::avx2_dots::{Avx512Vnni, AvxVnni, Dot, Widened};
#[cfg(target_arch = "x86_64")]
use super::avx512::{Avx512, Vnni};
use super::isa::{Isa, Pass};
use super::scalar::Scalar;

/// The setting that forces a kernel.
pub const SETTING: &str = "FARTHING_ENCODER_KERNEL";

/// An instruction set of this machine.
#[derive(Clone, Copy)]
pub struct Kernel {
    pub name: &'static str,
    set: Set,
}

#[derive(Clone, Copy)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Amx(Avx512<Amx<AmxUnit, Vnni>>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512<Vnni>),
    #[cfg(target_arch = "x86_64")]
    AvxVnni(Avx2<AvxVnni>),
    #[cfg(target_arch = "x86_64")]
    Avx512Narrow(Avx2<Avx512Vnni>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2<Widened>),
    #[cfg(all(test, target_arch = "x86_64"))]
    Emulated(Avx2<Amx<EmulatedUnit, Widened>>),
    #[cfg(all(test, target_arch = "x86_64"))]
    Modelled(Avx2<ModelledVnni>),
    Scalar(Scalar),
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Kernel {
    /// Runs a pass with the kernel's instructions.
    pub fn run<P: Pass>(self, pass: P) -> P::Output {
        match self.set {
            #[cfg(target_arch = "x86_64")]
            Set::Amx(isa) => isa.run(pass),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(isa) => isa.run(pass),
            #[cfg(target_arch = "x86_64")]
            Set::AvxVnni(isa) => isa.run(pass),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Narrow(isa) => isa.run(pass),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(isa) => isa.run(pass),
            #[cfg(all(test, target_arch = "x86_64"))]
            Set::Emulated(isa) => isa.run(pass),
            #[cfg(all(test, target_arch = "x86_64"))]
            Set::Modelled(isa) => isa.run(pass),
            Set::Scalar(isa) => isa.run(pass),
        }
    }
}

/// The kernels that this machine can run, best first. The scalar reference is always last.
pub fn available() -> &'static [Kernel] {
    static AVAILABLE: OnceLock<Vec<Kernel>> = OnceLock::new();
    AVAILABLE.get_or_init(detect)
}

fn detect() -> Vec<Kernel> {
    #[cfg(target_arch = "x86_64")]
    let vectors = [
        Avx512::detect(amx()).map(|isa| Kernel { name: "amx-int8", set: Set::Amx(isa) }),
        Avx512::detect(Vnni::detect()).map(|isa| Kernel { name: "avx512vnni", set: Set::Avx512(isa) }),
        Avx2::detect(Dot::detect()).map(|isa| Kernel { name: "avxvnni", set: Set::AvxVnni(isa) }),
        Avx2::detect(Dot::detect()).map(|isa| Kernel { name: "avx512vl", set: Set::Avx512Narrow(isa) }),
        Avx2::detect(Dot::detect()).map(|isa| Kernel { name: "avx2", set: Set::Avx2(isa) }),
        #[cfg(test)]
        Avx2::detect(Widened::detect().map(|few| Amx::new(EmulatedUnit, few)))
            .map(|isa| Kernel { name: "amx-emulated", set: Set::Emulated(isa) }),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = [None::<Kernel>];
    vectors.into_iter().flatten().chain([Kernel { name: "scalar", set: Set::Scalar(Scalar) }]).collect()
}

/// The tiles of AVX-VNNI over a model of its instruction in software, which is too slow for whole models.
#[cfg(test)]
pub fn modelled_vnni() -> Option<Kernel> {
    #[cfg(target_arch = "x86_64")]
    return Avx2::detect(Dot::detect()).map(|isa| Kernel { name: "avxvnni-modelled", set: Set::Modelled(isa) });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Asks the system for tiles, once.
#[cfg(target_arch = "x86_64")]
fn amx_unit() -> Option<&'static Result<AmxUnit, String>> {
    static UNIT: OnceLock<Option<Result<AmxUnit, String>>> = OnceLock::new();
    UNIT.get_or_init(AmxUnit::detect).as_ref()
}

#[cfg(target_arch = "x86_64")]
fn amx() -> Option<Amx<AmxUnit, Vnni>> {
    Some(Amx::new(*amx_unit()?.as_ref().ok()?, Vnni::detect()?))
}

/// Why the system refuses the processor's AMX tiles: another kernel runs then.
pub fn refused_tiles() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    return amx_unit()?.as_ref().err().map(String::as_str);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The kernel of this process: the best of the machine, or the one that [`SETTING`] names.
///
/// # Errors
/// If the machine has no kernel of that name: a forced kernel is never silently replaced.
pub fn chosen() -> Result<Kernel, String> {
    by_name(std::env::var(SETTING).ok().as_deref())
}

/// # Errors
/// If the machine has no kernel of that name.
pub fn by_name(name: Option<&str>) -> Result<Kernel, String> {
    let kernels = available();
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(kernels[0]) };
    kernels.iter().copied().find(|kernel| kernel.name == name).ok_or_else(|| {
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.name).collect();
        format!("{SETTING} is {name}; this machine has {}", names.join(", "))
    })
}
