//! The processor's own tile registers. Their intrinsics are not stable: the instructions are written as assembly.

use std::arch::asm;

use super::amx::{TILE_BYTES, TILE_ROWS, Tiles, Unit};

/// Exists only where AMX with products of bytes was detected, and this process has the system's permission.
#[derive(Clone, Copy)]
pub struct AmxUnit(());

impl AmxUnit {
    /// None where the processor has no AMX, or the system does not know it.
    ///
    /// # Errors
    /// Why the system refuses tiles that the processor has.
    pub fn detect() -> Option<Result<Self, String>> {
        has_tiles().then(permission).map(|permitted| permitted.map(Self))
    }
}

/// Whether the processor has tiles and their products of bytes, and the system keeps the registers of threads.
fn has_tiles() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    const FEATURES: u32 = 7;
    const TILES_AND_BYTES: u32 = 1 << 24 | 1 << 25;
    const OS_KEEPS_REGISTERS: u32 = 1 << 27;
    const TILE_REGISTERS: u64 = 1 << 17 | 1 << 18;
    // Safety: every 64-bit x86 has `cpuid`; `xgetbv` is there where the system uses it.
    unsafe {
        let most = __cpuid(0).eax;
        most >= FEATURES
            && __cpuid_count(FEATURES, 0).edx & TILES_AND_BYTES == TILES_AND_BYTES
            && __cpuid(1).ecx & OS_KEEPS_REGISTERS != 0
            && is_x86_feature_detected!("xsave")
            && _xgetbv(0) & TILE_REGISTERS == TILE_REGISTERS
    }
}

/// Asks for the registers, whose state is so large that Linux gives it to those alone that ask; all threads of the process have
/// it from then on.
fn permission() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        const ARCH_REQ_XCOMP_PERM: libc::c_int = 0x1023;
        const TILE_DATA: libc::c_ulong = 18;
        // Safety: a plain system call, which changes nothing when it fails.
        if unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) } == 0 {
            return Ok(());
        }
        Err(format!("arch_prctl: {}", std::io::Error::last_os_error()))
    }
    #[cfg(not(target_os = "linux"))]
    Err("it is asked for on Linux alone".into())
}

/// How the registers are divided: palette 1, all eight alike.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = {
    const USED: usize = 8;
    let mut configuration =
        Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
    let mut tile = 0;
    while tile < USED {
        configuration.row_bytes[tile] = TILE_BYTES as u16;
        configuration.rows[tile] = TILE_ROWS as u8;
        tile += 1;
    }
    configuration
};

/// Releases the registers when it is dropped: as long as they are in use, the system saves them with the thread.
pub struct Configured(());

impl Drop for Configured {
    fn drop(&mut self) {
        // Safety: it exists only where tiles are configured.
        unsafe { asm!("tilerelease", options(nostack, preserves_flags)) }
    }
}

/// The tile registers are this trait's alone: compiled code never uses them.
impl Tiles for AmxUnit {
    #[inline(always)]
    unsafe fn zero<const TILE: usize>(&mut self) {
        unsafe { asm!("tilezero tmm{tile}", tile = const TILE, options(nomem, nostack, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, stride: usize) {
        unsafe {
            asm!(
                "tileloadd tmm{tile}, [{from} + 1*{stride}]",
                tile = const TILE,
                from = in(reg) from,
                stride = in(reg) stride,
                options(readonly, nostack, preserves_flags),
            )
        }
    }

    #[inline(always)]
    unsafe fn multiply<const SIGNED_ROWS: bool, const SUMS: usize, const ROWS: usize, const COLUMNS: usize>(&mut self) {
        macro_rules! of {
            ($instruction:literal) => {
                asm!(
                    concat!($instruction, " tmm{sums}, tmm{rows}, tmm{columns}"),
                    sums = const SUMS,
                    rows = const ROWS,
                    columns = const COLUMNS,
                    options(nomem, nostack, preserves_flags),
                )
            };
        }
        unsafe {
            if SIGNED_ROWS {
                of!("tdpbssd");
            } else {
                of!("tdpbusd");
            }
        }
    }

    #[inline(always)]
    unsafe fn store<const TILE: usize>(&mut self, to: *mut i32, stride: usize) {
        unsafe {
            asm!(
                "tilestored [{to} + 1*{stride}], tmm{tile}",
                tile = const TILE,
                to = in(reg) to,
                stride = in(reg) stride,
                options(nostack, preserves_flags),
            )
        }
    }
}

impl Unit for AmxUnit {
    type Tiles = Self;
    type Ready = Configured;

    #[inline(always)]
    fn ready(self) -> Configured {
        // Safety: the token; the configuration is one of the processor's.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const CONFIGURATION, options(readonly, nostack, preserves_flags)) }
        Configured(())
    }

    #[inline(always)]
    fn tiles(self) -> Self {
        self
    }
}
