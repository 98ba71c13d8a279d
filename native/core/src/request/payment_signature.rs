//! EIP-712 and EIP-3009: the signer of a `TransferWithAuthorization`, by exactly the rules of the token contract.
//!
//! A signature is accepted if USDC's `ECRecover.sol` accepts it (github.com/circlefin/stablecoin-evm,
//! contracts/util/ECRecover.sol): 65 bytes `r ‖ s ‖ v`, v 27 or 28, s in the lower half of the group order, and a point
//! that `ecrecover` finds. Libraries are laxer: libsecp256k1 recovers from a high s, others take v 0 and 1.

use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, Secp256k1, VerifyOnly};
use std::sync::LazyLock;
use tiny_keccak::{Hasher, Keccak};

pub type Word = [u8; 32];
pub type Address = [u8; 20];

const DOMAIN_TYPE: &[u8] = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const TRANSFER_TYPE: &[u8] = b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/// Half of the order of secp256k1, rounded down: the largest s that `ECRecover.sol` accepts.
const S_MAX: Word = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e,
    0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

static CONTEXT: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);
static TRANSFER_TYPE_HASH: LazyLock<Word> = LazyLock::new(|| keccak(&[TRANSFER_TYPE]));

/// Why the token contract would not accept a signature from the payer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not 65 bytes.
    Length,
    /// v is neither 27 nor 28.
    RecoveryByte,
    /// s is in the upper half of the order: a malleable twin of another signature.
    HighS,
    /// No public key can be recovered: r or s is zero, too large, or no point of the curve.
    Unrecoverable,
    /// The key that was recovered is not the payer's.
    OtherSigner,
}

/// Fields of an EIP-3009 authorization, as the contract encodes them: numbers are big-endian.
#[derive(Clone, Copy, Debug)]
pub struct TransferAuthorization {
    pub from: Address,
    pub to: Address,
    pub value: Word,
    pub valid_after: Word,
    pub valid_before: Word,
    pub nonce: Word,
}

pub fn keccak(parts: &[&[u8]]) -> Word {
    let mut hasher = Keccak::v256();
    for part in parts {
        hasher.update(part);
    }
    let mut out = [0; 32];
    hasher.finalize(&mut out);
    out
}

fn padded(address: &Address) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(address);
    word
}

/// The EIP-712 domain separator of a token. It is the same for all transfers, so compute it once.
pub fn domain_separator(name: &str, version: &str, chain_id: u64, contract: &Address) -> Word {
    let mut chain = [0; 32];
    chain[24..].copy_from_slice(&chain_id.to_be_bytes());
    keccak(&[
        &keccak(&[DOMAIN_TYPE]),
        &keccak(&[name.as_bytes()]),
        &keccak(&[version.as_bytes()]),
        &chain,
        &padded(contract),
    ])
}

/// The digest that the payer signs (EIP-712, `\x19\x01 ‖ domain ‖ struct`).
pub fn transfer_digest(domain: &Word, transfer: &TransferAuthorization) -> Word {
    let message = keccak(&[
        &*TRANSFER_TYPE_HASH,
        &padded(&transfer.from),
        &padded(&transfer.to),
        &transfer.value,
        &transfer.valid_after,
        &transfer.valid_before,
        &transfer.nonce,
    ]);
    keccak(&[b"\x19\x01", domain, &message])
}

