import {
  type ChassisIdentity,
  createChassisClient,
  createUnitJudge,
  knownTopics,
  openTopicStream,
  type PoseUnitVerdict,
  type TopicMessage,
} from '../chassis/index.ts';
import { citeFact, type FactId, type Known, known } from '../evidence/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { type ChassisAccess, chassisAccess } from './chassis-access.ts';
import { readChassisTime } from './chassis-clock.ts';
import type { ChassisProbe } from './chassis-probe.result.ts';
import type { Finding } from './finding.result.ts';
import { lookAtReliedFacts } from './relied-facts.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface ChassisProbeOptions {
  /** How long the topics are listened to at most, while the unit of the pose is not decided, in seconds. */
  readonly seconds?: number;
}

const LEAST_LISTENING_MS = 2_000;
const USUAL_SECONDS = 8;
const REQUESTS = 7;
/** Decision of ours: an order that waits longer than this for its answer makes every stop late as well. */
const SLOW_MS = 1_000;
/** Decision of ours: half a minute off makes the records of chassis and gateway hard to lay side by side. */
const CLOCK_OFF_MS = 30_000;

const measured = 'measured here, now';

/**
 * Looks at a chassis from all sides without moving it. Throws CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
 * CHASSIS_BAD_ANSWER and CHASSIS_WRONG_DEVICE; everything else that is wrong is a finding.
 */
export async function probeChassis(
  toolkit: Toolkit,
  options: ChassisProbeOptions,
  context: CheckContext,
): Promise<ChassisProbe> {
  const access = await chassisAccess(toolkit);
  const { endpoint, dialer, clock, expectedSerial } = access;
  const { signal, onProgress } = context;
  await using client = createChassisClient(access);

  onProgress(`asking ${endpoint.host}:${endpoint.port} who it is`);
  const identity = await client.identity(signal);
  const times: number[] = [];
  let info: Readonly<Record<string, unknown>> = {};
  let askedAt = clock.wall();
  for (let i = 0; i < REQUESTS; i += 1) {
    const began = clock.monotonicMs();
    askedAt = clock.wall();
    info = await client.deviceInfo(signal);
    times.push(clock.monotonicMs() - began);
  }
  const heard = await listen(access, identity, (options.seconds ?? USUAL_SECONDS) * 1_000, context);

  const { relied, finding: reliedFinding } = await lookAtReliedFacts(toolkit.site, identity);
  const latency = latencyOf(times);
  const chassisClock = clockOf(info.time, askedAt);
  const findings = [
    identityFinding(identity, expectedSerial),
    softwareFinding(identity),
    latencyFinding(latency),
    clockFinding(chassisClock),
    ...topicFindings(heard),
    poseUnitFinding(heard.poseUnit),
    complaintFinding(heard.complaints),
    reliedFinding,
  ];
  return {
    verdict: findings.some((finding) => finding.verdict === 'wrong') ? 'wrong' : 'ok',
    address: { host: endpoint.host, port: endpoint.port, way: dialer.way },
    identity: identityOf(identity, expectedSerial),
    latency,
    clock: chassisClock,
    topics: heard.topics,
    listenedMs: heard.listenedMs,
    poseUnit: heard.poseUnit,
    complaints: heard.complaints,
    relied,
    findings,
  };
}

/** A value that is read by a fact of the ledger has its mark and source. */
function byFact<T>(value: T, id: FactId, unit?: string): Known<T> {
  return { value, ...citeFact(id, unit) };
}

function identityOf(identity: ChassisIdentity, expectedSerial: string): ChassisProbe['identity'] {
  const announced = Object.entries(identity.capabilities).flatMap(([name, can]) => (can ? [name] : []));
  return {
    serial: byFact(identity.serial, 'vendor.identity.device-info'),
    expectedSerial,
    model: identity.model === null ? null : byFact(identity.model, 'vendor.identity.device-info'),
    software: identity.software === null ? null : byFact(identity.software, 'vendor.software-version'),
    capabilities: byFact(announced.toSorted(), 'vendor.capabilities'),
  };
}

function latencyOf(times: readonly number[]): ChassisProbe['latency'] {
  const sorted = times.toSorted((a, b) => a - b);
  const tenth = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
  return {
    requests: times.length,
    median: known(tenth(sorted[Math.floor(sorted.length / 2)]), 'BELEGT', 'here', measured, 'ms'),
    longest: known(tenth(sorted.at(-1)), 'BELEGT', 'here', measured, 'ms'),
  };
}

