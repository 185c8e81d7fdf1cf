import { compareClocks, formatEndpoint, judgeOffset, secondsText } from '../../../net/index.ts';
import { FULL_SIZE_ASK, lastIssuer, type PathResult, quoted } from '../../../net/path/index.ts';
import { verifiedByText } from '../../../net/probe/index.ts';
import type { NetworkLine } from '../network.result.ts';
import { networkLine, type Outcome, type PlannedPath } from './plans.ts';

/** Project decision: a longer connect time is noticeable at the tablet. */
const MAX_CONNECT_MS = 1_000;
/** Minimum MTU of IPv6. @source RFC 8200, 5 */
const MIN_MTU_BYTES = 1_280;

const SMALLER_MTU = 'Until then set a smaller MTU on the gateway: ip link set dev INTERFACE mtu 1280';

type Paths = readonly PathResult<PlannedPath>[];

/** The lines across all paths: TLS interception, clock, MTU, latency. */
export function sharedLines(paths: Paths): NetworkLine[] {
  const line = (id: string, title: string, outcome: Parameters<typeof networkLine>[3]) =>
    networkLine('outward', id, title, { spec: null, ...outcome });
  return [
    line('tls-inspection', 'No TLS interception', { ...judgeInspection(paths), spec: 'Core network rule' }),
    line('clock', 'The clock of the gateway is right', judgeClock(paths)),
    line('mtu', 'Full-size packets pass', judgeMtu(paths)),
    line('latency', 'The TCP connect time is low', { ...judgeLatency(paths), need: 'optional' }),
  ];
}

function listed(texts: readonly string[]): string {
  return [...new Set(texts)].join(', ');
}

function judgeInspection(paths: Paths): Outcome {
  const seen = paths.flatMap(({ plan, tls }) => (tls?.kind === 'established' ? [{ plan, tls }] : []));
  const endings = seen.flatMap(({ plan, tls: { trust } }) => ('fault' in trust ? [{ plan, fault: trust.fault }] : []));
  const elsewhere = endings.filter(({ fault }) => fault.ask === 'exempt');
  if (elsewhere.length > 0) {
    const roots = listed(elsewhere.map(({ fault }) => fault.endsIn));
    const where = listed(elsewhere.map(({ plan }) => formatEndpoint(plan)));
    return {
      verdict: 'wrong',
      detail: `certificates of ${where} were issued by ${roots}, which is not a trusted CA for them: a TLS-inspecting proxy${elsewhere.length < seen.length ? ' for these hosts only' : ''}, or the wrong CA file in the site file`,
      remedy: "Report the issuer to the customer's IT. Do not add it as a trusted CA on the gateway.",
      ask: `Exempt the connections of the gateway to ${where} from TLS inspection.`,
    };
  }
  const open = endings.filter(({ fault }) => fault.ask === 'exempt-if-theirs');
  if (open.length > 0) {
    const where = listed(open.map(({ plan }) => formatEndpoint(plan)));
    return {
      verdict: 'not-checked',
      detail: `not decided: the chain of ${where} is incomplete, and its issuer ${listed(open.map(({ fault }) => fault.endsIn))} is unknown`,
      remedy: 'Ask the cloud operator whose CA it is.',
    };
  }
  const verified = paths.filter(({ tls }) => tls?.kind === 'established' && tls.trust.kind === 'trusted');
  if (verified.length === 0) {
    return { verdict: 'not-checked', detail: 'no certificate chain could be verified' };
  }
  // The administrator of this machine can add a proxy's CA to these lists.
  const local = verified.flatMap(({ plan, tls }) => {
    if (tls?.kind !== 'established' || tls.trust.kind !== 'trusted') return [];
    const { by } = tls.trust;
    return by === 'system' || by === 'extra' ? [{ plan, issuer: lastIssuer(tls.chain), by }] : [];
  });
  if (local.length > 0) {
    const hosts = listed(local.map(({ plan }) => formatEndpoint(plan)));
    const localIssuers = listed(local.map(({ issuer }) => quoted(issuer)));
    const lists = [...new Set(local.map(({ by }) => verifiedByText[by]))].join(' and ');
    return {
      verdict: 'not-checked',
      detail: `the chain of ${hosts} ends in ${localIssuers}, verified with ${lists}: a CA of the operator, or a proxy's CA that was added to this machine`,
      remedy: 'Ask the cloud operator whose CA it is. If it is theirs, set caFile in the site file to its certificate.',
    };
  }
  const others = paths.filter((path) => !verified.includes(path));
  const where = listed(others.map(({ plan }) => formatEndpoint(plan)));
  return {
    verdict: others.some(({ plan }) => plan.need === 'needed') ? 'not-checked' : 'ok',
    detail: `${verified.length} of ${paths.length} chains verified${where === '' ? '' : `; unknown for ${where}`}`,
  };
}

