import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Log } from '../lifecycle/index.ts';

/** What systemd expects of a service with Type=notify. */
export interface ServiceManager {
  /** Interval of the reports. */
  readonly reportEveryMs: number;
}

/** Within WatchdogSec=: a report that is lost or late ends nothing. Without it, until the service is ready. */
const REPORTS_PER_WATCHDOG = 4;
const DEFAULT_WATCHDOG_US = 10_000_000;
const MESSAGE = 'READY=1 WATCHDOG=1\n';
/**
 * Sends each line of stdin as one datagram to NOTIFY_SOCKET, its words as lines: Node has no datagram socket for a path.
 * It stays, since a program that is started for each report would need the disk, and the daemon would wait for it. Without
 * perl (Debian: perl-base, always installed) systemd-notify of systemd is started for each line.
 */
const HELPER = String.raw`perl -MSocket -ne '
BEGIN { socket S, AF_UNIX, SOCK_DGRAM, 0 or die; ($path = $ENV{NOTIFY_SOCKET}) =~ s/^@/\0/; $to = sockaddr_un $path }
tr/ /\n/; send S, $_, 0, $to' || while read -r line; do systemd-notify $line; done`;

/**
 * From the variables of sd_notify(3) and sd_watchdog_enabled(3); null: not started by a manager that expects reports.
 */
export function serviceManagerOf(
  { NOTIFY_SOCKET: socket, WATCHDOG_USEC: micros = '', WATCHDOG_PID: watched }: NodeJS.ProcessEnv,
  pid: number,
): ServiceManager | null {
  if (socket === undefined || !/^[/@]/.test(socket)) return null;
  const isWatched = /^[1-9]\d{0,11}$/.test(micros) && (watched === undefined || watched === String(pid));
  return { reportEveryMs: (isWatched ? Number(micros) : DEFAULT_WATCHDOG_US) / 1_000 / REPORTS_PER_WATCHDOG };
}

/**
 * Reports the service as ready, and then that the event loop of the daemon, which answers a stop, still turns. It proves
 * nothing more: not the answer itself, and nothing about chassis, cloud or disk. The environment of this process names the
 * socket; the message is always the same, so that a lost one needs no memory.
 */
export function reportToManager(
  { reportEveryMs }: ServiceManager,
  { clock, log }: { readonly clock: Pick<Clock, 'every'>; readonly log: Log },
): Disposable {
  let helper: ChildProcess | null = null;

  function lost(error: unknown): void {
    helper = null;
    log.warn({ error }, 'the helper that reports to systemd ended; it is started again');
  }

  function report(): void {
    try {
      helper ??= startHelper(lost);
      helper.stdin?.write(MESSAGE);
    } catch (error) {
      lost(error);
    }
  }

  report();
  const timer = clock.every(reportEveryMs, report);
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      helper?.removeAllListeners('close');
      helper?.stdin?.end();
    },
  };
}

/** Ends at the end of its stdin, so also with a daemon that is killed. */
function startHelper(onLoss: (error: unknown) => void): ChildProcess {
  const child = spawn('/bin/sh', ['-c', HELPER], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.unref();
  // A failed start and a closed pipe both end in `close`.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.once('close', (code, signal) => onLoss({ code, signal }));
  return child;
}
