// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import "ContractWallet.sol";

/// Deploys contract wallets where their owners can know them beforehand (CREATE2), as the factories that ERC-6492 signatures name do.
contract WalletFactory {
    function deploy(address owner) external returns (address) {
        return address(new ContractWallet{salt: 0}(owner));
    }
}
