import {
  type ChassisIdentity,
  createLiveValues,
  createUnitJudge,
  isSimulated,
  knownTopics,
  type LiveValues,
  openTopicStream,
  type PoseUnitVerdict,
  type TopicMessage,
} from '../../../chassis/index.ts';
import { type Known, known } from '../../../evidence/index.ts';
import type { CheckContext } from '../../toolkit.ts';
import type { ChassisAccess } from '../access.ts';
import type { ChassisProbe } from '../chassis.result.ts';
import { robotConditions } from '../condition.ts';
import type { TopicsSeen } from './topic-findings.ts';

/** The arrivals of one topic since it was enabled, on the monotonic clock. */
export interface TopicArrivals {
  readonly count: number;
  /** Arrival of the second message: the first one may be an old message repeated on enabling. */
  readonly secondMs: number | null;
  readonly lastMs: number;
}

interface TopicRate {
  /** Messages per second, rounded to hundredths; null where it cannot be determined. */
  readonly perSecond: number | null;
  /** Why there is no rate; null where there is one. */
  readonly reason: string | null;
}

/**
 * A robot at rest publishes some topics every five seconds and answers enabling with one message at once
 * (vendor parity notes of integrators, HINWEIS): two messages close together do not give a rate. Project decision.
 */
const MIN_INTERVALS = 3;
/**
 * Steady messages cover more than this part of the time; messages that were delayed and arrived together, and those of a
 * topic that has stopped, do not. Project decision, with a margin for the jitter of a radio link.
 */
const MIN_COVERAGE = 0.4;

const MIN_LISTENING_MS = 2_000;

interface Received extends TopicsSeen {
  readonly poseUnit: PoseUnitVerdict;
  readonly condition: ChassisProbe['condition'];
}

/** Values that must be received before the probe may end early. */
const conditionFields = ['wheels', 'positioning', 'battery', 'alerts'] as const;

/** Receives the topics for at most `maxMs`; ends earlier when unit, rate and condition are known. */
export async function listen(
  { endpoint, dialer, clock, secret }: ChassisAccess,
  identity: ChassisIdentity,
  maxMs: number,
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
      for (const topic of message.said?.topics ?? [message.topic]) rejected.set(topic, (rejected.get(topic) ?? 0) + 1);
      live.reject(message.topic, message.what, message.said);
    }
    if (message.kind === 'other')
      complain(`message of the topic ${JSON.stringify(message.topic.slice(0, 60))}, which was not subscribed`);
    if (message.kind !== 'data') return;
    const now = clock.monotonicMs();
    arrivals.set(message.topic, addArrival(arrivals.get(message.topic), now));
    live.update(message);
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
    return conditionFields.some((field) => values[field].status === 'not-received') ? 'condition' : null;
  };
  const minMs = Math.min(MIN_LISTENING_MS, maxMs);
  while (broke === null && elapsedMs() < maxMs) {
    const question = openQuestion();
    if (elapsedMs() >= minMs && question === null) break;
    onProgress(progressText(elapsedMs() < minMs ? null : question, maxMs - elapsedMs()));
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
        rate: perSecond === null ? null : measuredNow(identity, perSecond, 'Hz'),
        rateReason: reason,
        age: seen ? measuredNow(identity, Math.round(clock.monotonicMs() - seen.lastMs), 'ms') : null,
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

export function addArrival(arrivals: TopicArrivals | undefined, atMs: number): TopicArrivals {
  if (arrivals === undefined) return { count: 1, secondMs: null, lastMs: atMs };
  return { count: arrivals.count + 1, secondMs: arrivals.secondMs ?? atMs, lastMs: atMs };
}

/**
 * The rate of a topic from its arrivals. Limited by the whole time since enabling, so that delayed messages that
 * arrive together do not look like a fast topic.
 */
export function rateOf(arrivals: TopicArrivals | undefined, enabledMs: number, nowMs: number): TopicRate {
  if (arrivals === undefined) return { perSecond: null, reason: 'no message received' };
  const { count, secondMs, lastMs } = arrivals;
  const counted = count - 1;
  const intervals = counted - 1;
  if (secondMs === null || intervals < MIN_INTERVALS) {
    const seen = Math.max(0, intervals);
    return {
      perSecond: null,
      reason: `${seen} of ${MIN_INTERVALS} intervals needed; the first message is not counted, because enabling a topic may repeat an old one`,
    };
  }
  const spanMs = lastMs - secondMs;
  const openMs = nowMs - enabledMs;
  if (!(spanMs > 0) || spanMs < openMs * MIN_COVERAGE) {
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    return {
      perSecond: null,
      reason: `not steady: ${counted} messages within ${seconds(spanMs)} s of ${seconds(openMs)} s`,
    };
  }
  // Two periods of a steady topic can lie outside of its intervals: before the first that counts, after the last.
  const perMs = Math.min(intervals / spanMs, (counted + 2) / openMs);
  return { perSecond: Math.round(perMs * 1e5) / 100, reason: null };
}

/** A value that gw measured just now: on this device, or on what stands in for it. */
export function measuredNow<T>(identity: ChassisIdentity, value: T, unit: string): Known<T> {
  return isSimulated(identity)
    ? known(value, 'BELEGT', 'simulated', 'measured on a simulator, now', unit)
    : known(value, 'BELEGT', 'here', 'measured here, now', unit);
}

function hasPlace({ map, positioning }: LiveValues): boolean | null {
  if (positioning.status === 'received' && positioning.value.state !== 'positioning') return false;
  return map.status === 'received' && positioning.status === 'received' ? positioning.value.reliable : null;
}

type OpenQuestion = 'unit' | 'rate' | 'condition';

function progressText(question: OpenQuestion | null, leftMs: number): string {
  const left = `(${Math.ceil(leftMs / 1_000)} s left)`;
  switch (question) {
    case null:
      return 'receiving topics';
    case 'unit':
      return `the unit of the pose is not decided yet: turn the robot by hand, without a pause, through two full circles ${left}`;
    case 'rate':
      return `waiting for more poses to determine their rate ${left}`;
    case 'condition':
      return `waiting for the conditions reported by the robot ${left}`;
  }
}
