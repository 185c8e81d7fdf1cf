import { isRecord } from '../../json/index.ts';
import { readAnswer } from './answer.ts';
import { readExecution } from './execution.ts';
import { field } from './fields.ts';
import { inboundTopicOf, MAX_PAYLOAD_BYTES } from './inbound-topic.ts';
import type { Decision, DiscardReason, GateContext, InboundMessage } from './model.ts';
import { readNotification } from './notification.ts';
import { parsePayload } from './payload.ts';
import { readStop } from './stop.ts';

/** States in which a release can be offered; all others are an end. */
const offered: readonly string[] = ['QUEUED', 'IN_PROGRESS'];

/**
 * Decides what a received message is. Nothing else reads foreign payloads, and everything else acts on its result only:
 * a release, a stop, a tunnel notification, the answer to a request of this gateway, or nothing. Never throws.
 * The table of all decisions is in docs/cloud.md, 'What gw accepts'.
 * @source specification, 'Core network rule' 3
 */
export function decide(message: InboundMessage, context: GateContext): Decision {
  // A retained message is of an unknown time in the past.
  if (message.retain) return discard('retained');
  const topic = inboundTopicOf(message.topic, context.topics);
  if (topic === null) return discard('misaddressed');
  if (message.oversizedBytes !== null || message.payload.length > MAX_PAYLOAD_BYTES[topic.kind]) {
    return discard('oversized');
  }
  const payload = parsePayload(message.payload);
  if (!payload.ok) return discard(payload.reason);
  switch (topic.kind) {
    case 'stop':
      return stopOf(payload.value, context);
    case 'tunnel-notification':
      return notificationOf(payload.value, context);
    case 'notify-next':
      return releaseOf(payload.value, context);
    case 'answer': {
      const read = readAnswer(payload.value, topic, context);
      if (!read.ok) return discard(read.reason);
      return { kind: 'answer', clientToken: read.clientToken, answer: read.answer };
    }
  }
}

function discard(reason: DiscardReason): Decision {
  return { kind: 'discard', reason };
}

function stopOf(value: unknown, { hasSeenStop }: GateContext): Decision {
  const stop = readStop(value);
  if (stop === null) return discard('wrong-type');
  return hasSeenStop(stop.id) ? discard('duplicate') : { kind: 'stop', stop };
}

function notificationOf(value: unknown, { hasSeenNotification }: GateContext): Decision {
  const notification = readNotification(value);
  if (typeof notification === 'string') return discard(notification);
  return { kind: 'tunnel-notification', notification, isRepeated: hasSeenNotification(notification.clientAccessToken) };
}

function releaseOf(value: unknown, { serial, hasSeenExecution }: GateContext): Decision {
  if (!isRecord(value)) return discard('wrong-type');
  const execution = readExecution(field(value, 'execution'), serial);
  if (execution === null) return discard('empty-queue');
  if (typeof execution === 'string') return discard(execution);
  if (!offered.includes(execution.status)) return discard('wrong-type');
  if (hasSeenExecution(execution.jobId, execution.executionNumber)) return discard('duplicate');
  return { kind: 'release', execution };
}
