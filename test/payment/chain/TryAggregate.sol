// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The one function of Multicall3 (github.com/mds1/multicall3) that the protocol's facilitator calls: on Base it lies at the address
/// that it has on every chain; on a chain of a test somebody has to put it there.
contract TryAggregate {
    struct Call {
        address target;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 index = 0; index < calls.length; index++) {
            (results[index].success, results[index].returnData) = calls[index].target.call(calls[index].callData);
            require(!requireSuccess || results[index].success, "a call failed");
        }
    }
}