/// The address that signed `digest`, by the rules of `ECRecover.sol`.
pub fn recover(digest: &Word, signature: &[u8]) -> Result<Address, Fault> {
    if signature.len() != 65 {
        return Err(Fault::Length);
    }
    let (compact, v) = (&signature[..64], signature[64]);
    if v != 27 && v != 28 {
        return Err(Fault::RecoveryByte);
    }
    // Big-endian numbers of one length compare as their bytes do.
    if compact[32..] > S_MAX[..] {
        return Err(Fault::HighS);
    }
    let id = RecoveryId::try_from(i32::from(v - 27)).map_err(|_| Fault::RecoveryByte)?;
    let parsed = RecoverableSignature::from_compact(compact, id).map_err(|_| Fault::Unrecoverable)?;
    let key = CONTEXT.recover_ecdsa(Message::from_digest(*digest), &parsed).map_err(|_| Fault::Unrecoverable)?;
    let hash = keccak(&[&key.serialize_uncompressed()[1..]]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    Ok(address)
}

/// Whether the token contract would accept this signature for this transfer.
pub fn check_transfer(domain: &Word, transfer: &TransferAuthorization, signature: &[u8]) -> Result<(), Fault> {
    let signer = recover(&transfer_digest(domain, transfer), signature)?;
    if signer == transfer.from { Ok(()) } else { Err(Fault::OtherSigner) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use secp256k1::{PublicKey, SecretKey};

    fn address_of(secret: &SecretKey) -> Address {
        let key = PublicKey::from_secret_key(&Secp256k1::new(), secret);
        keccak(&[&key.serialize_uncompressed()[1..]])[12..].try_into().unwrap()
    }

    fn sign(secret: &SecretKey, digest: &Word) -> [u8; 65] {
        let (id, compact) =
            Secp256k1::new().sign_ecdsa_recoverable(Message::from_digest(*digest), secret).serialize_compact();
        let mut out = [0; 65];
        out[..64].copy_from_slice(&compact);
        out[64] = 27 + i32::from(id) as u8;
        out
    }

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
        bytes.try_into().unwrap()
    }

    fn usdc() -> Word {
        domain_separator("USD Coin", "2", 8453, &hex("833589fcd6edb6e08f4c7c32d4f71b54bda02913"))
    }

    fn transfer(from: Address, seed: u8) -> TransferAuthorization {
        TransferAuthorization {
            from,
            to: [seed; 20],
            value: [seed; 32],
            valid_after: [0; 32],
            valid_before: [7; 32],
            nonce: [seed ^ 0xff; 32],
        }
    }

    #[test]
    fn the_type_hash_is_the_one_in_the_token_contract() {
        assert_eq!(*TRANSFER_TYPE_HASH, hex("7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"));
    }

    #[test]
    fn the_domain_of_usdc_on_base_is_the_one_that_its_contract_returns() {
        // DOMAIN_SEPARATOR() of 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 on chain 8453.
        assert_eq!(usdc(), hex("02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f"));
    }

    #[test]
    fn numbers_out_of_range_are_not_a_signature() {
        let digest = [1; 32];
        let order: Word = hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
        let mut signature = [0; 65];
        signature[64] = 27;
        assert_eq!(recover(&digest, &signature), Err(Fault::Unrecoverable), "r and s zero");
        signature[63] = 1;
        assert_eq!(recover(&digest, &signature), Err(Fault::Unrecoverable), "r zero");
        signature[..32].copy_from_slice(&order);
        assert_eq!(recover(&digest, &signature), Err(Fault::Unrecoverable), "r the order");
        signature[..32].copy_from_slice(&[0; 32]);
        signature[31] = 5;
        assert_eq!(recover(&digest, &signature), Err(Fault::Unrecoverable), "r no point of the curve");
    }

    proptest! {
        #[test]
        fn a_signature_is_accepted_from_its_signer_and_from_nobody_else(secret in any::<[u8; 32]>(), seed in any::<u8>()) {
            let Ok(secret) = SecretKey::from_byte_array(secret) else { return Ok(()) };
            let message = transfer(address_of(&secret), seed);
            let signature = sign(&secret, &transfer_digest(&usdc(), &message));
            prop_assert_eq!(check_transfer(&usdc(), &message, &signature), Ok(()));
            let other = TransferAuthorization { from: [9; 20], ..message };
            prop_assert!(check_transfer(&usdc(), &other, &signature).is_err());
            let elsewhere = domain_separator("USD Coin", "2", 1, &[1; 20]);
            prop_assert!(check_transfer(&elsewhere, &message, &signature).is_err());
        }

        #[test]
        fn a_flipped_bit_or_a_malleable_twin_is_refused(secret in any::<[u8; 32]>(), at in 0usize..65, bit in 0u8..8) {
            let Ok(secret) = SecretKey::from_byte_array(secret) else { return Ok(()) };
            let message = transfer(address_of(&secret), 3);
            let mut signature = sign(&secret, &transfer_digest(&usdc(), &message));
            signature[at] ^= 1 << bit;
            prop_assert!(check_transfer(&usdc(), &message, &signature).is_err());
            signature[at] ^= 1 << bit;
            let s = SecretKey::from_byte_array(signature[32..64].try_into().unwrap()).unwrap().negate();
            signature[32..64].copy_from_slice(&s.secret_bytes());
            signature[64] ^= 7; // 27 ↔ 28
            prop_assert_eq!(check_transfer(&usdc(), &message, &signature), Err(Fault::HighS));
        }

        #[test]
        fn any_bytes_are_checked_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..130)) {
            let _ = check_transfer(&usdc(), &transfer([2; 20], 2), &bytes);
        }
    }
}
