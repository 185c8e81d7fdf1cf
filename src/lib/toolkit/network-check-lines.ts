import { dialFailureText } from '../net/index.ts';
import { certificatesOf, returnCodeText, type TlsFailure, type TlsProbe } from '../net/probe/index.ts';
import type { NetworkLine } from './network-check.result.ts';
import type { GonePath } from './network-check-paths.ts';

/** How far the clock of a gateway may be off. Decision of ours: certificates and pre-signed addresses end by the clock. */
const CLOCK_MOST_OFF_MS = 60_000;
/** Decision of ours: above it a person at the tablet notices that the cloud is far away. */
const CONNECT_MOST_MS = 1_000;
/** Smallest packet that every path must take. @source RFC 8200, 5 */
const MTU_LEAST_BYTES = 1_280;

const FULL_SIZE_ASK =
  'Let ICMP "fragmentation needed" (IPv6: "packet too big") through to the gateway, or adjust the segment size of TCP (MSS clamping) where the path is narrower than 1500 bytes.';
const SMALLER_MTU = 'Until then a smaller MTU at the interface of the gateway helps (ip link set dev … mtu 1280).';

type Said = Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string; readonly ask?: string };

/** The lines of one path: name, TCP, TLS, ALPN where one is offered, and what is spoken over it. */
export function pathLines(path: GonePath): NetworkLine[] {
  const { plan } = path;
  const { id, title, need, spec, host, port } = plan;
  const line = (what: string, question: string, said: Said): NetworkLine => ({
    id: `${id}.${what}`,
    title: `${title}: ${question}`,
    section: 'outward',
    need,
    tried: formatEndpoint(host, port),
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

function nameSaid({ name, plan }: GonePath): Said {
  switch (name.kind) {
    case 'literal':
      return { verdict: 'ok', detail: 'the site file names an address; there is nothing to resolve' };
    case 'resolved':
      return { verdict: 'ok', detail: `${plan.host} is ${name.addresses.join(', ')} (${name.tookMs} ms)` };
    case 'unknown':
      return {
        verdict: 'wrong',
        detail: `the name server does not know ${plan.host}`,
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

function tlsSaid({ plan, tls, smallHello }: GonePath): Said {
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: there is no connection' };
  if (smallHello === true) {
    return {
      verdict: 'wrong',
      detail: 'TCP is open, the usual first words of TLS (more than one packet) are not answered, and small ones are',
      remedy: 'Packets of full size are lost on the way, or a filter reads no more than the first one.',
      ask: FULL_SIZE_ASK,
    };
  }
  if (tls.kind === 'failed') return tlsFailedSaid(tls.failure, tls.tookMs, plan.host, plan.port);
  const { trust, chain, protocol } = tls;
  const [leaf] = chain;
  const issuedBy = leaf === undefined ? 'no certificate was shown' : `issued by ${quoted(leaf.issuer)}`;
  switch (trust.kind) {
    case 'trusted':
      return { verdict: 'ok', detail: `${protocol}, ${issuedBy}, ends in a trusted CA (${tls.tookMs} ms)` };
    case 'no-anchor':
      return {
        verdict: 'not-checked',
        detail: `${protocol}, ${issuedBy}; there is nothing to hold the chain against`,
        remedy: 'Enrol this device (gw enrol), or name cloud.mqtt.caFile in the site file.',
      };
    case 'foreign':
      return {
        verdict: 'wrong',
        detail: `the certificate is ${issuedBy}, and its chain does not end in ${anchorsText(plan.trusted)}: a proxy opens TLS on the way, or the site file trusts the wrong CA (${trust.reason})`,
        remedy: `If ${quoted(lastOf(chain))} belongs to the customer, it is their proxy; otherwise compare the CA file with the one of the operator.`,
        ask: `Take ${plan.host}, TCP ${plan.port}, out of TLS inspection: the device must see the certificate of the cloud, not one that ${quoted(lastOf(chain))} made.`,
      };
    case 'other-name':
      return {
        verdict: 'wrong',
        detail: `the certificate is for ${quoted(leaf?.subject ?? 'nobody')}, not for ${plan.host}`,
        remedy: 'Compare the host in the site file; a name server or a portal may lead to another machine.',
        ask: `Do not lead ${plan.host} to another machine (portal, DNS redirection).`,
      };
    case 'expired':
    case 'not-yet-valid':
      return {
        verdict: 'wrong',
        detail: `by the clock of this gateway the certificate ${trust.kind === 'expired' ? `ended ${leaf?.notAfter}` : `begins ${leaf?.notBefore}`}`,
        remedy: 'Look at the line of the clock first; if the clock is right, the operator must renew the certificate.',
      };
  }
}

function tlsFailedSaid(failure: TlsFailure, tookMs: number, host: string, port: number): Said {
  const inspect = `Let TLS to ${host} on TCP ${port} pass untouched: no inspection and no filter by protocol.`;
  switch (failure.kind) {
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TCP is open, and no answer to the first word of TLS came within ${tookMs} ms`,
        remedy: 'A filter swallows it, or packets of full size are lost; see the line of the MTU.',
        ask: inspect,
      };
    case 'cut':
      return {
        verdict: 'wrong',
        detail: 'TCP is open, and the connection was cut at the first words of TLS',
        remedy: 'A filter that looks into the first words cuts it, or the server does.',
        ask: inspect,
      };
    case 'not-tls':
      return {
        verdict: 'wrong',
        detail: 'whoever answers does not speak TLS',
        remedy: 'A portal or a plain proxy answers in its place, or the port in the site file is wrong.',
        ask: inspect,
      };
    case 'alpn-refused':
      return { verdict: 'not-checked', detail: 'the handshake ended at the ALPN identifier, before any certificate' };
    case 'certificate-refused':
      return {
        verdict: 'not-checked',
        detail: `the handshake ended at the certificate of this device: ${failure.alert}`,
      };
    case 'alert':
      return {
        verdict: 'wrong',
        detail: `the handshake failed: ${failure.alert}`,
        remedy: 'Where a client certificate is demanded, enrol this device first; otherwise compare host and port.',
        ask: inspect,
      };
  }
}

function alpnSaid({ tls }: GonePath, wanted: string): Said {
  const ask = 'Let the application protocol of TLS (ALPN) pass unchanged to the broker.';
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: there is no connection' };
  if (tls.kind === 'failed') {
    if (tls.failure.kind !== 'alpn-refused') return { verdict: 'not-checked', detail: 'TLS did not get that far' };
    return {
      verdict: 'wrong',
      detail: `the other end speaks TLS and refuses the identifier ${wanted}`,
      remedy:
        'Compare cloud.mqtt.alpn of the site file with what the operator of the cloud names; a proxy may refuse it too.',
      ask,
    };
  }
  if (tls.alpn === wanted) return { verdict: 'ok', detail: 'the broker chose it' };
  return {
    verdict: 'wrong',
    detail:
      tls.alpn === null
        ? 'the other end takes no notice of ALPN: no broker on this port, or a proxy that takes it out'
        : `the other end chose ${quoted(tls.alpn)} instead`,
    remedy: 'Compare cloud.mqtt.host and fallbackPort of the site file; a proxy on the way may drop the identifier.',
    ask,
  };
}

function mqttSaid({ tls, mqtt, plan }: GonePath): Said {
  const seeCloud = 'The network lets it pass. Have the operator of the cloud look at this device in their account.';
  if (tls?.kind === 'failed' && tls.failure.kind === 'certificate-refused')
    return certificateRefusedSaid(tls.failure.alert);
  if (mqtt === undefined) return { verdict: 'not-checked', detail: 'not tried: TLS did not come about' };
  switch (mqtt.kind) {
    case 'not-tried':
      return { verdict: 'not-checked', detail: `not tried: ${mqtt.why}` };
    case 'accepted':
      return { verdict: 'ok', detail: `the broker let it in, and it signed off again (${mqtt.tookMs} ms)` };
    case 'refused':
      return {
        verdict: 'wrong',
        detail: `the broker refuses it: ${returnCodeText(mqtt.returnCode)}`,
        remedy: seeCloud,
      };
    case 'no-connack':
      return {
        verdict: 'wrong',
        detail: `TLS stands, and no CONNACK came within ${mqtt.tookMs} ms`,
        remedy:
          'Whoever ended TLS there is no broker, or it does not answer; try the other port, then ask the operator.',
      };
    case 'foreign':
      return {
        verdict: 'wrong',
        detail: mqtt.looksLikeHttp
          ? 'an HTTP server answers in place of the broker'
          : 'whoever answers does not speak MQTT 3.1.1',
        remedy: 'Compare cloud.mqtt.host and its ports in the site file.',
        ask: `Do not put a web proxy in front of ${plan.host}, TCP ${plan.port}.`,
      };
    case 'closed':
      if (mqtt.failure.kind === 'certificate-refused') return certificateRefusedSaid(mqtt.failure.alert);
      return {
        verdict: 'wrong',
        detail: `the connection was ended without a CONNACK${mqtt.failure.kind === 'alert' ? `: ${mqtt.failure.alert}` : ''}`,
        remedy: `${seeCloud} A broker closes so when it does not know the certificate or the client id.`,
      };
  }
}

function certificateRefusedSaid(alert: string): Said {
  return {
    verdict: 'wrong',
    detail: `the broker does not take the certificate of this device: ${alert}`,
    remedy: 'Look at `gw enrol status`; the operator of the cloud sees whether the certificate is active there.',
  };
}

function httpsSaid({ https, tls }: GonePath): Said {
  if (https === undefined) {
    return { verdict: 'not-checked', detail: tls === undefined ? 'not tried' : 'not tried: TLS did not come about' };
  }
  switch (https.kind) {
    case 'answered':
      return { verdict: 'ok', detail: `it answered, with ${https.status} to HEAD / (${https.tookMs} ms)` };
    case 'not-http':
      return {
        verdict: 'wrong',
        detail: 'whoever answers does not speak HTTP',
        remedy: 'Compare the address in the site file.',
      };
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TLS stands, and nothing was answered within ${https.tookMs} ms`,
        remedy: 'Try again; then ask the operator of the cloud.',
      };
    case 'closed':
      return {
        verdict: 'wrong',
        detail: 'the connection was ended without an answer',
        remedy: 'Try again; then ask the operator of the cloud.',
      };
  }
}

/** The lines that several paths tell together: who opens TLS, the clock, the largest packet, the latency. */
export function sharedLines(paths: readonly GonePath[]): NetworkLine[] {
  return [inspectionLine(paths), clockLine(paths), mtuLine(paths), latencyLine(paths)];
}

function sharedLine(
  id: string,
  title: string,
  need: NetworkLine['need'],
  spec: string | null,
  said: Said,
): NetworkLine {
  return {
    id,
    title,
    section: 'outward',
    need,
    tried: null,
    spec,
    verdict: said.verdict,
    detail: said.detail,
    remedy: said.remedy ?? null,
    ask: said.ask ?? null,
  };
}

function inspectionLine(paths: readonly GonePath[]): NetworkLine {
  const line = (said: Said) =>
    sharedLine('tls-inspection', 'Nobody opens TLS on the way', 'needed', 'Core network rule', said);
  const seen = paths.flatMap(({ plan, tls }) => (tls?.kind === 'established' ? [{ plan, tls }] : []));
  const foreign = seen.filter(({ tls }) => tls.trust.kind === 'foreign');
  if (foreign.length > 0) {
    const makers = [...new Set(foreign.map(({ tls }) => lastOf(tls.chain)))];
    const where = [...new Set(foreign.map(({ plan }) => formatEndpoint(plan.host, plan.port)))];
    return line({
      verdict: 'wrong',
      detail: `certificates for ${where.join(', ')} were made by ${makers.map(quoted).join(', ')}, which is not trusted for them: a TLS-inspecting proxy${foreign.length < seen.length ? ' for these, and not for the others' : ''}, or a wrong CA file in the site file`,
      remedy: 'Show the name to the IT of the customer. Do not trust it on the gateway.',
      ask: `Take the connections of the gateway to ${where.join(', ')} out of TLS inspection.`,
    });
  }
  const proven = seen.filter(({ tls }) => tls.trust.kind === 'trusted');
  if (proven.length === 0)
    return line({ verdict: 'not-checked', detail: 'no certificate was seen that could be held against a CA' });
  return line({
    verdict: 'ok',
    detail: `${proven.length} of ${paths.length} ways end in a CA that is trusted for them${proven.length < paths.length ? '; the others were not seen' : ''}`,
  });
}

function clockLine(paths: readonly GonePath[]): NetworkLine {
  const line = (said: Said) => sharedLine('clock', 'The clock of the gateway is right', 'needed', null, said);
  const told = paths.flatMap(({ plan, tls, https }) =>
    https?.kind === 'answered' && https.clock !== null && tls?.kind === 'established'
      ? [{ host: plan.host, isTrusted: tls.trust.kind === 'trusted', ...https.clock }]
      : [],
  );
  const best = told.toSorted((a, b) => Number(b.isTrusted) - Number(a.isTrusted) || a.uncertainMs - b.uncertainMs)[0];
  if (best === undefined) return line({ verdict: 'not-checked', detail: 'no server told its date over HTTPS' });
  const { behindMs, uncertainMs, host, isTrusted } = best;
  const proof = isTrusted ? '' : ', whose certificate is not trusted';
  const off = `${secondsText(Math.abs(behindMs))} ${behindMs >= 0 ? 'behind' : 'ahead of'} ${host}${proof} (give or take ${secondsText(uncertainMs)})`;
  if (Math.abs(behindMs) - uncertainMs <= CLOCK_MOST_OFF_MS) return line({ verdict: 'ok', detail: off });
  return line({
    verdict: 'wrong',
    detail: `${off}; certificates and pre-signed addresses then seem ended or not begun`,
    remedy: 'Set the clock of the gateway (timedatectl), and give it a time server where the site has one.',
    ask: 'Name a time server (NTP, UDP 123) that the gateway may ask, or one inside the house.',
  });
}

function mtuLine(paths: readonly GonePath[]): NetworkLine {
  const line = (said: Said) => sharedLine('mtu', 'Packets of full size pass', 'needed', null, said);
  const halved = paths.filter(({ smallHello }) => smallHello === true);
  if (halved.length > 0) {
    return line({
      verdict: 'wrong',
      detail: `${[...new Set(halved.map(({ plan }) => plan.host))].join(', ')} answered small first words of TLS and not those that need more than one packet`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    });
  }
  const lost = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'no-answer');
  if (lost.length > 0) {
    return line({
      verdict: 'wrong',
      detail: `${lost.map(({ plan }) => plan.host).join(', ')} answered a small request and not one of 4 KiB on the same connection: large packets are lost on the way`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    });
  }
  const sizes = paths.flatMap(({ info }) => (info?.pathMtuBytes ? [info.pathMtuBytes] : []));
  const answered = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'answered');
  const passed =
    answered.length === 0
      ? ''
      : `, and requests of 4 KiB are answered by ${[...new Set(answered.map(({ plan }) => plan.host))].join(', ')}`;
  if (sizes.length === 0) {
    return answered.length === 0
      ? line({ verdict: 'not-checked', detail: 'no connection stood long enough to look at it' })
      : line({ verdict: 'ok', detail: `the kernel does not tell the size${passed}` });
  }
  const smallest = Math.min(...sizes);
  if (smallest < MTU_LEAST_BYTES) {
    return line({
      verdict: 'wrong',
      detail: `a path takes packets of ${smallest} bytes only, less than the ${MTU_LEAST_BYTES} that every path must take`,
      remedy: 'Look at the MTU of the interface and of every tunnel on the way.',
      ask: FULL_SIZE_ASK,
    });
  }
  return line({
    verdict: 'ok',
    detail: `${smallest} bytes on the narrowest path, as far as the kernel has learnt it${passed}`,
  });
}

function latencyLine(paths: readonly GonePath[]): NetworkLine {
  const line = (said: Said) => sharedLine('latency', 'The cloud is near enough', 'optional', null, said);
  const connected = paths.flatMap(({ plan, dial }) =>
    dial?.failure === null ? [{ host: plan.host, ms: dial.tookMs }] : [],
  );
  const slowest = connected.toSorted((a, b) => b.ms - a.ms)[0];
  if (slowest === undefined) return line({ verdict: 'not-checked', detail: 'no connection came about' });
  const detail = `TCP stood within ${slowest.ms} ms, the slowest to ${slowest.host}`;
  if (slowest.ms <= CONNECT_MOST_MS) return line({ verdict: 'ok', detail });
  return line({
    verdict: 'wrong',
    detail: `${detail}; more than ${CONNECT_MOST_MS} ms`,
    remedy: 'Look for a busy line or a bad radio link; the robot itself does not wait for the cloud.',
    ask: 'See whether the line to the internet is overloaded, or the WLAN of the robot segment is weak.',
  });
}

/** `host:443`, `[::1]:443`. */
export function formatEndpoint(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Who made the last certificate of a chain that was shown. */
function lastOf(chain: Extract<TlsProbe, { kind: 'established' }>['chain']): string {
  return chain.at(-1)?.issuer ?? 'nobody';
}

function anchorsText(trusted: string | 'system' | null): string {
  if (trusted === 'system' || trusted === null) return 'a CA of the system';
  const names = (certificatesOf(trusted) ?? []).map(({ subject }) => quoted(subject.split('\n').reverse().join(', ')));
  return names.length === 0 || names.length > 3 ? 'a trusted CA' : names.join(' or ');
}

function quoted(text: string): string {
  return `'${text}'`;
}

function secondsText(ms: number): string {
  return ms < 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms < 7_200_000
      ? `${Math.round(ms / 1000)} s`
      : `${Math.round(ms / 3_600_000)} h`;
}
