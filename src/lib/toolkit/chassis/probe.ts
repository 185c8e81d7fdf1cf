import {
  type ChassisIdentity,
  createChassisClient,
  createLiveValues,
  createUnitJudge,
  knownTopics,
  type LiveValues,
  openTopicStream,
  type PoseUnitVerdict,
  type TopicMessage,
} from '../../chassis/index.ts';
import { citeFact, type FactId, type Known, known } from '../../evidence/index.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type ChassisAccess, chassisAccess } from './access.ts';
import { conditionFindings, robotConditions } from './condition.ts';
import { readChassisTime } from './probe/chassis-clock.ts';
import { lookAtReliedFacts } from './probe/relied-facts.ts';
import { messagesFinding, type TopicsSeen, topicFindings } from './probe/topic-findings.ts';
import { addArrival, rateOf, type TopicArrivals } from './probe/topic-rate.ts';
import type { ChassisProbe } from './probe.result.ts';

export interface ChassisProbeOptions {
  /**
   * How long the topics are listened to at most, in seconds: until the unit of the pose is decided, its rate is known
   * and the robot reported its condition.
   */
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
  const received = await listen(access, identity, (options.seconds ?? USUAL_SECONDS) * 1_000, context);

  const { relied, finding: reliedFinding } = await lookAtReliedFacts(toolkit.site, identity);
  const latency = latencyOf(times);
  const chassisClock = clockOf(info.time, askedAt);
  const findings = [
    identityFinding(identity, expectedSerial),
    softwareFinding(identity),
    latencyFinding(latency),
    clockFinding(chassisClock),
    ...topicFindings(received),
    poseUnitFinding(received.poseUnit),
    messagesFinding(received),
    ...conditionFindings(received.condition),
    reliedFinding,
  ];
  return {
    verdict: findings.some((finding) => finding.verdict === 'wrong') ? 'wrong' : 'ok',
    address: { host: endpoint.host, port: endpoint.port, way: dialer.way },
    identity: identityOf(identity, expectedSerial),
    latency,
    clock: chassisClock,
    topics: received.topics,
    listenedMs: received.listenedMs,
    poseUnit: received.poseUnit,
    condition: received.condition,
    complaints: received.complaints,
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

interface Received extends TopicsSeen {
  readonly poseUnit: PoseUnitVerdict;
  readonly condition: ChassisProbe['condition'];
}

/** What the sections of the probe need before listening may end early. */
const conditionFields = ['wheels', 'positioning', 'battery', 'alerts'] as const;

async function listen(
  { endpoint, dialer, clock, secret }: ChassisAccess,
  identity: ChassisIdentity,
  mostMs: number,
  { signal, onProgress }: CheckContext,
): Promise<Received> {
  const judge = createUnitJudge();
  const live = createLiveValues(clock);
  live.connect();
  const arrivals = new Map<string, TopicArrivals>();
  const rejected = new Map<string, number>();
  const complaints = new Map<string, number>();
  const complain = (what: string) => {
    if (complaints.has(what) || complaints.size < 50) complaints.set(what, (complaints.get(what) ?? 0) + 1);
  };
  const onMessage = (message: TopicMessage) => {
    if (message.kind === 'complaint') {
      complain(message.what);
      if (message.topic === undefined) return;
      rejected.set(message.topic, (rejected.get(message.topic) ?? 0) + 1);
      live.reject(message.topic, message.what);
    }
    if (message.kind === 'other')
      complain(`a message of the topic ${JSON.stringify(message.topic.slice(0, 60))}, not asked for`);
    if (message.kind !== 'data') return;
    const now = clock.monotonicMs();
    arrivals.set(message.topic, addArrival(arrivals.get(message.topic), now));
    live.take(message);
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
  const rateOfTopic = (topic: string) => rateOf(arrivals.get(topic), began, clock.monotonicMs());
  const openQuestion = (): OpenQuestion | null => {
    if (judge.verdict().verdict === 'not-decided') return 'unit';
    if (rateOfTopic('/tracked_pose').perSecond === null) return 'rate';
    const values = live.values();
    return conditionFields.some((field) => values[field].status === 'not-heard') ? 'condition' : null;
  };
  const leastMs = Math.min(LEAST_LISTENING_MS, mostMs);
  while (broke === null && elapsedMs() < mostMs) {
    const question = openQuestion();
    if (elapsedMs() >= leastMs && question === null) break;
    onProgress(progressText(elapsedMs() < leastMs ? null : question, mostMs - elapsedMs()));
    await clock.sleep(100, signal);
  }
  const listenedMs = elapsedMs();
  if (broke !== null) live.disconnect();
  const acknowledged = (topic: string) =>
    stream.enabled === null ? 'not-checked' : stream.enabled.includes(topic) ? 'yes' : 'no';
  const values = live.values();
  return {
    topics: knownTopics.map((topic) => {
      const { perSecond, reason } = rateOfTopic(topic);
      const seen = arrivals.get(topic);
      return {
        topic,
        acknowledged: acknowledged(topic),
        messages: seen?.count ?? 0,
        rejected: rejected.get(topic) ?? 0,
        rate: perSecond === null ? null : known(perSecond, 'BELEGT', 'here', measured, 'Hz'),
        rateReason: reason,
        age: seen ? known(Math.round(clock.monotonicMs() - seen.lastMs), 'BELEGT', 'here', measured, 'ms') : null,
      };
    }),
    listenedMs: Math.round(listenedMs),
    poseUnit: judge.verdict(),
    condition: robotConditions(values),
    complaints: [...complaints].map(([what, count]) => ({ what, count })),
    broke,
    hasPlace: hasPlace(values),
  };
}

function hasPlace({ map, positioning }: LiveValues): boolean | null {
  if (positioning.status === 'heard' && positioning.value.state !== 'positioning') return false;
  return map.status === 'heard' && positioning.status === 'heard' ? positioning.value.reliable : null;
}

type OpenQuestion = 'unit' | 'rate' | 'condition';

function progressText(question: OpenQuestion | null, leftMs: number): string {
  const left = `(${Math.ceil(leftMs / 1_000)} s left)`;
  switch (question) {
    case null:
      return 'listening to the topics';
    case 'unit':
      return `the unit of the pose is not decided yet: turn the robot by hand, without a pause, through two full circles ${left}`;
    case 'rate':
      return `waiting for further poses, for their rate ${left}`;
    case 'condition':
      return `waiting for what the robot reports about itself ${left}`;
  }
}

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
  return notChecked(start, 'the chassis names none, so no record of the evidence file can count for it');
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
  if (clock === null) return notChecked(start, 'the chassis tells no time');
  const { differenceIfUtc, differenceIfSameZone, text } = clock;
  if (differenceIfUtc === null || differenceIfSameZone === null) {
    return notChecked(start, `it says ${text.value}, which is not understood`);
  }
  const near = [differenceIfUtc, differenceIfSameZone].some((by) => Math.abs(by.value) * 1_000 < CLOCK_OFF_MS);
  const by = `${differenceIfUtc.value} s against this machine if it is UTC, ${differenceIfSameZone.value} s if it is the zone of this machine`;
  return notChecked(
    start,
    `it says ${text.value}: ${by}; ${zone}`,
    near ? null : 'Compare the clock of the chassis with a watch; records of chassis and gateway may not match.',
  );
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
      // Turning helps nothing where no pose came: the finding about the topics has the remedy.
      if (samples === 0) return notChecked(start, detail);
      return notChecked(
        start,
        detail,
        'Probe again and turn the robot by hand, without a pause, through two full circles while the probe runs.',
      );
  }
}
