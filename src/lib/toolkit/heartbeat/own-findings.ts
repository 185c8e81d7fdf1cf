import type { Line } from '../finding.result.ts';
import { type ExpectedFleet, type Judgement, judged, type Observed, periodFinding, unqueried } from './findings.ts';

const notRunning = 'gw serve does not run here: UDP 45301 is not open';
const START = 'Start gw serve with this site file, and check its log.';
const ELSEWHERE = 'arrival can be checked only on the other robot';

/** Findings about the own heartbeat. None claims that a datagram arrived. */
export function ownFindings(site: ExpectedFleet, seen: Observed): Line[] {
  const { own, broadcast, unicast, expected, seconds } = site;
  if (!broadcast && unicast.length === 0) {
    const detail = 'fleet.broadcast is off and fleet.unicast is empty';
    // The specification requires the heartbeat also of a single robot.
    const judgement: Judgement =
      expected.length === 0
        ? ['not-checked', `${detail}: set fleet.broadcast to true to check the sending`]
        : ['wrong', detail];
    const remedy = 'List the gateways of the other robots in fleet.unicast.';
    return [judged('own', 'This gateway sends its heartbeat', judgement, remedy)];
  }
  const running = (judge: () => Judgement): Judgement =>
    seen.receives === 'everything' ? ['wrong', notRunning, START] : judge();
  const [copied] = [...seen.copies.values()].sort((a, b) => b.length - a.length);
  const times = copied === undefined ? 'counter of the gateway' : 'looped-back copies';
  const period = periodFinding(
    'own-period',
    'Period of the own heartbeat',
    copied ?? seen.timed.get(null) ?? [],
    seconds,
    times,
  );
  return [
    judged(
      'own-serial',
      `The heartbeat of this gateway carries serial ${own}`,
      running(() => judgeSerial(own, seen)),
      START,
    ),
    judged(
      'own-broadcast',
      'Own broadcasts leave the kernel (looped-back copies)',
      broadcast ? running(() => judgeCopies(seconds, seen)) : ['not-applicable', 'fleet.broadcast is off'],
      'Check the service `fleet` of gw serve (GET /api/health), and the outgoing packet filter.',
    ),
    ...unicast.map((address) =>
      judged(
        `own-unicast-${address}`,
        `Own heartbeats to ${address} are accepted by the operating system`,
        running(() => judgeAccepted(address, seen)),
        'Check the route (`ip route get ADDRESS`) and the outgoing packet filter.',
      ),
    ),
    seen.receives === 'everything' ? { ...period, spec: null, verdict: 'not-checked', detail: notRunning } : period,
  ];
}

/** A gateway with another site file sends with another serial. */
function judgeSerial(own: string, seen: Observed): Judgement {
  const { gateway, copies } = seen;
  if (gateway === null) {
    if (copies.size > 0) return ['ok', 'from looped-back copies of its broadcasts'];
    return unqueried(seen, ['not-checked', 'no answer']);
  }
  const { sending } = gateway.last;
  if (sending === null) return ['wrong', 'the running gateway sends no heartbeat'];
  if (sending.serial !== own) return ['wrong', `the running gateway sends with serial ${sending.serial}`];
  return ['ok', `${sending.heartbeats} heartbeats since its start, by its own counter`];
}

function judgeCopies(seconds: number, { sources, copies }: Observed): Judgement {
  if (sources.length === 0) {
    const detail = 'no interface except loopback is up with an IPv4 address';
    return ['wrong', detail, 'Connect the gateway to the robot segment; `ip address` shows its interfaces.'];
  }
  const missing = sources.filter((source) => !copies.has(source));
  if (missing.length > 0) return ['wrong', `no copy of a broadcast from ${missing.join(', ')} in ${seconds} s`];
  const counts = sources.map((source) => `${copies.get(source)?.length} from ${source}`).join(', ');
  return ['ok', `${counts} in ${seconds} s; ${ELSEWHERE}`];
}

function judgeAccepted(address: string, seen: Observed): Judgement {
  const { gateway } = seen;
  if (gateway === null) return unqueried(seen, ['not-checked', 'no answer']);
  const way = gateway.last.sending?.ways.find(({ to, from }) => to === address && from === null);
  if (way === undefined) return ['wrong', 'the running gateway does not send to it', 'Restart gw serve.'];
  if (way.failure !== null) return ['wrong', `failed: ${way.failure}`];
  const count = gateway.accepted.get(address) ?? 0;
  if (count === 0) return ['wrong', 'none during the check', 'Check the log of gw serve.'];
  return ['ok', `${count} by the counter of the gateway; ${ELSEWHERE}`];
}
