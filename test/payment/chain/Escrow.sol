// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes calldata signature) external;
}

/// Stands for the contract of x402's batch-settlement: what `batchSettlementABI` of the npm package names, by the rules of the scheme's
/// specification, for payers with plain wallets. The contract on the public chains is another one.
contract Escrow {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }
    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }
    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }
    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }
    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }
    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    mapping(bytes32 => Channel) public channels;
    mapping(bytes32 => uint256) public refundNonce;
    mapping(bytes32 => Withdrawal) public pendingWithdrawals;
    mapping(address => mapping(address => Receiver)) public receivers;

    function multicall(bytes[] calldata data) external {
        for (uint256 index = 0; index < data.length; index++) {
            (bool done, bytes memory told) = address(this).delegatecall(data[index]);
            if (!done) assembly { revert(add(told, 32), mload(told)) }
        }
    }

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata data) external {
        require(config.withdrawDelay >= 900 && config.withdrawDelay <= 2592000 && amount > 0, "channel");
        bytes32 id = getChannelId(config);
        channels[id].balance += amount;
        uint256 before = Token(config.token).balanceOf(address(this));
        Collector(collector).collect(config.payer, config.token, amount, id, data);
        require(Token(config.token).balanceOf(address(this)) == before + amount, "not collected");
    }

    function claim(VoucherClaim[] calldata claims) external {
        for (uint256 index = 0; index < claims.length; index++) {
            ChannelConfig calldata config = claims[index].voucher.channel;
            require(msg.sender == config.receiver || msg.sender == config.receiverAuthorizer, "not the receiver");
            Channel storage channel = channels[getChannelId(config)];
            uint128 total = claims[index].totalClaimed;
            if (total <= channel.totalClaimed) continue;
            require(total <= claims[index].voucher.maxClaimableAmount && total <= channel.balance, "too much");
            bytes32 hash = keccak256(abi.encode(keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)"), getChannelId(config), claims[index].voucher.maxClaimableAmount));
            require(signer(hash, claims[index].signature) == config.payerAuthorizer, "signature");
            receivers[config.receiver][config.token].totalClaimed += total - channel.totalClaimed;
            channel.totalClaimed = total;
        }
    }

    function settle(address receiver, address token) external {
        Receiver storage sums = receivers[receiver][token];
        uint128 amount = sums.totalClaimed - sums.totalSettled;
        if (amount == 0) return;
        sums.totalSettled = sums.totalClaimed;
        require(Token(token).transfer(receiver, amount));
    }

    function refundWithSignature(ChannelConfig calldata config, uint128 amount, uint256 nonce, bytes calldata signature) external {
        bytes32 id = getChannelId(config);
        require(nonce == refundNonce[id]++ && amount > 0, "nonce");
        bytes32 hash = keccak256(abi.encode(keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)"), id, nonce, amount));
        require(signer(hash, signature) == config.receiverAuthorizer, "signature");
        uint128 left = channels[id].balance - channels[id].totalClaimed;
        if (amount > left) amount = left;
        channels[id].balance -= amount;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (amount >= pending.amount) delete pendingWithdrawals[id];
        else pending.amount -= amount;
        if (amount > 0) require(Token(config.token).transfer(config.payer, amount));
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        bytes32 id = getChannelId(config);
        require(msg.sender == config.payer && pendingWithdrawals[id].initiatedAt == 0, "payer");
        require(amount <= channels[id].balance - channels[id].totalClaimed, "too much");
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
    }

    function finalizeWithdraw(ChannelConfig calldata config) external {
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        require(msg.sender == config.payer && pending.initiatedAt != 0, "payer");
        require(block.timestamp >= pending.initiatedAt + config.withdrawDelay, "too early");
        uint128 left = channels[id].balance - channels[id].totalClaimed;
        uint128 amount = pending.amount < left ? pending.amount : left;
        delete pendingWithdrawals[id];
        channels[id].balance -= amount;
        require(Token(config.token).transfer(config.payer, amount));
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return digest(keccak256(abi.encode(keccak256("ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"), config)));
    }

    function digest(bytes32 hash) private view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"), keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, hash));
    }

    function signer(bytes32 hash, bytes calldata signature) private view returns (address) {
        require(signature.length == 65, "signature");
        return ecrecover(digest(hash), uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    }
}

/// Takes a deposit by EIP-3009: its nonce names the channel.
contract Collector {
    address private immutable escrow;

    constructor(address itsEscrow) {
        escrow = itsEscrow;
    }

    function collect(address payer, address token, uint256 amount, bytes32 id, bytes calldata data) external {
        require(msg.sender == escrow, "not the escrow");
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) = abi.decode(data, (uint256, uint256, uint256, bytes));
        Token(token).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, keccak256(abi.encode(id, salt)), signature);
        require(Token(token).transfer(escrow, amount));
    }
}
