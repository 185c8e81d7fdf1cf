import { z } from 'zod';
import type { DeepReadonly } from '../../json/index.ts';
import { type MessageClass, messageClasses } from './message-class.ts';

/** A message as it is given to the outbox, which adds `id`, `seq`, `at` and `serial`. */
export interface OutgoingMessage {
  readonly class: MessageClass;
  readonly topic: string;
  /** Fields of the message; JSON values only. */
  readonly body: Readonly<Record<string, unknown>>;
  /** For topics with a payload of fixed shape: the field that carries the id, in place of the whole envelope. */
  readonly idField?: 'clientToken';
}

/** The outbox: accepted messages survive a crash and a power cut until the broker has acknowledged them. */
export interface Outbox extends AsyncDisposable {
  /**
   * Resolves when the message is durable. Rejects with OUTBOX_REFUSED for a message that is too large or an outbox that
   * is full of messages that may not be thinned, FILE_UNWRITABLE while the disk cannot be written to; then nothing was
   * accepted. While the disk does not answer, messages that it has not been given yet are rejected after 5 s, later ones
   * at once, and those in the open transaction stay pending, since it is not known whether they are kept; only the end of
   * the outbox, or of its thread, rejects them in that state.
   */
  append(message: OutgoingMessage): Promise<{ readonly id: string; readonly seq: number }>;
  /**
   * Publishes the kept messages until the signal is aborted, in the order of their class and age, several at a time,
   * and removes each when it was acknowledged. Resolves after the abort; rejects when the publisher rejects, and with
   * CLOUD_NO_ANSWER when a message got no PUBACK for 30 s. A call waits until an earlier one has ended.
   */
  drain(publisher: Publisher, signal: AbortSignal): Promise<void>;
  view(): OutboxView;
}

/** Publishes with QoS 1. */
export interface Publisher {
  /** Resolves on PUBACK; rejects when the connection ends before. The broker gets the messages in the order of the calls. */
  publish(topic: string, payload: Uint8Array): Promise<void>;
}

export const outboxViewSchema = z.strictObject({
  status: z
    .enum(['open', 'failing', 'not-open'])
    .describe('failing: messages are refused at the moment, because the disk cannot be written to.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  kept: z
    .record(z.enum(messageClasses), z.int())
    .nullable()
    .describe('Messages that the broker has not acknowledged; null: unknown.'),
  bytes: z.number().nullable().describe('Size on the disk; null: unknown.'),
  maxBytes: z.number(),
  oldestAt: z
    .string()
    .nullable()
    .describe('When the oldest kept message was made, UTC of the gateway; null without a kept message.'),
  accepted: z.int().describe('Since the start of gw.'),
  acknowledged: z.int(),
  refused: z.int(),
  thinned: z.int().nullable().describe('Telemetry removed for lack of space, since the file was made; null: unknown.'),
});
export type OutboxView = DeepReadonly<z.infer<typeof outboxViewSchema>>;
