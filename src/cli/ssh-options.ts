import { homedir, userInfo } from 'node:os';
import type { GwError } from '../lib/error/index.ts';
import type { HostKeyQuestion, SecretQuestion, Ssh, SshOptions, SshPerson } from '../lib/net/index.ts';
import { askLine, askSecret, canAsk } from './ask.ts';
import { printable } from './output.ts';

/** SSH options of this machine: home directory, agent, and the user at the terminal. */
export function sshOptionsHere(signal: AbortSignal): SshOptions {
  return {
    homeDir: homedir(),
    localUser: userInfo().username,
    environment: process.env,
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
    return echo ? ((await askLine(question, { signal })) ?? null) : await askSecret(question, { signal });
  },
  async trustHostKey({ host, keyType, fingerprint }: HostKeyQuestion, signal) {
    process.stderr.write(
      `Unknown host ${printable(host)}. Its ${printable(keyType)} host key is\n  ${printable(fingerprint)}\n` +
        'Compare it on the host itself: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\n',
    );
    for (;;) {
      const answer = await askLine("Does it match? Type 'yes' to trust this key from now on, or 'no':", { signal });
      if (answer === 'yes') return true;
      if (answer === 'no' || answer === undefined) return false;
      process.stderr.write("  'yes' or 'no', in full\n");
    }
  },
};

/** What a lost SSH connection means. */
export interface Losses {
  /** The work has a usable result nevertheless. */
  readonly onLost?: ((error: GwError) => void) | undefined;
  /** The error in place of SSH_LOST. */
  readonly ifLost?: ((error: GwError, during: unknown) => GwError) | undefined;
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
