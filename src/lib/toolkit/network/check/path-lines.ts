import { dialFailureText, formatEndpoint } from '../../../net/index.ts';
import type { NetworkLine } from '../check.result.ts';
import { httpsOutcome, mqttOutcome } from './application-outcome.ts';
import type { Outcome } from './outcome.ts';
import type { PathResult } from './paths.ts';
import { alpnOutcome, tlsOutcome } from './tls-outcome.ts';

/** The lines of one path: name, TCP, TLS, ALPN where one is offered, and the application protocol. */
export function pathLines(path: PathResult): NetworkLine[] {
  const { plan } = path;
  const { id, title, need, spec, port } = plan;
  const line = (what: string, claim: string, outcome: Outcome): NetworkLine => ({
    id: `${id}.${what}`,
    title: `${title}: ${claim}`,
    section: 'outward',
    seenFrom: 'gateway',
    need,
    tried: formatEndpoint(plan),
    spec,
    verdict: outcome.verdict,
    detail: outcome.detail,
    remedy: outcome.remedy ?? null,
    ask: outcome.ask ?? null,
  });
  return [
    line('name', 'name resolves', nameOutcome(path)),
    line('tcp', `TCP ${port} connects`, tcpOutcome(path)),
    line('tls', 'TLS is not intercepted', tlsOutcome(path)),
    ...(plan.alpn === null ? [] : [line('alpn', `ALPN ${plan.alpn} is selected`, alpnOutcome(path, plan.alpn))]),
    ...(plan.application === 'mqtt' ? [line('mqtt', 'MQTT CONNECT is accepted', mqttOutcome(path))] : []),
    ...(plan.application === 'https' ? [line('https', 'HTTPS responds', httpsOutcome(path))] : []),
  ];
}

/** Several paths to one host share its name line; the first one is kept. */
export function uniqueNames(lines: readonly NetworkLine[]): NetworkLine[] {
  const seen = new Set<string>();
  return lines.filter(({ id, tried }) => {
    if (!id.endsWith('.name') || tried === null) return true;
    const host = tried.slice(0, tried.lastIndexOf(':'));
    if (seen.has(host)) return false;
    seen.add(host);
    return true;
  });
}

function nameOutcome({ name, plan }: PathResult): Outcome {
  switch (name.kind) {
    case 'literal':
      return { verdict: 'ok', detail: 'the site file has an address; nothing to resolve' };
    case 'resolved':
      return { verdict: 'ok', detail: `${plan.host} is ${name.addresses.join(', ')} (${name.tookMs} ms)` };
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
        detail: `no name server answered within ${name.tookMs} ms`,
        remedy: 'Check that the name server that the gateway got by DHCP is reachable (`resolvectl status`).',
        ask: 'Assign the gateway a name server by DHCP that is reachable from its segment (UDP and TCP 53).',
      };
  }
}

function tcpOutcome({ name, dial, plan }: PathResult): Outcome {
  if (dial === undefined) {
    return name.kind === 'unknown' || name.kind === 'no-answer'
      ? { verdict: 'not-checked', detail: 'not tried: the name did not resolve' }
      : { verdict: 'not-checked', detail: 'not tried' };
  }
  if (dial.failure === null) return { verdict: 'ok', detail: `connected in ${dial.tookMs} ms` };
  const ask = `Allow outgoing connections from the gateway to ${plan.host}, TCP ${plan.port}.`;
  const how = {
    'no-answer': `blocked: no answer within ${dial.tookMs} ms, as with a firewall that drops packets`,
    refused: 'blocked: connection refused, by a firewall that rejects or by a closed port',
    'no-route': 'blocked: no route to host',
    'unknown-name': `not connected: ${dialFailureText['unknown-name']}`,
    cut: 'blocked: connection reset while connecting',
    other: `not connected: ${dialFailureText.other}`,
  } as const;
  return {
    verdict: 'wrong',
    detail: how[dial.failure],
    ask,
    remedy: "Ask the customer's IT, then run the check again.",
  };
}
