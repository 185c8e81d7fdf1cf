import { isRecord } from '../../json/index.ts';
import type { StopWire, TunnelNotificationWire } from '../wire.ts';
import { readAnswer } from './answer.ts';
import { readExecution } from './execution.ts';
import { displayText, field, hasOther, matching, textListOf } from './fields.ts';
import { inboundTopicOf, MAX_PAYLOAD_BYTES } from './inbound-topic.ts';
import type { Decision, DiscardReason, GateContext, InboundMessage } from './model.ts';
import { parsePayload } from './payload.ts';

const STOP_ID = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_REASON_CHARACTERS = 200;
const MAX_BY_CHARACTERS = 120;

/**
 * A stop; null for anything that is not one. The id alone makes it a stop: every other field is dropped or shortened
 * where it is unusable, because a missed stop is dangerous and a needless one is not.
 */
function readStop(value: unknown): StopWire | null {
  if (!isRecord(value)) return null;
  const id = matching(field(value, 'id'), STOP_ID);
  if (id === null) return null;
  const reason = displayText(field(value, 'reason'), MAX_REASON_CHARACTERS);
  const by = displayText(field(value, 'by'), MAX_BY_CHARACTERS);
  return { id, ...(reason && { reason }), ...(by && { by }) };
}

const names = ['clientAccessToken', 'clientMode', 'region', 'services'];

const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const NAME = /^[A-Za-z0-9-]{1,64}$/;
/** @source vendor (HINWEIS) */
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
/**
 * A notification of the tunnel service. An unknown field is refused, since it could change what is asked for. Any number of
 * services passes, so that the receiver can record a request for none or too many.
 */
function readNotification(value: unknown): TunnelNotificationWire | 'wrong-type' | 'unknown-field' {
  if (!isRecord(value)) return 'wrong-type';
  const clientAccessToken = matching(field(value, 'clientAccessToken'), TOKEN);
  const clientMode = matching(field(value, 'clientMode'), NAME);
  const region = matching(field(value, 'region'), NAME);
  const services = textListOf(field(value, 'services') ?? [], SERVICE);
  if (clientAccessToken === null || clientMode === null || region === null || services === null) return 'wrong-type';
  if (hasOther(value, names)) return 'unknown-field';
  return { clientAccessToken, clientMode, region, services };
}

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