function judgeClock(paths: Paths): Outcome {
  const dates = paths.flatMap(({ plan, name, tls, https }) => {
    if (https?.kind !== 'answered' || https.clock === null || tls?.kind !== 'established') return [];
    const addresses = name.kind === 'literal' || name.kind === 'resolved' ? name.addresses : [];
    return [{ host: plan.host, addresses, isTrusted: tls.trust.kind === 'trusted', ...https.clock }];
  });
  const trusted = dates.filter(({ isTrusted }) => isTrusted);
  const together = compareClocks(trusted);
  if (together.kind === 'disagree') {
    const [one, other] = together.readings.map((reading) => offsetText(reading));
    return { verdict: 'not-checked', detail: `not decided: the endpoints disagree: ${one}, and ${other}` };
  }
  const best = (trusted.length > 0 ? trusted : dates).toSorted((a, b) => a.uncertainMs - b.uncertainMs)[0];
  if (best === undefined) return { verdict: 'not-checked', detail: 'no HTTPS response with a Date header' };
  const found = { ...best, ...(together.kind === 'agreed' && together) };
  const off = `${offsetText(found)}${best.isTrusted ? '' : ', whose certificate is untrusted'}`;
  const verdict = judgeOffset(found);
  if (verdict === 'right' && best.isTrusted) return { verdict: 'ok', detail: off };
  if (verdict !== 'wrong') return { verdict: 'not-checked', detail: `not decided: ${off}` };
  return {
    verdict: 'wrong',
    detail: `${off}; certificates and pre-signed URLs then look expired or not yet valid`,
    remedy: 'Set the clock of the gateway with timedatectl, and configure a time server if the site has one.',
    ask: 'Provide a time server (NTP, UDP 123) that the gateway can reach.',
  };
}

function offsetText({
  behindMs,
  uncertainMs,
  host,
}: {
  readonly behindMs: number;
  readonly uncertainMs: number;
  readonly host: string;
}): string {
  return `${secondsText(Math.abs(behindMs))} ${behindMs >= 0 ? 'behind' : 'ahead of'} ${host} (± ${secondsText(uncertainMs)})`;
}

function judgeMtu(paths: Paths): Outcome {
  const halved = paths.filter(({ smallHello }) => smallHello === true);
  if (halved.length > 0) {
    return {
      verdict: 'wrong',
      detail: `${listed(halved.map(({ plan }) => plan.host))} answered a small ClientHello; a full-size ClientHello got no answer`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    };
  }
  const lost = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'no-answer');
  if (lost.length > 0) {
    return {
      verdict: 'wrong',
      detail: `${lost.map(({ plan }) => plan.host).join(', ')} answered a small request; one of 4 KiB on the same connection got no answer: full-size packets are lost`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    };
  }
  const sizes = paths.flatMap(({ info }) => (info?.pathMtuBytes ? [info.pathMtuBytes] : []));
  const answered = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'answered');
  const passed =
    answered.length === 0 ? '' : `, requests of 4 KiB answered by ${listed(answered.map(({ plan }) => plan.host))}`;
  if (sizes.length === 0) {
    return answered.length === 0
      ? { verdict: 'not-checked', detail: 'no connection to measure it on' }
      : { verdict: 'ok', detail: `path MTU not reported by the kernel${passed}` };
  }
  const smallest = Math.min(...sizes);
  if (smallest < MIN_MTU_BYTES) {
    return {
      verdict: 'wrong',
      detail: `path MTU of ${smallest} bytes, less than the minimum of ${MIN_MTU_BYTES}`,
      remedy: 'Check the MTU of the interface and of every tunnel on the path.',
      ask: FULL_SIZE_ASK,
    };
  }
  return { verdict: 'ok', detail: `smallest path MTU ${smallest} bytes, as known to the kernel${passed}` };
}

function judgeLatency(paths: Paths): Outcome {
  const connected = paths.flatMap(({ plan, dial }) =>
    dial?.failure === null ? [{ host: plan.host, ms: dial.tookMs }] : [],
  );
  const slowest = connected.toSorted((a, b) => b.ms - a.ms)[0];
  if (slowest === undefined) return { verdict: 'not-checked', detail: 'no TCP connection' };
  const detail = `TCP connected in ${slowest.ms} ms (slowest, ${slowest.host})`;
  if (slowest.ms <= MAX_CONNECT_MS) return { verdict: 'ok', detail };
  return {
    verdict: 'wrong',
    detail: `${detail}; more than ${MAX_CONNECT_MS} ms`,
    remedy: 'Check for a congested uplink or a weak WLAN; driving does not depend on the cloud.',
    ask: 'Check whether the Internet uplink is congested, or the WLAN of the robot segment is weak.',
  };
}
