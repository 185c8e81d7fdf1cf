import { type AddressRecord, dialFailureText } from '../index.ts';
import type { TlsProbe } from '../probe/index.ts';
import type { PathOutcome } from './outcome.ts';
import type { PathResult } from './probe-path.ts';

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

/** Whether the name of the endpoint resolves. */
export function nameOutcome({ name, plan }: PathResult): PathOutcome {
  switch (name.kind) {
    case 'literal':
      return { verdict: 'ok', detail: 'the host is an address; nothing to resolve' };
    case 'resolved':
      return {
        verdict: 'ok',
        detail: `${plan.host} is ${name.addresses.join(', ')} (${name.tookMs} ms)${name.unanswered === undefined ? '' : `; ${halfAnswer(name.unanswered)}, so other programs may wait long for this name`}`,
      };
    case 'unknown':
      return {
        verdict: 'wrong',
        // getent does not distinguish the two.
        detail: `no address for ${plan.host}: unknown name, or no name server reachable`,
        remedy:
          'Compare the name with the site file; check the name server that the gateway got by DHCP (`resolvectl status`).',
        ask: `Let the gateway resolve ${plan.host}: assign it a name server by DHCP that resolves public names.`,
      };
    case 'no-answer':
      return {
        verdict: 'wrong',
        ...(name.unanswered === undefined
          ? {
              detail: `no name server answered within ${name.tookMs} ms`,
              remedy: 'Check that the name server that the gateway got by DHCP is reachable (`resolvectl status`).',
              ask: 'Assign the gateway a name server by DHCP that is reachable from its segment (UDP and TCP 53).',
            }
          : {
              detail: `no address for ${plan.host} within ${name.tookMs} ms: ${halfAnswer(name.unanswered)}`,
              remedy:
                'Run the check again: a single query may be lost. Then check the name server (`resolvectl status`).',
              ask: `Let the name server of the gateway answer A and AAAA queries for ${plan.host}, also where it has no address.`,
            }),
      };
  }
}

/** What a name server does that answers one query of two. */
function halfAnswer(unanswered: AddressRecord): string {
  return unanswered === 'AAAA'
    ? 'the name server answers A (IPv4) but not AAAA (IPv6)'
    : 'the name server answers AAAA (IPv6) but not A (IPv4)';
}

/** Whether TCP connects, or how it is blocked. */
export function tcpOutcome({ name, dial, plan }: PathResult): PathOutcome {
  if (dial === undefined) {
    return name.kind === 'unknown' || name.kind === 'no-answer'
      ? { verdict: 'not-checked', detail: 'not tried: the name did not resolve' }
      : { verdict: 'not-checked', detail: 'not tried' };
  }
  if (dial.failure === null) return { verdict: 'ok', detail: `connected in ${dial.tookMs} ms` };
  if (dial.failure === 'unknown-name' || dial.failure === 'no-name-server') {
    const remedy =
      'Check the name server of the machine that connects (`resolvectl status`), then run the check again.';
    return { verdict: 'not-checked', detail: `not tried: ${dialFailureText[dial.failure]}`, remedy };
  }
  const ask = `Allow outgoing connections from the gateway to ${plan.host}, TCP ${plan.port}.`;
  const how = {
    'no-answer': `blocked: no answer within ${dial.tookMs} ms, as with a firewall that drops packets`,
    refused: 'blocked: connection refused, by a firewall that rejects or by a closed port',
    'no-route': 'no route to host: this machine has none, or a router on the way reports it',
    cut: 'blocked: connection reset while connecting',
    closed: 'blocked: connection closed while connecting',
    other: `not connected: ${dialFailureText.other}`,
  } as const;
  return {
    verdict: 'wrong',
    detail: how[dial.failure],
    ask,
    remedy:
      dial.failure === 'no-route'
        ? "Check cable and default route of this machine (`ip route`), then ask the customer's IT."
        : "Ask the customer's IT, then run the check again.",
  };
}
