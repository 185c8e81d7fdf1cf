import { formatEndpoint } from '../../../net/index.ts';
import {
  alpnOutcome,
  httpsOutcome,
  mqttOutcome,
  nameOutcome,
  type PathOutcome,
  type PathResult,
  tcpOutcome,
  tlsOutcome,
} from '../../../net/path/index.ts';
import type { NetworkLine } from '../network.result.ts';
import type { Outcome } from './outcome.ts';
import type { PlannedPath } from './plans.ts';

/**
 * The lines of one path: name, TCP, TLS, ALPN where one is offered, and the application protocol. `provenMqtt`: the
 * result of the running gateway, in place of a CONNECT that would displace it.
 */
export function pathLines(path: PathResult<PlannedPath>, provenMqtt?: PathOutcome): NetworkLine[] {
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
    ...(plan.application === 'mqtt' ? [line('mqtt', 'MQTT CONNECT is accepted', provenMqtt ?? mqttOutcome(path))] : []),
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
