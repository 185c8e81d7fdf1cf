// Heartbeats of simulated robots for benchmarks.
import { readFileSync } from 'node:fs';

export const PORT = 45301;

/** A heartbeat with all fields. Robots differ in serial, boot counter and instance. */
export function heartbeatOf(robot, sequence) {
  return {
    serial: `BENCH-${String(robot).padStart(6, '0')}`,
    bootCounter: 1 + (robot % 50),
    sequence,
    instance: String(robot).padStart(16, '0'),
    uptimeS: 2 * sequence,
    state: {
      moving: robot % 3 === 0,
      stopped: false,
      batteryPercent: robot % 101,
      pose: { xM: robot / 10, yM: -robot / 7, yawDeg: (robot % 360) - 180 },
      software: '2.12.3',
    },
  };
}

/**
 * The local UDP sockets on a port, with the datagrams that the kernel dropped because their queue was full; null if the
 * system has no such table.
 */
export function socketsOn(port) {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    return ['/proc/net/udp', '/proc/net/udp6'].flatMap((path) =>
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/))
        .filter((columns) => columns[1].endsWith(suffix))
        .map((columns) => ({ inode: columns[9], drops: Number(columns.at(-1)) })),
    );
  } catch {
    return null;
  }
}
