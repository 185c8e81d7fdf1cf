import { isRecord } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import { displayText, field, matching } from './fields.ts';
import { MAX_PAYLOAD_BYTES } from './inbound-topic.ts';
import type { Decision, GateContext, InboundMessage, ReceivedStop, StopForm } from './model.ts';
import { parsePayload } from './payload.ts';

const STOP_ID = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_REASON_CHARACTERS = 200;
const MAX_BY_CHARACTERS = 120;

const repeated = (repeats: string): Decision => ({ kind: 'discard', reason: 'duplicate', repeats });

/**
 * Whatever comes on the stop topic of this robot is a stop: the specification does not show its payload, a missed stop is
 * dangerous, and a needless one is not. Only a message of which the broker itself says that it may be an old one is
 * discarded, where it was received before: a retained one with its content, or a redelivery (DUP) of it under the packet
 * identifier of the earlier delivery. A new message always stops, since no id and no content of a foreign sender is sure
 * to be another one for the next stop.
 *
 * @source MQTT 3.1.1, 3.3.1.1, 3.3.1.3, 4.4
 */
export function decideStop(message: InboundMessage, { serial, hasSeenStop, hasSeenDelivery }: GateContext): Decision {
  const content = contentOf(message);
  const delivery = message.packetId === null ? null : `${message.packetId}-${content}`;
  const isContentKnown = hasSeenStop(content);
  if (message.dup && delivery !== null && hasSeenDelivery(delivery)) return repeated(delivery);
  if (message.retain && isContentKnown) return repeated(content);
  return { kind: 'stop', ...readStop(message, serial), content, delivery, isContentKnown };
}

/** Of a payload that is too large to be kept its size stands for it, so that the stop does not wait for its end. */
function contentOf({ payload, oversizedBytes }: InboundMessage): string {
  return oversizedBytes === null ? sha256(payload) : `bytes-${oversizedBytes}`;
}

/** What can be read of a stop; every field that is unusable is dropped or shortened. */
function readStop(
  { payload, oversizedBytes }: InboundMessage,
  serial: string,
): { readonly stop: ReceivedStop; readonly form: StopForm } {
  const unread = (form: StopForm) => ({ stop: { id: null }, form });
  if (oversizedBytes !== null || payload.length > MAX_PAYLOAD_BYTES.stop) return unread('oversized');
  if (payload.length === 0) return unread('empty');
  const parsed = parsePayload(payload);
  if (!parsed.ok) return unread(parsed.reason);
  const { value } = parsed;
  if (!isRecord(value)) return unread('no-id');
  const given = matching(field(value, 'id'), STOP_ID);
  // The serial number names the robot, not the stop.
  const id = given === serial ? null : given;
  const reason = displayText(field(value, 'reason'), MAX_REASON_CHARACTERS);
  const by = displayText(field(value, 'by'), MAX_BY_CHARACTERS);
  return { stop: { id, ...(reason && { reason }), ...(by && { by }) }, form: id === null ? 'no-id' : 'documented' };
}
