#!/bin/sh
# Starts gw with the Node.js that came along, wherever its folder lies.
folder=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
case $(uname -m) in
  x86_64) arch=x64 loader=/lib64/ld-linux-x86-64.so.2 ;;
  aarch64) arch=arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
  *) arch=$(uname -m) loader= ;;
esac
node=$folder/node_modules/node-linux-$arch/bin/node
if [ ! -x "$node" ]; then
  echo "gw: this package is for another processor, this machine is $arch" >&2
  exit 70
fi
# musl has another one, and the kernel would say only that the program was not found.
if [ ! -e "$loader" ]; then
  echo "gw: needs the C library glibc 2.28 or newer, which this system lacks (musl is not supported)" >&2
  exit 70
fi
exec "$node" --disable-sigusr1 "$folder/bin/run.js" "$@"
