import { homedir, userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { onAbort } from '../lib/lifecycle/index.ts';
import type { HostKeyQuestion, SecretQuestion, SshOptions, SshPerson } from '../lib/net/index.ts';
import { askHidden } from './hidden-prompt.ts';
import { printable } from './output.ts';
import { canAsk } from './question.ts';

/** What a connection by SSH gets from this machine: its home folder, its agent, and the person at its terminal. */
export function sshOptionsHere(signal: AbortSignal): SshOptions {
  return {
    homeDir: homedir(),
    localUser: userInfo().username,
    agentSocket: process.env.SSH_AUTH_SOCK || null,
    person: canAsk() ? personAtTerminal : null,
    tell: (text) => process.stderr.write(`${printable(text)}\n`),
    signal,
  };
}

/** Questions go to stderr: stdout holds the result. */
const personAtTerminal: SshPerson = {
  async askSecret({ text, shown }: SecretQuestion, signal) {
    const question = printable(text);
    if (shown) return await askLine(question, signal);
    return await askHidden(process.stdin, process.stderr, question, signal, 'Interrupted.');
  },
  async trustHostKey({ host, keyType, fingerprint }: HostKeyQuestion, signal) {
    process.stderr.write(
      `${printable(host)} is not known here. Its ${printable(keyType)} key is\n  ${printable(fingerprint)}\n` +
        'Compare it with the machine itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\n',
    );
    return (await askLine("Is it the same? Type 'yes' to trust it from now on: ", signal))?.trim() === 'yes';
  },
};

/** One line; null when nothing is typed any more. */
async function askLine(question: string, signal: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  using _aborted = onAbort(signal, () => reject(signal.reason));
  // The terminal is in raw mode while it is asked: Ctrl-C comes here and not as a signal of the process.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  lines.once('close', () => resolve(null));
  lines.question(question, resolve);
  try {
    return await promise;
  } finally {
    lines.close();
  }
}
