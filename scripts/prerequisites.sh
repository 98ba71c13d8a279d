#!/bin/sh
# Says what is missing on this machine and how to install it. Changes nothing.
set -u
missing=0
disk_mib_wanted=2500

say() {
  missing=1
  printf '\n%s\n  %s\n' "$1" "$2" >&2
}

# at_least HAVE WANT: true when version HAVE is WANT or newer.
at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) ;;
  Linux-aarch64) echo "Note: on arm64 the code compiles, but it has not been run there; it is not supported yet." >&2 ;;
  *) say "Farthing runs on Linux (x86-64)." "Use a Debian or Ubuntu machine or container." ;;
esac

glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d ' ' -f 2)
if [ -n "$glibc" ] && ! at_least "$glibc" 2.36; then
  say "glibc $glibc is too old: 2.36 or newer is needed." "Use Debian 12, Ubuntu 24.04, or newer."
fi

if ! command -v node >/dev/null 2>&1; then
  say "Node.js 20 or newer is missing." "Install it from https://nodejs.org (the distribution's own package may be too old)."
elif ! command -v npm >/dev/null 2>&1; then
  say "npm is missing beside Node.js $(node --version)." "Install Node.js with npm from https://nodejs.org, or: sudo apt-get install -y npm"
elif ! at_least "$(node --version | tr -d v)" 20.0.0; then
  say "Node.js $(node --version) is too old: 20 or newer is needed." "Install it from https://nodejs.org (the distribution's own package may be too old)."
fi

if ! command -v cc >/dev/null 2>&1; then
  say "A C compiler is missing." "sudo apt-get install -y build-essential"
fi

if [ "${GRAPH:-1}" != 0 ] && ! command -v c++ >/dev/null 2>&1; then
  say "A C++ compiler is missing, for the graphs of large indexes." "sudo apt-get install -y build-essential   (or leave the graphs out: make GRAPH=0 …)"
fi

rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' native/Cargo.toml)
if ! command -v cargo >/dev/null 2>&1; then
  say "Rust $rust_wanted or newer is missing." "Install rustup from https://rustup.rs, then open a new shell (the distribution's own rustc is too old)."
else
  rust_found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2)
  if [ -z "$rust_found" ] || ! cargo --version >/dev/null 2>&1; then
    say "Rust is installed without a toolchain (\`rustc --version\` fails)." "rustup default stable"
  elif ! at_least "$rust_found" "$rust_wanted"; then
    say "Rust $rust_found is too old: $rust_wanted or newer is needed." "rustup update stable   (without rustup: install it from https://rustup.rs)"
  fi
fi

if ! { mkdir -p .build && : > .build/.writable; } 2>/dev/null; then
  say "This folder cannot be written: $(pwd)" "Clone it where your user may write, or change its owner: sudo chown -R $(id -un) ."
else
  rm -f .build/.writable
  free_mib=$(df -Pm . 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ ! -d node_modules ] && [ -n "$free_mib" ] && [ "$free_mib" -lt "$disk_mib_wanted" ]; then
    say "The disk has $free_mib MiB free; packages and build take $disk_mib_wanted." "Make room, or clone onto a larger disk."
  fi
fi

exit $missing
