import { formatEndpoint } from '../../../net/index.ts';
import { FULL_SIZE_ASK, lastIssuer, type PathResult, quoted } from '../../../net/path/index.ts';
import { verifiedByText } from '../../../net/probe/index.ts';
import type { NetworkLine } from '../network.result.ts';
import type { Outcome, PlannedPath } from './plans.ts';

/** Project decision: the validity of certificates and pre-signed URLs depends on the clock. */
const MAX_CLOCK_OFFSET_MS = 60_000;
/** Project decision: a longer connect time is noticeable at the tablet. */
const MAX_CONNECT_MS = 1_000;
/** Minimum MTU of IPv6. @source RFC 8200, 5 */
const MIN_MTU_BYTES = 1_280;

const SMALLER_MTU = 'Until then set a smaller MTU on the gateway: ip link set dev INTERFACE mtu 1280';

/** The lines across all paths: TLS interception, clock, MTU, latency. */
export function sharedLines(paths: readonly PathResult<PlannedPath>[]): NetworkLine[] {
  return [inspectionLine(paths), clockLine(paths), mtuLine(paths), latencyLine(paths)];
}

function sharedLine(
  id: string,
  title: string,
  need: NetworkLine['need'],
  spec: string | null,
  outcome: Outcome,
): NetworkLine {
  return {
    id,
    title,
    section: 'outward',
    seenFrom: 'gateway',
    need,
    tried: null,
    spec,
    verdict: outcome.verdict,
    detail: outcome.detail,
    remedy: outcome.remedy ?? null,
    ask: outcome.ask ?? null,
  };
}

function inspectionLine(paths: readonly PathResult<PlannedPath>[]): NetworkLine {
  const line = (outcome: Outcome) =>
    sharedLine('tls-inspection', 'No TLS interception', 'needed', 'Core network rule', outcome);
  const seen = paths.flatMap(({ plan, tls }) => (tls?.kind === 'established' ? [{ plan, tls }] : []));
  const untrusted = seen.filter(({ tls }) => tls.trust.kind === 'untrusted');
  if (untrusted.length > 0) {
    const issuers = [...new Set(untrusted.map(({ tls }) => lastIssuer(tls.chain)))];
    const where = [...new Set(untrusted.map(({ plan }) => formatEndpoint(plan)))];
    return line({
      verdict: 'wrong',
      detail: `certificates of ${where.join(', ')} were issued by ${issuers.map(quoted).join(', ')}, which is not a trusted CA for them: a TLS-inspecting proxy${untrusted.length < seen.length ? ' for these hosts only' : ''}, or the wrong CA file in the site file`,
      remedy: "Report the issuer to the customer's IT. Do not add it as a trusted CA on the gateway.",
      ask: `Exempt the connections of the gateway to ${where.join(', ')} from TLS inspection.`,
    });
  }
  const verified = paths.filter(({ tls }) => tls?.kind === 'established' && tls.trust.kind === 'trusted');
  if (verified.length === 0) {
    return line({ verdict: 'not-checked', detail: 'no certificate chain could be verified' });
  }
  // The administrator of this machine can add a proxy's CA to these lists.
  const local = verified.flatMap(({ plan, tls }) => {
    if (tls?.kind !== 'established' || tls.trust.kind !== 'trusted') return [];
    const { by } = tls.trust;
    return by === 'system' || by === 'extra' ? [{ plan, issuer: lastIssuer(tls.chain), by }] : [];
  });
  if (local.length > 0) {
    const hosts = [...new Set(local.map(({ plan }) => formatEndpoint(plan)))].join(', ');
    const localIssuers = [...new Set(local.map(({ issuer }) => quoted(issuer)))].join(', ');
    const lists = [...new Set(local.map(({ by }) => verifiedByText[by]))].join(' and ');
    return line({
      verdict: 'not-checked',
      detail: `the chain of ${hosts} ends in ${localIssuers}, verified with ${lists}: a CA of the operator, or a proxy's CA that was added to this machine`,
      remedy: 'Ask the cloud operator whose CA it is. If it is theirs, set caFile in the site file to its certificate.',
    });
  }
  const others = paths.filter((path) => !verified.includes(path));
  const where = [...new Set(others.map(({ plan }) => formatEndpoint(plan)))].join(', ');
  return line({
    verdict: others.some(({ plan }) => plan.need === 'needed') ? 'not-checked' : 'ok',
    detail: `${verified.length} of ${paths.length} chains verified${where === '' ? '' : `; unknown for ${where}`}`,
  });
}

