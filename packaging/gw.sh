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
  echo "gw: no Node.js for this processor ($arch) in $folder/node_modules; install the package for it (x64 or arm64)" >&2
  exit 70
fi
# The kernel would say only that the program was not found.
if [ ! -e "$loader" ]; then
  found='this system has another C library'
  for file in /lib/ld-musl-*; do [ -e "$file" ] && found='this system has musl'; done
  echo "gw: needs glibc 2.28 or newer, $found (no $loader); install gw on a Linux with glibc, Debian 10 or newer" >&2
  exit 70
fi
# In the place of a closed stdout Node opens /dev/null, and what is lost there counts as written: one that is opened for reading
# refuses it, and gw says so.
(: 3>&1) 2>/dev/null || exec 1</dev/null
exec "$node" --disable-sigusr1 "$folder/bin/run.js" "$@"