function clockOf(time: unknown, askedAt: Date): ChassisProbe['clock'] {
  if (typeof time !== 'string' || time === '') return null;
  const reading = readChassisTime(time);
  const seconds = (ms: number) => byFact(Math.round((ms - askedAt.getTime()) / 1_000), 'chassis.clock-and-zone', 's');
  return {
    text: byFact(time.slice(0, 100), 'vendor.device-time'),
    differenceIfUtc: reading ? seconds(reading.ifUtcMs) : null,
    differenceIfSameZone: reading ? seconds(reading.ifSameZoneMs) : null,
  };
}

interface Heard {
  readonly topics: ChassisProbe['topics'];
  readonly listenedMs: number;
  readonly poseUnit: PoseUnitVerdict;
  readonly complaints: ChassisProbe['complaints'];
  /** Why the stream ended before the listening did; null when it stood. */
  readonly broke: string | null;
}

async function listen(
  { endpoint, dialer, clock, secret }: ChassisAccess,
  identity: ChassisIdentity,
  mostMs: number,
  { signal, onProgress }: CheckContext,
): Promise<Heard> {
  const judge = createUnitJudge();
  const seen = new Map<string, { count: number; first: number; last: number }>();
  const complaints = new Map<string, number>();
  const complain = (what: string) => {
    if (complaints.has(what) || complaints.size < 50) complaints.set(what, (complaints.get(what) ?? 0) + 1);
  };
  const onMessage = (message: TopicMessage) => {
    const now = clock.monotonicMs();
    if (message.kind === 'complaint') complain(message.what);
    if (message.kind === 'other')
      complain(`a message of the topic ${JSON.stringify(message.topic.slice(0, 60))}, not asked for`);
    if (message.kind !== 'data') return;
    const row = seen.get(message.topic) ?? { count: 0, first: now, last: now };
    seen.set(message.topic, { count: row.count + 1, first: row.first, last: now });
    if (message.topic === '/tracked_pose') {
      const { ori, pos } = message.data;
      judge.add({ ori, xM: pos[0], yM: pos[1], atMs: now });
    }
  };
  using stream = await openTopicStream({
    endpoint,
    dialer,
    clock,
    secret,
    signal,
    topics: knownTopics,
    listForm: identity.capabilities.supportsEnableTopicList === true,
    onMessage,
  });
  const began = clock.monotonicMs();
  const elapsedMs = () => clock.monotonicMs() - began;
  let broke: string | null = null;
  void stream.ended.then((end) => {
    broke = end.detail;
  });
  const decided = () => judge.verdict().verdict !== 'not-decided';
  const leastMs = Math.min(LEAST_LISTENING_MS, mostMs);
  while (broke === null && (elapsedMs() < leastMs || (elapsedMs() < mostMs && !decided()))) {
    onProgress(progressText(elapsedMs(), leastMs, mostMs));
    await clock.sleep(100, signal);
  }
  const listenedMs = elapsedMs();
  const acknowledged = (topic: string) =>
    stream.enabled === null ? 'not-checked' : stream.enabled.includes(topic) ? 'yes' : 'no';
  return {
    topics: knownTopics.map((topic) => ({
      topic,
      acknowledged: acknowledged(topic),
      ...ratesOf(seen.get(topic), clock),
    })),
    listenedMs: Math.round(listenedMs),
    poseUnit: judge.verdict(),
    complaints: [...complaints].map(([what, count]) => ({ what, count })),
    broke,
  };
}

function progressText(elapsedMs: number, leastMs: number, mostMs: number): string {
  if (elapsedMs < leastMs) return 'listening to the topics';
  const left = Math.ceil((mostMs - elapsedMs) / 1_000);
  return `the unit of the pose is not decided yet: turn the robot by hand, without a pause, through two full circles (${left} s left)`;
}

function ratesOf(row: { count: number; first: number; last: number } | undefined, clock: Clock) {
  if (row === undefined) return { messages: 0, rate: null, age: null };
  const spanMs = row.last - row.first;
  const rate = row.count > 1 && spanMs > 0 ? Math.round(((row.count - 1) / spanMs) * 1e5) / 100 : null;
  return {
    messages: row.count,
    rate: rate === null ? null : known(rate, 'BELEGT', 'here', measured, 'Hz'),
    age: known(Math.round(clock.monotonicMs() - row.last), 'BELEGT', 'here', measured, 'ms'),
  };
}

type FindingStart = Pick<Finding, 'id' | 'title' | 'spec'>;

const ok = (start: FindingStart, detail: string): Finding => ({ ...start, verdict: 'ok', detail, remedy: null });
const wrong = (start: FindingStart, detail: string, remedy: string): Finding => ({
  ...start,
  verdict: 'wrong',
  detail,
  remedy,
});
const open = (start: FindingStart, detail: string, remedy: string | null = null): Finding => ({
  ...start,
  verdict: 'not-checked',
  detail,
  remedy,
});

