import { homedir, userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { onAbort } from '../lib/lifecycle/index.ts';
import type { HostKeyQuestion, SecretQuestion, Ssh, SshOptions, SshPerson } from '../lib/net/index.ts';
import type { Losses } from './command.ts';
import { askHidden } from './hidden-prompt.ts';
import { printable } from './output.ts';
import { canAsk } from './question.ts';

/** SSH options of this machine: home directory, agent, and the user at the terminal. */
export function sshOptionsHere(signal: AbortSignal): SshOptions {
  return {
    homeDir: homedir(),
    localUser: userInfo().username,
    agentSocket: process.env.SSH_AUTH_SOCK || null,
    person: canAsk() ? personAtTerminal : null,
    notify: (text) => process.stderr.write(`${printable(text)}\n`),
    signal,
  };
}

/** Questions go to stderr: stdout holds the result. */
const personAtTerminal: SshPerson = {
  async askSecret({ text, echo }: SecretQuestion, signal) {
    const question = printable(text);
    if (echo) return await askLine(question, signal);
    return await askHidden(process.stdin, process.stderr, question, signal, 'Interrupted.');
  },
  async trustHostKey({ host, keyType, fingerprint }: HostKeyQuestion, signal) {
    process.stderr.write(
      `Unknown host ${printable(host)}. Its ${printable(keyType)} host key is\n  ${printable(fingerprint)}\n` +
        'Compare it on the host itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\n',
    );
    return (await askLine("Does it match? Type 'yes' to trust this key from now on: ", signal))?.trim() === 'yes';
  },
};

/** One line; null at the end of the input. */
async function askLine(question: string, signal: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  using _aborted = onAbort(signal, () => reject(signal.reason));
  // readline puts the terminal into raw mode, so Ctrl-C arrives here and not as a signal.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  lines.once('close', () => resolve(null));
  lines.question(question, resolve);
  try {
    return await promise;
  } finally {
    lines.close();
  }
}

/** Runs work through the SSH host of `--via`, with the agent, files and terminal of this machine. */
export async function throughVia<T>(
  target: string,
  { signal, onLost, ifLost }: Losses & { readonly signal: AbortSignal },
  work: (ssh: Ssh, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { throughSsh } = await import('../lib/toolkit/via.ts');
  return await throughSsh(target, { ...sshOptionsHere(signal), signal, onLost, ifLost }, work);
}
