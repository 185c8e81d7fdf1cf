import { GwError } from '../../error/index.ts';
import { ID_LENGTH, MAX_PAYLOAD_BYTES, MAX_TOPIC_BYTES } from './limits.ts';
import type { OutgoingMessage } from './model.ts';

/** Fields that the envelope adds. */
const ENVELOPE = ['id', 'seq', 'at', 'serial'];
/** Names, punctuation and values of the envelope, without id and serial number. */
const ENVELOPE_BYTES = 96;

/** Checks a message before anything is kept of it, and encodes its body. Throws OUTBOX_REFUSED. */
export function admit({ class: messageClass, topic, body, idField }: OutgoingMessage, serial: string): string {
  const refuse = (why: string): never => {
    throw new GwError(
      'OUTBOX_REFUSED',
      `A message of class ${messageClass} for ${topic.slice(0, MAX_TOPIC_BYTES)}: ${why}.`,
    );
  };
  const topicBytes = Buffer.byteLength(topic);
  if (topicBytes > MAX_TOPIC_BYTES) refuse(`its topic has ${topicBytes} bytes, more than ${MAX_TOPIC_BYTES}`);
  if (topic === '' || /[+#\0]/.test(topic)) refuse('its topic is empty or has a wildcard');
  const taken = (idField === undefined ? ENVELOPE : [idField]).filter((field) => Object.hasOwn(body, field));
  if (taken.length > 0) refuse(`its field ${taken.join(', ')} is one that the outbox adds`);
  const bodyJson = encodeBody(body) ?? refuse('its fields are no JSON values');
  const bytes = Buffer.byteLength(bodyJson) + ENVELOPE_BYTES + ID_LENGTH + Buffer.byteLength(JSON.stringify(serial));
  if (bytes > MAX_PAYLOAD_BYTES) refuse(`its payload has ${bytes} bytes, more than the limit of ${MAX_PAYLOAD_BYTES}`);
  return bodyJson;
}

/** Null for what JSON would change or cannot hold: numbers that are not finite, big integers, circles. */
function encodeBody(body: object): string | null {
  try {
    const text = JSON.stringify(body, (_, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('not finite');
      return value;
    });
    return text?.startsWith('{') ? text : null;
  } catch {
    return null;
  }
}
