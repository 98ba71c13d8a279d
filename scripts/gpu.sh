#!/bin/sh
# Lays out ONNX Runtime's CUDA provider and the libraries that it needs from pinned, hashed wheels (scripts/gpu-pins.txt), without
# a CUDA toolkit: the NVIDIA driver is all that the host must have. Ends with 3 where there is none.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
binding=$here/node_modules/onnxruntime-node/bin/napi-v6/linux/x64
target=$here/node_modules/.cache/farthing-gpu/libraries

if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
  echo "There is no NVIDIA device here (/dev/nvidiactl): nothing was laid out. Install the driver on a machine with a GPU." >&2
  exit 3
fi
if [ "$(uname -m)" != x86_64 ]; then
  echo "The pinned libraries are for x86-64; this is $(uname -m)." >&2
  exit 3
fi
python3 -m pip --version >/dev/null 2>&1 || { echo "pip is missing: sudo apt-get install -y python3-pip" >&2; exit 1; }

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
# Pip refuses a file whose hash is another; no environment is changed.
python3 -m pip download --quiet --no-deps --require-hashes --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
  --platform manylinux2014_x86_64 --platform manylinux_2_12_x86_64 --platform manylinux2010_x86_64 \
  -d "$wheels" -r "$here/scripts/gpu-pins.txt"
rm -rf "$target.new"
mkdir -p "$target.new"
for wheel in "$wheels"/*.whl; do
  python3 - "$wheel" "$target.new" <<'PYTHON'
import os, sys, zipfile
wheel, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        file = os.path.basename(name)
        runtime = name.startswith("onnxruntime/capi/libonnxruntime_providers_")
        if (runtime and "tensorrt" not in file) or (name.startswith("nvidia/") and ".so" in file):
            with archive.open(name) as source, open(os.path.join(target, file), "wb") as out:
                while piece := source.read(1 << 20):
                    out.write(piece)
PYTHON
done
rm -rf "$target"
mv "$target.new" "$target"
for library in "$target"/libonnxruntime_providers_*.so; do ln -sf "$library" "$binding/"; done
echo "The CUDA provider is laid out. The weights that it runs are not in the tree; bring them once with:"
echo "  npx farthing admin models pull all-MiniLM-L6-v2"
echo "Start with:"
echo "  LD_LIBRARY_PATH=$target make run        # FARTHING_PROVIDER=cuda makes it fatal when it does not serve"
echo "and check it with:"
echo "  LD_LIBRARY_PATH=$target make gpu-check"
