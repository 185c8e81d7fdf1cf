import type { StoredMessage } from '../store/model.ts';
import type { PackedMessages } from './messages.ts';

/** For a message between the threads. */
export function packMessages(messages: readonly StoredMessage[]): PackedMessages {
  const lengths = messages.map(({ payload }) => payload.byteLength);
  const payloads = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { payload } of messages) {
    payloads.set(payload, at);
    at += payload.byteLength;
  }
  return { keys: messages.map(({ key }) => key), topics: messages.map(({ topic }) => topic), lengths, payloads };
}

/** The inverse of `packMessages`; the payloads share their buffer. */
export function unpackMessages({ keys, topics, lengths, payloads }: PackedMessages): StoredMessage[] {
  let at = 0;
  return keys.map((key, index) => {
    const from = at;
    at += lengths[index] ?? 0;
    return { key, topic: topics[index] ?? '', payload: payloads.subarray(from, at) };
  });
}