function clockLine(paths: readonly PathResult<PlannedPath>[]): NetworkLine {
  const line = (outcome: Outcome) => sharedLine('clock', 'The clock of the gateway is right', 'needed', null, outcome);
  const dates = paths.flatMap(({ plan, tls, https }) =>
    https?.kind === 'answered' && https.clock !== null && tls?.kind === 'established'
      ? [{ host: plan.host, isTrusted: tls.trust.kind === 'trusted', ...https.clock }]
      : [],
  );
  const best = dates.toSorted((a, b) => Number(b.isTrusted) - Number(a.isTrusted) || a.uncertainMs - b.uncertainMs)[0];
  if (best === undefined) return line({ verdict: 'not-checked', detail: 'no HTTPS response with a Date header' });
  const { behindMs, uncertainMs, host, isTrusted } = best;
  const proof = isTrusted ? '' : ', whose certificate is untrusted';
  const off = `${secondsText(Math.abs(behindMs))} ${behindMs >= 0 ? 'behind' : 'ahead of'} ${host}${proof} (± ${secondsText(uncertainMs)})`;
  if (Math.abs(behindMs) - uncertainMs <= MAX_CLOCK_OFFSET_MS) return line({ verdict: 'ok', detail: off });
  return line({
    verdict: 'wrong',
    detail: `${off}; certificates and pre-signed URLs then look expired or not yet valid`,
    remedy: 'Set the clock of the gateway with timedatectl, and configure a time server if the site has one.',
    ask: 'Provide a time server (NTP, UDP 123) that the gateway can reach.',
  });
}

function mtuLine(paths: readonly PathResult<PlannedPath>[]): NetworkLine {
  const line = (outcome: Outcome) => sharedLine('mtu', 'Full-size packets pass', 'needed', null, outcome);
  const halved = paths.filter(({ smallHello }) => smallHello === true);
  if (halved.length > 0) {
    return line({
      verdict: 'wrong',
      detail: `${[...new Set(halved.map(({ plan }) => plan.host))].join(', ')} answered a small ClientHello; a full-size ClientHello got no answer`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    });
  }
  const lost = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'no-answer');
  if (lost.length > 0) {
    return line({
      verdict: 'wrong',
      detail: `${lost.map(({ plan }) => plan.host).join(', ')} answered a small request; one of 4 KiB on the same connection got no answer: full-size packets are lost`,
      remedy: SMALLER_MTU,
      ask: FULL_SIZE_ASK,
    });
  }
  const sizes = paths.flatMap(({ info }) => (info?.pathMtuBytes ? [info.pathMtuBytes] : []));
  const answered = paths.filter(({ https }) => https?.kind === 'answered' && https.large === 'answered');
  const passed =
    answered.length === 0
      ? ''
      : `, requests of 4 KiB answered by ${[...new Set(answered.map(({ plan }) => plan.host))].join(', ')}`;
  if (sizes.length === 0) {
    return answered.length === 0
      ? line({ verdict: 'not-checked', detail: 'no connection to measure it on' })
      : line({ verdict: 'ok', detail: `path MTU not reported by the kernel${passed}` });
  }
  const smallest = Math.min(...sizes);
  if (smallest < MIN_MTU_BYTES) {
    return line({
      verdict: 'wrong',
      detail: `path MTU of ${smallest} bytes, less than the minimum of ${MIN_MTU_BYTES}`,
      remedy: 'Check the MTU of the interface and of every tunnel on the path.',
      ask: FULL_SIZE_ASK,
    });
  }
  return line({
    verdict: 'ok',
    detail: `smallest path MTU ${smallest} bytes, as known to the kernel${passed}`,
  });
}

function latencyLine(paths: readonly PathResult<PlannedPath>[]): NetworkLine {
  const line = (outcome: Outcome) => sharedLine('latency', 'The TCP connect time is low', 'optional', null, outcome);
  const connected = paths.flatMap(({ plan, dial }) =>
    dial?.failure === null ? [{ host: plan.host, ms: dial.tookMs }] : [],
  );
  const slowest = connected.toSorted((a, b) => b.ms - a.ms)[0];
  if (slowest === undefined) return line({ verdict: 'not-checked', detail: 'no TCP connection' });
  const detail = `TCP connected in ${slowest.ms} ms (slowest, ${slowest.host})`;
  if (slowest.ms <= MAX_CONNECT_MS) return line({ verdict: 'ok', detail });
  return line({
    verdict: 'wrong',
    detail: `${detail}; more than ${MAX_CONNECT_MS} ms`,
    remedy: 'Check for a congested uplink or a weak WLAN; driving does not depend on the cloud.',
    ask: 'Check whether the Internet uplink is congested, or the WLAN of the robot segment is weak.',
  });
}

function secondsText(ms: number): string {
  return ms < 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms < 7_200_000
      ? `${Math.round(ms / 1000)} s`
      : `${Math.round(ms / 3_600_000)} h`;
}
