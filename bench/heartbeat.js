// Simulated robots that beat, and processes that hear them, for the benchmarks of the heartbeat.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const PORT = 45301;

/** A beat in which everything is known. Robots differ in serial and life, as those of a site do. */
export function beatOf(robot, sequence) {
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
 * The UDP sockets of this machine that are bound to a port, with the datagrams that the kernel dropped because their
 * queue was full; null where the system has no such table.
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

/** Starts a script of this folder that answers questions. Ended by its pid on dispose. */
export function startAsked(script, argv) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, argv, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    pid: child.pid,
    /** Asks one thing at a time. */
    ask(question, deadlineMs = 20_000) {
      return new Promise((resolve, reject) => {
        const settle = (end, value) => {
          clearTimeout(timer);
          child.off('message', answered).off('exit', ended).off('error', ended);
          end(value);
        };
        const answered = ({ answer, error }) =>
          error === undefined ? settle(resolve, answer) : settle(reject, new Error(`${script}: ${error}`));
        const ended = (why) => settle(reject, new Error(`${script} ended (${why})`));
        const timer = setTimeout(() => ended(`no answer within ${deadlineMs} ms`), deadlineMs);
        child.on('message', answered).on('exit', ended).on('error', ended);
        child.send(question, (error) => error && ended(error));
      });
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 6_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The other side: answers each question in turn by the function of its name. */
export function answerAll(answers) {
  process.on('message', ({ what, ...options }) => {
    Promise.resolve()
      .then(() => answers[what](options))
      .then(
        (answer) => process.send({ answer }),
        (error) => process.send({ error: String(error?.stack ?? error) }),
      );
  });
  // Whoever asked is gone.
  process.on('disconnect', () => process.exit(0));
}
