import { formatEndpoint } from '../../../net/index.ts';
import { verifiedByText } from '../../../net/probe/index.ts';
import type { NetworkLine } from '../check.result.ts';
import type { GonePath } from './paths.ts';
import { FULL_SIZE_ASK, lastIssuer, quoted, type Said } from './said.ts';

/** How far the clock of a gateway may be off. Decision of ours: certificates and pre-signed addresses end by the clock. */
const CLOCK_MOST_OFF_MS = 60_000;
/** Decision of ours: above it a person at the tablet notices that the cloud is far away. */
const CONNECT_MOST_MS = 1_000;
/** Smallest packet that every path must take. @source RFC 8200, 5 */
const MTU_LEAST_BYTES = 1_280;

const SMALLER_MTU = 'Until then a smaller MTU at the interface of the gateway helps (ip link set dev … mtu 1280).';

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
    seenFrom: 'gateway',
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
  const line = (said: Said) => sharedLine('tls-inspection', 'No TLS interception', 'needed', 'Core network rule', said);
  const seen = paths.flatMap(({ plan, tls }) => (tls?.kind === 'established' ? [{ plan, tls }] : []));
  const foreign = seen.filter(({ tls }) => tls.trust.kind === 'foreign');
  if (foreign.length > 0) {
    const makers = [...new Set(foreign.map(({ tls }) => lastIssuer(tls.chain)))];
    const where = [...new Set(foreign.map(({ plan }) => formatEndpoint(plan)))];
    return line({
      verdict: 'wrong',
      detail: `certificates for ${where.join(', ')} were made by ${makers.map(quoted).join(', ')}, which is not trusted for them: a TLS-inspecting proxy${foreign.length < seen.length ? ' for these, and not for the others' : ''}, or a wrong CA file in the site file`,
      remedy: 'Show the name to the IT of the customer. Do not trust it on the gateway.',
      ask: `Take the connections of the gateway to ${where.join(', ')} out of TLS inspection.`,
    });
  }
  const proven = paths.filter(({ tls }) => tls?.kind === 'established' && tls.trust.kind === 'trusted');
  if (proven.length === 0) {
    return line({ verdict: 'not-checked', detail: 'no certificate was seen that could be compared with a CA' });
  }
  // A list that whoever looks after this machine can add to does not tell a proxy of the house from the cloud.
  const local = proven.flatMap(({ plan, tls }) => {
    if (tls?.kind !== 'established' || tls.trust.kind !== 'trusted') return [];
    const { by } = tls.trust;
    return by === 'system' || by === 'extra' ? [{ plan, issuer: lastIssuer(tls.chain), by }] : [];
  });
  if (local.length > 0) {
    const hosts = [...new Set(local.map(({ plan }) => formatEndpoint(plan)))].join(', ');
    const issuers = [...new Set(local.map(({ issuer }) => quoted(issuer)))].join(', ');
    const lists = [...new Set(local.map(({ by }) => verifiedByText[by]))].join(' and ');
    return line({
      verdict: 'not-checked',
      detail: `the chain of ${hosts} ends in ${issuers}, verified with ${lists}: a CA of the operator, or of a proxy that was added to this machine`,
      remedy: 'Ask the operator whose CA it is. If it is theirs, name its certificate in the site file (caFile).',
    });
  }
  const others = paths.filter((path) => !proven.includes(path));
  const where = [...new Set(others.map(({ plan }) => formatEndpoint(plan)))].join(', ');
  return line({
    verdict: others.some(({ plan }) => plan.need === 'needed') ? 'not-checked' : 'ok',
    detail: `${proven.length} of ${paths.length} ways end in a CA that is trusted for them${where === '' ? '' : `; nothing is known of ${where}`}`,
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

function secondsText(ms: number): string {
  return ms < 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms < 7_200_000
      ? `${Math.round(ms / 1000)} s`
      : `${Math.round(ms / 3_600_000)} h`;
}
