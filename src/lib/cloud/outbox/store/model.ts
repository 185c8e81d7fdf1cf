import type { MessageClass } from '../message-class.ts';

/** A message that is not stored yet. */
export interface NewMessage {
  readonly class: MessageClass;
  readonly topic: string;
  /** JSON object with the fields of the message, without those of the envelope. */
  readonly bodyJson: string;
  /** Field that carries the id in place of the whole envelope; null: the envelope. */
  readonly idField: string | null;
  readonly id: string;
  /** Wall clock of the gateway when it was given to the outbox. */
  readonly atMs: number;
}

/** Its number in its class, or why it was refused. */
export type AppendResult = { readonly seq: number } | { readonly refused: string };

/** A kept message. `key` orders all messages by class and age; it is never used again. */
export interface StoredMessage {
  readonly key: number;
  readonly topic: string;
  readonly payload: Uint8Array;
}

export interface StoreState {
  readonly kept: Readonly<Record<MessageClass, number>>;
  readonly bytes: number;
  readonly oldestAtMs: number | null;
  readonly thinned: number;
}

/** Why a database is used no more: its content is damaged, or it holds messages of another robot. */
export type AsideKind = Extract<FailureKind, 'corrupt' | 'other-robot'>;

/** A database that is used no more. */
export interface SetAside {
  readonly kind: AsideKind;
  readonly path: string;
  readonly reason: string;
  /** Messages of this robot that could still be read and are kept on. */
  readonly salvaged: number;
}

/**
 * 'disk': cannot be written to, may pass. 'corrupt': the content of the file is damaged. 'foreign': made by a newer gw.
 * 'other-robot': a message was made for another one. 'internal': any other error.
 */
export type FailureKind = 'disk' | 'corrupt' | 'foreign' | 'other-robot' | 'internal';
