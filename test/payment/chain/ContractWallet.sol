// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A smart wallet (ERC-1271) of one owner. Its signatures are the owner's 65 bytes over the hash, bound to this wallet, with or without one
/// byte that names the kind: as long as a plain wallet's or longer, as those of real smart wallets are.
contract ContractWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65 && (signature.length != 66 || signature[65] != 0x01)) return 0xffffffff;
        bytes32 bound = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", keccak256(abi.encode(hash, address(this)))));
        address recovered = ecrecover(bound, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return recovered != address(0) && recovered == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
