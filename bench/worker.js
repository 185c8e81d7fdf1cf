// Scripts of this folder as worker processes with requests over IPC.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../test/process.ts';

/** Starts a script of this folder as a worker, with `execArgv` as flags of Node. Ended by its pid on dispose. */
export function startWorker(script, argv, execArgv = []) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, argv, { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    pid: child.pid,
    /** One request at a time. */
    request(message, deadlineMs = 20_000) {
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
        child.send(message, (error) => error && ended(error));
      });
    },
    async [Symbol.asyncDispose]() {
      await endProcess(child);
    },
  };
}

/** The worker's side: answers each request with the handler named by `what`. */
export function serveRequests(handlers) {
  process.on('message', ({ what, ...options }) => {
    Promise.resolve()
      .then(() => handlers[what](options))
      .then(
        (answer) => process.send({ answer }),
        (error) => process.send({ error: String(error?.stack ?? error) }),
      );
  });
  // The parent has ended.
  process.on('disconnect', () => process.exit(0));
}
