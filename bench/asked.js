// Scripts of this folder as processes of their own, which answer questions.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../test/process.ts';

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
      await endProcess(child);
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
