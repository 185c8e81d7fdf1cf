import { plural } from '../../../text/index.ts';
import type { Finding } from '../../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../../finding.ts';
import { REJECTED_REMEDY } from '../condition.ts';
import type { ChassisProbe } from '../probe.result.ts';

type TopicRow = ChassisProbe['topics'][number];

export interface TopicsSeen {
  readonly topics: ChassisProbe['topics'];
  /** What was wrong with messages; `rejected` names their topic where it is known. */
  readonly complaints: ChassisProbe['complaints'];
  readonly listenedMs: number;
  /** Why the stream ended before listening did; null when it stood. */
  readonly broke: string | null;
  /** Whether the chassis reported that it has a map and is positioned on it; null when it did not report it. */
  readonly hasPlace: boolean | null;
}

/** Project decision, as that of the gate before all movement: an older pose is no pose. */
const POSE_MAX_AGE_MS = 3_000;

const start: FindingStart = { id: 'topics', title: 'Topics are publishing', spec: 'Chassis interface' };

/** Whether the stream stood and the topics came that gw reads; the pose must come again and again. */
export function topicFindings(seen: TopicsSeen): Finding[] {
  const { topics, broke } = seen;
  const pose = topics.find(({ topic }) => topic === '/tracked_pose');
  const findings: Finding[] = [];
  if (broke !== null) {
    findings.push(
      wrong(
        { ...start, id: 'stream', title: 'The topic stream stands' },
        broke,
        'Probe again; when it breaks again, look at the link.',
      ),
    );
  }
  const poseProblem = pose === undefined ? null : poseFinding(pose, seen);
  findings.push(poseProblem ?? othersFinding(topics));
  return findings;
}

/** The pose is silent for several reasons, and each has a remedy of its own. Null when it publishes. */
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
      `the pose came once ${within}, when its topic was enabled, and may be an old one`,
      'Turn or move the robot a little and probe again; if the pose stays silent, look at its positioning.',
    );
  }
  if (pose.age !== null && pose.age.value > POSE_MAX_AGE_MS) {
    return wrong(
      start,
      `the pose ceased: the last one is ${(pose.age.value / 1_000).toFixed(1)} s old`,
      'Probe again; if it ceases again, look at the link and at the positioning of the robot.',
    );
  }
  return null;
}

function silentRemedy(pose: TopicRow, topics: readonly TopicRow[], hasPlace: boolean | null): string {
  if (topics.every(({ messages, rejected }) => messages + rejected === 0)) {
    return 'No topic delivers anything although the connection stands: look at the chassis, its software may hang; then probe again.';
  }
  if (pose.acknowledged === 'no') {
    return `The chassis did not enable ${pose.topic}: report its software version.`;
  }
  if (hasPlace === true) {
    return 'The chassis reports a map and a position and sends no pose: look at its own app, then probe again.';
  }
  return 'Give the chassis a map and a position, then probe again.';
}

function othersFinding(topics: readonly TopicRow[]): Finding {
  const received = topics.filter(({ messages }) => messages > 0);
  const silent = topics.filter(({ messages, rejected }) => messages + rejected === 0).map(({ topic }) => topic);
  const rejected = topics.filter(({ messages, rejected }) => messages === 0 && rejected > 0).map(({ topic }) => topic);
  if (received.length === topics.length) return ok(start, `all ${topics.length} received`);
  const parts = [
    `${received.length} of ${topics.length} received`,
    ...(silent.length === 0 ? [] : [`silent: ${silent.join(', ')}`]),
    ...(rejected.length === 0 ? [] : [`rejected: ${rejected.join(', ')}`]),
  ];
  return notChecked(start, parts.join('; '));
}

/** Whether what came was well formed. Where nothing came, nothing was looked at. */
export function messagesFinding({ topics, complaints }: Pick<TopicsSeen, 'topics' | 'complaints'>): Finding {
  const about = { id: 'messages', title: 'Messages are well formed', spec: null };
  if (complaints.length > 0) {
    const detail = complaints.map(({ what, count }) => (count > 1 ? `${what} (${count} times)` : what)).join('; ');
    const remedy = complaints.some(({ what }) => what.includes('sent as text'))
      ? REJECTED_REMEDY
      : 'Check that nothing stands between gateway and chassis, and report the software version.';
    return wrong(about, detail, remedy);
  }
  const count = topics.reduce((sum, { messages }) => sum + messages, 0);
  return count === 0 ? notChecked(about, 'no message received') : ok(about, `no complaint about ${count} messages`);
}
