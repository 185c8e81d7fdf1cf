import { type EndReason, type ProxyExit, proxyExits } from '../model.ts';
import type { ProxyClosed } from './proxy-process.ts';

const reasons: Readonly<Record<ProxyExit, EndReason>> = {
  closed: 'closed-by-cloud',
  configuration: 'configuration',
  'network-lost': 'network-lost',
  refused: 'token-refused',
  'own-clock': 'own-clock',
  internal: 'proxy-failed',
  // Not by this gateway, which knows why it ends a proxy.
  terminated: 'proxy-failed',
};

const sentences: Readonly<Record<ProxyExit, string>> = {
  closed: 'Closed in the cloud.',
  configuration: 'The proxy rejected its settings or the services of the tunnel.',
  'network-lost': 'The tunnel service could not be reached any more.',
  refused: 'The tunnel service refused the token.',
  'own-clock': 'The clock of the proxy has expired.',
  internal: 'The proxy failed.',
  terminated: 'The proxy was terminated, and not by gw.',
};

export interface ProxyEnd {
  readonly reason: EndReason;
  readonly detail: string;
}

/**
 * Why the session ended, by the exit of a proxy that gw did not stop. An exit code counts only together with the event that
 * says the same, since a program that never became the proxy has exit codes too.
 */
export function endOfProxy({ code, signal, startError, ended, stderr }: ProxyClosed): ProxyEnd {
  const failed = (text: string) => ({ reason: 'proxy-failed' as const, detail: withCause(text, stderr) });
  if (startError !== null) return failed(`The proxy could not be started: ${startError}.`);
  if (code === null) return failed(`The proxy was ended by ${signal ?? 'an unknown signal'}, and not by gw.`);
  const exit = exitOfCode(code);
  if (exit === null) return failed(`The proxy ended with exit code ${code}.`);
  if (ended === null) return failed(`The proxy ended with exit code ${code} without saying why.`);
  if (ended.exit !== exit) return failed(`The proxy reported '${ended.exit}' and ended with exit code ${code}.`);
  return { reason: reasons[exit], detail: withCause(sentences[exit], ended.detail) };
}

function exitOfCode(code: number): ProxyExit | null {
  return (Object.keys(proxyExits) as ProxyExit[]).find((exit) => proxyExits[exit] === code) ?? null;
}

function withCause(sentence: string, cause: string): string {
  return cause === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${cause}`;
}
