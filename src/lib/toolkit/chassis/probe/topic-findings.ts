import { plural } from '../../../text/index.ts';
import type { Finding } from '../../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../../finding.ts';
import type { ChassisProbe } from '../chassis.result.ts';
import { REJECTED_REMEDY } from '../condition.ts';

type TopicRow = ChassisProbe['topics'][number];

export interface TopicsSeen {
  readonly topics: ChassisProbe['topics'];
  /** Faults of received messages. */
  readonly complaints: ChassisProbe['complaints'];
  readonly listenedMs: number;
  /** Why the stream ended early; null when it did not. */
  readonly broke: string | null;
  /** Whether the chassis reported that it has a map and is positioned on it; null when it did not report it. */
  readonly hasPlace: boolean | null;
}

/** Project decision, the same as in the motion gate: an older pose is not used. */
const POSE_MAX_AGE_MS = 3_000;

const start: FindingStart = { id: 'topics', title: 'Topics are publishing', spec: 'Chassis interface' };

/** Whether the stream stayed connected and the topics were received; the pose must be published repeatedly. */
export function topicFindings(seen: TopicsSeen): Finding[] {
  const { topics, broke } = seen;
  const pose = topics.find(({ topic }) => topic === '/tracked_pose');
  const findings: Finding[] = [];
  if (broke !== null) {
    findings.push(
      wrong(
        { ...start, id: 'stream', title: 'Topic stream stays connected' },
        broke,
        'Probe again; if it ends again, check the network link.',
      ),
    );
  }
  const poseProblem = pose === undefined ? null : poseFinding(pose, seen);
  findings.push(poseProblem ?? othersFinding(topics));
  return findings;
}

/** A missing pose has several reasons, each with its own remedy. Null when the pose is published. */
function poseFinding(pose: TopicRow, { topics, listenedMs, hasPlace, complaints }: TopicsSeen): Finding | null {
  const within = `within ${(listenedMs / 1_000).toFixed(1)} s`;
  if (pose.messages === 0 && pose.rejected > 0) {
    const why = complaints.find(({ what }) => what.includes(pose.topic))?.what ?? 'malformed';
    return wrong(
      start,
      `${plural(pose.rejected, 'message')} of ${pose.topic} received and rejected: ${why}`,
      REJECTED_REMEDY,
    );
  }
  if (pose.messages === 0) return wrong(start, `no pose received ${within}`, silentRemedy(pose, topics, hasPlace));
  if (pose.messages === 1) {
    return wrong(
      start,
      `only one pose received ${within}, when its topic was enabled; it may be an old one`,
      'Turn or move the robot a little and probe again; if no further pose is received, check its positioning.',
    );
  }
  if (pose.age !== null && pose.age.value > POSE_MAX_AGE_MS) {
    return wrong(
      start,
      `poses stopped: the last one is ${(pose.age.value / 1_000).toFixed(1)} s old`,
      'Probe again; if they stop again, check the network link and the positioning of the robot.',
    );
  }
  return null;
}

function silentRemedy(pose: TopicRow, topics: readonly TopicRow[], hasPlace: boolean | null): string {
  if (topics.every(({ messages, rejected }) => messages + rejected === 0)) {
    return 'No topic is received although the stream is connected: check the chassis, its software may hang; then probe again.';
  }
  if (pose.acknowledged === 'no') {
    return `The chassis did not enable ${pose.topic}: report its software version.`;
  }
  if (hasPlace === true) {
    return 'The chassis reports a map and a position but sends no pose: check it in its own app, then probe again.';
  }
  return 'Set a map and a position on the chassis, then probe again.';
}

function othersFinding(topics: readonly TopicRow[]): Finding {
  const received = topics.filter(({ messages }) => messages > 0);
  const silent = topics.filter(({ messages, rejected }) => messages + rejected === 0).map(({ topic }) => topic);
  const rejected = topics.filter(({ messages, rejected }) => messages === 0 && rejected > 0).map(({ topic }) => topic);
  if (received.length === topics.length) return ok(start, `all ${topics.length} received`);
  const parts = [
    `${received.length} of ${topics.length} received`,
    ...(silent.length === 0 ? [] : [`not received: ${silent.join(', ')}`]),
    ...(rejected.length === 0 ? [] : [`rejected: ${rejected.join(', ')}`]),
  ];
  return notChecked(start, parts.join('; '));
}

/** Whether received messages were well formed. Without messages it is not checked. */
export function messagesFinding({ topics, complaints }: Pick<TopicsSeen, 'topics' | 'complaints'>): Finding {
  const about = { id: 'messages', title: 'Messages are well formed', spec: null };
  if (complaints.length > 0) {
    const detail = complaints.map(({ what, count }) => (count > 1 ? `${what} (${count} times)` : what)).join('; ');
    const remedy = complaints.some(({ what }) => what.includes('sent as text'))
      ? REJECTED_REMEDY
      : 'Check that no other device is between gateway and chassis, and report the software version.';
    return wrong(about, detail, remedy);
  }
  const count = topics.reduce((sum, { messages }) => sum + messages, 0);
  return count === 0 ? notChecked(about, 'no message received') : ok(about, `${count} messages without a fault`);
}
