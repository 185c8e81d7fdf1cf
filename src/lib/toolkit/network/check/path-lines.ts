import { dialFailureText, formatEndpoint } from '../../../net/index.ts';
import type { NetworkLine } from '../check.result.ts';
import type { GonePath } from './paths.ts';
import type { Said } from './said.ts';
import { httpsSaid, mqttSaid } from './spoken-said.ts';
import { alpnSaid, tlsSaid } from './tls-said.ts';

/** The lines of one path: name, TCP, TLS, ALPN where one is offered, and what is spoken over it. */
export function pathLines(path: GonePath): NetworkLine[] {
  const { plan } = path;
  const { id, title, need, spec, port } = plan;
  const line = (what: string, question: string, said: Said): NetworkLine => ({
    id: `${id}.${what}`,
    title: `${title}: ${question}`,
    section: 'outward',
    seenFrom: 'gateway',
    need,
    tried: formatEndpoint(plan),
    spec,
    verdict: said.verdict,
    detail: said.detail,
    remedy: said.remedy ?? null,
    ask: said.ask ?? null,
  });
  return [
    line('name', 'its name is known', nameSaid(path)),
    line('tcp', `TCP ${port} is open`, dialSaid(path)),
    line('tls', 'TLS reaches it unopened', tlsSaid(path)),
    ...(plan.alpn === null ? [] : [line('alpn', `ALPN ${plan.alpn} is taken`, alpnSaid(path, plan.alpn))]),
    ...(plan.speaks === 'mqtt' ? [line('mqtt', 'MQTT lets this device in', mqttSaid(path))] : []),
    ...(plan.speaks === 'https' ? [line('https', 'HTTPS answers', httpsSaid(path))] : []),
  ];
}

/** Two ways to one host share its name; the line is told once, with the way that is needed most. */
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

function nameSaid({ name, plan }: GonePath): Said {
  switch (name.kind) {
    case 'literal':
      return { verdict: 'ok', detail: 'the site file names an address; there is nothing to resolve' };
    case 'resolved':
      return { verdict: 'ok', detail: `${plan.host} is ${name.addresses.join(', ')} (${name.tookMs} ms)` };
    case 'unknown':
      return {
        verdict: 'wrong',
        // The program that asks does not say which of the two it is.
        detail: `no address of ${plan.host}: the name server does not know it, or could not be asked`,
        remedy: 'Compare the name with the site file; look at the name server that the gateway was given by DHCP.',
        ask: `Let the gateway resolve ${plan.host}: give it a name server by DHCP that answers for public names.`,
      };
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `no name server answered within ${name.tookMs} ms`,
        remedy: 'Look at the name server that the gateway was given by DHCP, and whether it can be reached.',
        ask: 'Give the gateway a name server by DHCP that answers from its segment (UDP and TCP 53).',
      };
  }
}

function dialSaid({ name, dial, plan }: GonePath): Said {
  if (dial === undefined) {
    return name.kind === 'unknown' || name.kind === 'no-answer'
      ? { verdict: 'not-checked', detail: 'not tried: the name is not known' }
      : { verdict: 'not-checked', detail: 'not tried' };
  }
  if (dial.failure === null) return { verdict: 'ok', detail: `connected in ${dial.tookMs} ms` };
  const ask = `Let the gateway open connections to ${plan.host} on TCP ${plan.port}, outgoing only.`;
  const how = {
    'no-answer': `blocked: nothing answered within ${dial.tookMs} ms, as a firewall does that drops`,
    refused: 'blocked: the connection is refused, by a firewall that rejects or because nothing listens there',
    'no-route': 'blocked: there is no route to it from here',
    'unknown-name': `not connected: ${dialFailureText['unknown-name']}`,
    cut: 'blocked: the connection was cut while it was opened',
    other: `not connected: ${dialFailureText.other}`,
  } as const;
  return { verdict: 'wrong', detail: how[dial.failure], ask, remedy: 'Ask the IT of the customer; try again after.' };
}
