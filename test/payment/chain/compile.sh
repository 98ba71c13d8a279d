#!/bin/sh
# Makes NAME.json (creation bytecode and ABI) from each NAME.sol with solc 0.8.37, in a scratch folder: the compiler is no dependency.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
npm install --prefix "$scratch" --no-audit --no-fund --loglevel=error solc@0.8.37
cd "$here"
for name in UsdCoin ContractWallet WalletFactory TryAggregate; do
  "$scratch/node_modules/.bin/solcjs" --optimize --bin --abi --base-path . -o "$scratch/out" "$name.sol"
  printf '{"compiler":"solc 0.8.37, optimized","abi":%s,"bytecode":"0x%s"}\n' \
    "$(cat "$scratch/out/${name}_sol_$name.abi")" "$(cat "$scratch/out/${name}_sol_$name.bin")" > "$name.json"
done