function identityFinding(identity: ChassisIdentity, expected: string): Finding {
  // Another serial number never comes this far: the client refuses it.
  return ok(
    { id: 'identity', title: 'It is the chassis of the site file', spec: 'Addressing rules, 1' },
    `serial number ${identity.serial}, expected ${expected}`,
  );
}

function softwareFinding({ software }: ChassisIdentity): Finding {
  const start = { id: 'software', title: 'The software version is known', spec: 'Versioning, 2' };
  if (software !== null) return ok(start, software);
  return open(start, 'the chassis names none, so no record of the evidence file can count for it');
}

function latencyFinding({ requests, median, longest }: ChassisProbe['latency']): Finding {
  const start = { id: 'latency', title: 'It answers quickly', spec: null };
  const detail = `${requests} requests: median ${median.value} ms, longest ${longest.value} ms`;
  if (longest.value < SLOW_MS) return ok(start, detail);
  return wrong(start, detail, 'Look at the radio link and at what else uses the robot segment.');
}

function clockFinding(clock: ChassisProbe['clock']): Finding {
  const start = { id: 'clock', title: 'Its clock', spec: null };
  const zone = 'the chassis names no time zone, so nothing is concluded';
  if (clock === null) return open(start, 'the chassis tells no time');
  const { differenceIfUtc, differenceIfSameZone, text } = clock;
  if (differenceIfUtc === null || differenceIfSameZone === null) {
    return open(start, `it says ${text.value}, which is not understood`);
  }
  const near = [differenceIfUtc, differenceIfSameZone].some((by) => Math.abs(by.value) * 1_000 < CLOCK_OFF_MS);
  const by = `${differenceIfUtc.value} s against this machine if it is UTC, ${differenceIfSameZone.value} s if it is the zone of this machine`;
  return open(
    start,
    `it says ${text.value}: ${by}; ${zone}`,
    near ? null : 'Compare the clock of the chassis with a watch; records of chassis and gateway may not match.',
  );
}

function topicFindings({ topics, broke, listenedMs }: Heard): Finding[] {
  const start = { id: 'topics', title: 'Its topics speak', spec: 'Chassis interface' };
  const pose = topics.find(({ topic }) => topic === '/tracked_pose');
  const heard = topics.filter(({ messages }) => messages > 0);
  const mute = topics.filter(({ messages }) => messages === 0).map(({ topic }) => topic);
  const findings: Finding[] = [];
  if (broke !== null) {
    findings.push(
      wrong(
        { ...start, id: 'stream', title: 'Its topic stream stands' },
        broke,
        'Probe again; when it breaks again, look at the link.',
      ),
    );
  }
  if (pose === undefined || pose.messages === 0) {
    const detail = `no pose came within ${(listenedMs / 1_000).toFixed(1)} s`;
    findings.push(wrong(start, detail, 'Give the chassis a map and a position, then probe again.'));
  } else if (mute.length > 0) {
    findings.push(open(start, `${heard.length} of ${topics.length} were heard; silent: ${mute.join(', ')}`));
  } else {
    findings.push(ok(start, `all ${topics.length} were heard`));
  }
  return findings;
}

function poseUnitFinding({ verdict, reason, doubt, samples }: PoseUnitVerdict): Finding {
  const start = { id: 'pose-unit', title: 'The pose is in degrees', spec: 'Angles (critical rule)' };
  const detail = `${reason} (${samples} samples)`;
  if (doubt !== null) {
    return wrong(
      start,
      `IN DOUBT, IT MAY BE IN RADIANS: ${detail}`,
      'Do not drive this robot with gw yet: the gate before all movement stays closed. Probe again and turn the robot by hand, without a pause, through two full circles.',
    );
  }
  switch (verdict) {
    case 'degrees':
      return ok(start, detail);
    case 'radians':
      return wrong(
        start,
        `IT IS IN RADIANS: ${detail}. gw reads degrees, as measured; every heading would be wrong.`,
        'Do not drive this robot with gw: the gate before all movement stays closed. Report its software version.',
      );
    case 'not-decided':
      return open(
        start,
        detail,
        'Probe again and turn the robot by hand, without a pause, through two full circles while the probe runs.',
      );
  }
}

function complaintFinding(complaints: ChassisProbe['complaints']): Finding {
  const start = { id: 'messages', title: 'What it says is well formed', spec: null };
  if (complaints.length === 0) return ok(start, 'nothing to complain about');
  const detail = complaints.map(({ what, count }) => (count > 1 ? `${what} (${count} times)` : what)).join('; ');
  return wrong(
    start,
    detail,
    'Check that nothing stands between gateway and chassis, and report the software version.',
  );
}
