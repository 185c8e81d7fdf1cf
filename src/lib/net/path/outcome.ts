import type { TlsProbe } from '../probe/index.ts';

/** The verdict of one step of a path with its detail, remedy and request to the customer's IT. */
export interface PathOutcome {
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
  readonly detail: string;
  readonly remedy?: string;
  readonly ask?: string;
}

export const FULL_SIZE_ASK =
  'Allow ICMP "fragmentation needed" (IPv6: "packet too big") to the gateway, or use MSS clamping where the path MTU is below 1500 bytes.';

/** The issuer of the last certificate that the server sent. */
export function lastIssuer(chain: Extract<TlsProbe, { kind: 'established' }>['chain']): string {
  return chain.at(-1)?.issuer ?? 'unknown issuer';
}

/** Untrusted text in quotes. */
export function quoted(text: string): string {
  return `'${text}'`;
}
