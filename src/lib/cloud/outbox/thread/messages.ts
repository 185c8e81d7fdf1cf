import type { MessageClass } from '../message-class.ts';
import type { AppendResult, FailureKind, NewMessage, SetAside, StoreState } from '../store/model.ts';

/** What the thread of the outbox does, by name: request and result. Structured clones cross between the threads. */
export interface StoreCalls {
  append: { readonly request: { readonly messages: readonly NewMessage[] }; readonly result: readonly AppendResult[] };
  page: {
    readonly request: {
      readonly class: MessageClass;
      readonly after: number;
      readonly maxMessages: number;
      readonly maxBytes: number;
      /** Id of a record about thinned telemetry, which is made first; null: none. */
      readonly recordId: string | null;
    };
    readonly result: {
      readonly messages: PackedMessages;
      /** Whether the last of them is the last of its class. */
      readonly isEnd: boolean;
      /** Key of the newest message of the class when this was read. */
      readonly newestKey: number;
      /** Key of a record about thinned telemetry that was made; null: none. */
      readonly recordKey: number | null;
    };
  };
  remove: { readonly request: { readonly keys: readonly number[] }; readonly result: null };
  /** A write that changes nothing, to find out whether the disk works. */
  probe: { readonly request: null; readonly result: null };
  /** Ends the thread. */
  close: { readonly request: null; readonly result: null };
}

/** Messages with their payloads in one buffer: many small ones would leave the memory of the process in pieces. */
export interface PackedMessages {
  readonly keys: readonly number[];
  readonly topics: readonly string[];
  /** Lengths of the payloads, one after the other in `payloads`. */
  readonly lengths: readonly number[];
  readonly payloads: Uint8Array<ArrayBuffer>;
}

export type StoreCallName = keyof StoreCalls;

export type StoreRequest = {
  [K in StoreCallName]: {
    readonly ticket: number;
    readonly name: K;
    readonly request: StoreCalls[K]['request'];
    /** Wall clock of the gateway, for records. */
    readonly atMs: number;
  };
}[StoreCallName];

export interface StoreFailure {
  readonly kind: FailureKind;
  /** Message of the error, for a person. */
  readonly text: string;
}

/** One reply to each request, in their order. */
export interface StoreReply {
  readonly ticket: number;
  readonly outcome: { readonly result: StoreCalls[StoreCallName]['result'] } | { readonly failure: StoreFailure };
  /** Null while the database is not open, or its state cannot be read. */
  readonly state: StoreState | null;
  /** A database that was set aside on this request. */
  readonly setAside: SetAside | null;
}
