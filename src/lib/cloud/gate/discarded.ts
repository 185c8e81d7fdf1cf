import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Topics } from '../topics.ts';
import { displayText } from './fields.ts';
import { type DiscardedMessage, type DiscardReason, discardReasons, type InboundMessage } from './model.ts';

const MAX_KEPT = 50;
/** Longest topic of MQTT services in practice; a longer one is shortened. */
const MAX_TOPIC_CHARACTERS = 256;

export interface Discarded {
  add(reason: DiscardReason, message: InboundMessage): void;
  /** Numbers since the start of gw. */
  counts(): Readonly<Record<DiscardReason, number>>;
  /** Newest first. */
  last(): readonly DiscardedMessage[];
}

/**
 * Counts, lists and logs discarded messages without their payloads, which may hold an access token or a pre-signed URL.
 * A full list drops the oldest message of the reason that has most, so that a flood of one kind hides no other.
 */
export function createDiscarded({
  clock,
  log,
  topics,
}: {
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
  readonly topics: Pick<Topics, 'stop'>;
}): Discarded {
  const counts = Object.fromEntries(discardReasons.map((reason) => [reason, 0])) as Record<DiscardReason, number>;
  /** Oldest first. */
  let kept: DiscardedMessage[] = [];

  return {
    add(reason, { topic, payload, retain, oversizedBytes }) {
      counts[reason] += 1;
      const bytes = oversizedBytes ?? payload.length;
      const shown = displayText(topic, MAX_TOPIC_CHARACTERS) ?? '';
      kept.push({ reason, topic: shown, bytes, at: clock.wall().toISOString() });
      if (kept.length > MAX_KEPT) kept = withoutOldestOf(kept, commonestReason(kept));
      const fields = { reason, topic: shown, bytes };
      // An event of its own, so that other discarded messages do not fold it away.
      if (topic === topics.stop && !retain) log.warn(fields, 'message on the stop topic discarded');
      else if (reason === 'empty-queue') log.info(fields, 'message from the cloud discarded: no release is queued');
      else log.warn(fields, 'message from the cloud discarded');
    },
    counts: () => ({ ...counts }),
    last: () => kept.toReversed(),
  };
}

function commonestReason(messages: readonly DiscardedMessage[]): DiscardReason | undefined {
  const numberOf = (reason: DiscardReason) => messages.filter((message) => message.reason === reason).length;
  return discardReasons.toSorted((a, b) => numberOf(b) - numberOf(a))[0];
}

function withoutOldestOf(messages: readonly DiscardedMessage[], reason: DiscardReason | undefined): DiscardedMessage[] {
  return messages.toSpliced(
    messages.findIndex((message) => message.reason === reason),
    1,
  );
}
