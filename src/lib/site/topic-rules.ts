import type { Report } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { defaultTemplates, resolveTemplate, SERIAL_ELEMENT, type TopicKey, topicKeys, usesOf } from './topic-uses.ts';

/** Limit of a common MQTT service. @source vendor, quota page (HINWEIS) */
const MAX_TOPIC_BYTES = 256;
/** A job id of the greatest length. @source vendor (HINWEIS) */
const LONGEST_JOB_ID = 'j'.repeat(64);

/** First elements with a meaning of their own in the protocol or in brokers. */
const reservedStarts = ['$share', '$queue', '$SYS', '$delayed', '$exclusive'];

/** How people write the place of a serial number by mistake. */
const MEANT_SERIAL =
  /^[<{[(%$:]*(serial([-_ ]?(no|number))?|sn|thing([-_ ]?name)?|client[-_ ]?id|device([-_ ]?id)?)[>}\])%]*$/i;

/**
 * The topics of one robot: no topic of one key may match one of another key, because a message on it would have two
 * meanings, or gw would receive what it publishes.
 */
export function checkTopics({ cloud, chassis }: Record<string, unknown>, report: Report): void {
  if (!isRecord(cloud) || !isRecord(cloud.topics)) return;
  const { topics } = cloud;
  const serial = isRecord(chassis) && typeof chassis.serial === 'string' ? chassis.serial : SERIAL_ELEMENT;
  const given = topicKeys.filter((key) => typeof topics[key] === 'string');
  const templateOf = (key: TopicKey) => (given.includes(key) ? String(topics[key]) : defaultTemplates[key]);
  const topicsOf = (key: TopicKey) => {
    const start = resolveTemplate(templateOf(key), serial);
    return usesOf(key).map((appended) => `${start}${appended}`);
  };

  for (const key of given) {
    const path = ['cloud', 'topics', key];
    const elements = templateOf(key).split('/');
    if (!elements.includes(SERIAL_ELEMENT)) {
      const suggestion = withSerial(elements, serial);
      report(path, { expected: `a topic with ${SERIAL_ELEMENT} as one path element`, suggestion });
      continue;
    }
    if (reservedStarts.includes(elements[0] ?? '')) {
      report(path, { expected: `a topic that does not start with ${elements[0]}, which brokers reserve` });
      continue;
    }
    const clash = clashOf(
      key,
      topicsOf,
      (other) => !given.includes(other) || topicKeys.indexOf(other) < topicKeys.indexOf(key),
    );
    if (clash !== null) {
      report(path, { expected: `topics of its own: ${clash.topic} belongs to cloud.topics.${clash.other} too` });
    }
    const longest = Math.max(...topicsOf(key).map(bytesOf));
    if (longest > MAX_TOPIC_BYTES) {
      const expected = `a shorter template: with the serial number and what gw appends it has ${longest} bytes, at most ${MAX_TOPIC_BYTES} are allowed`;
      report(path, { expected });
    }
  }
}

/** The first other key with a topic that matches one of this key. */
function clashOf(
  key: TopicKey,
  topicsOf: (key: TopicKey) => readonly string[],
  isCompared: (other: TopicKey) => boolean,
): { readonly other: TopicKey; readonly topic: string } | null {
  const own = topicsOf(key);
  for (const other of topicKeys) {
    if (other === key || !isCompared(other)) continue;
    const topic = topicsOf(other).find((theirs) => own.some((mine) => canMatch(mine, theirs)));
    if (topic !== undefined) return { other, topic };
  }
  return null;
}

/** Whether a topic exists that both match; `+` matches one path element. */
export function canMatch(a: string, b: string): boolean {
  const [left, right] = [a.split('/'), b.split('/')];
  return (
    left.length === right.length &&
    left.every((element, at) => element === '+' || right[at] === '+' || element === right[at])
  );
}

function bytesOf(topic: string): number {
  return Buffer.byteLength(topic.replace('+', LONGEST_JOB_ID));
}

/** The template as it was probably meant; undefined where no element looks like a serial number. */
function withSerial(elements: readonly string[], serial: string): string | undefined {
  const at = elements.findIndex((element) => element === serial || element === '+' || MEANT_SERIAL.test(element));
  return at < 0 ? undefined : elements.with(at, SERIAL_ELEMENT).join('/');
}
