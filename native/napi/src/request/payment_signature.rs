use farthing_core::request::payment_signature::{
    Fault, TransferAuthorization, check_transfer, domain_separator, keccak, recover,
};
use napi::Result;
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi_derive::napi;

use crate::error::internal;

/// Bytes of a packed transfer: from 20, to 20, value 32, validAfter 32, validBefore 32, nonce 32.
const PACKED_LENGTH: usize = 168;

fn fixed<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| internal(what))
}

/// EIP-712 domain separator (32 bytes) of a token contract (20 bytes).
#[napi(catch_unwind)]
pub fn token_domain(name: String, version: String, chain_id: u32, contract: Uint8Array) -> Result<Buffer> {
    let contract = fixed(&contract, "a contract address has 20 bytes")?;
    Ok(domain_separator(&name, &version, u64::from(chain_id), &contract).to_vec().into())
}

/// Judges an EIP-3009 signature as the token contract does: 0 accepted, 1 wrong length, 2 v is neither 27 nor 28,
/// 3 high s, 4 no key can be recovered, 5 another signer. Synchronous: one recovery, about 45 µs.
#[napi(catch_unwind)]
pub fn check_transfer_signature(domain: Uint8Array, packed: Uint8Array, signature: Uint8Array) -> Result<u32> {
    let domain = fixed(&domain, "a domain separator has 32 bytes")?;
    let packed: [u8; PACKED_LENGTH] = fixed(&packed, "a packed transfer has 168 bytes")?;
    let word = |at: usize| fixed::<32>(&packed[at..at + 32], "a word has 32 bytes");
    let transfer = TransferAuthorization {
        from: fixed(&packed[..20], "an address has 20 bytes")?,
        to: fixed(&packed[20..40], "an address has 20 bytes")?,
        value: word(40)?,
        valid_after: word(72)?,
        valid_before: word(104)?,
        nonce: word(136)?,
    };
    Ok(match check_transfer(&domain, &transfer, &signature) {
        Ok(()) => 0,
        Err(Fault::Length) => 1,
        Err(Fault::RecoveryByte) => 2,
        Err(Fault::HighS) => 3,
        Err(Fault::Unrecoverable) => 4,
        Err(Fault::OtherSigner) => 5,
    })
}

/// Keccak-256, as EIP-712 hashes with it: 32 bytes.
#[napi(catch_unwind)]
pub fn keccak256(bytes: Uint8Array) -> Buffer {
    keccak(&[&bytes]).to_vec().into()
}

/// The address (20 bytes) that signed a digest (32 bytes), by the rules of `check_transfer_signature`; null where none did.
/// Synchronous: about 45 µs.
#[napi(catch_unwind)]
pub fn signer_of(digest: Uint8Array, signature: Uint8Array) -> Result<Option<Buffer>> {
    let digest = fixed(&digest, "a digest has 32 bytes")?;
    Ok(recover(&digest, &signature).ok().map(|signer| signer.to_vec().into()))
}
