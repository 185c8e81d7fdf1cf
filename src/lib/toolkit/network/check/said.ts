import type { TlsProbe } from '../../../net/probe/index.ts';
import type { NetworkLine } from '../check.result.ts';

/** What a line says, apart from what it is about. */
export type Said = Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string; readonly ask?: string };

export const FULL_SIZE_ASK =
  'Let ICMP "fragmentation needed" (IPv6: "packet too big") through to the gateway, or adjust the segment size of TCP (MSS clamping) where the path is narrower than 1500 bytes.';

/** Who made the last certificate of a chain that was shown. */
export function lastIssuer(chain: Extract<TlsProbe, { kind: 'established' }>['chain']): string {
  return chain.at(-1)?.issuer ?? 'nobody';
}

/** Words of others among ours. */
export function quoted(text: string): string {
  return `'${text}'`;
}
