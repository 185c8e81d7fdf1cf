import { z } from 'zod';
import type { Topics } from '../topics.ts';
import type {
  JobExecutionWire,
  RejectedWire,
  ShadowAcceptedWire,
  StorageAnswerWire,
  TunnelNotificationWire,
} from '../wire.ts';

/** A received PUBLISH packet. */
export interface InboundMessage {
  readonly topic: string;
  /** Empty for an oversized message, whose payload is not kept. */
  readonly payload: Uint8Array;
  readonly retain: boolean;
  /** The broker has sent it before; that does not say whether the first delivery arrived. */
  readonly dup: boolean;
  /** The same in every delivery of a message, and later that of other messages; null: of QoS 0. */
  readonly packetId: number | null;
  /** Size of the payload on the wire when it was above the limit; null: not oversized. */
  readonly oversizedBytes: number | null;
}

/** What the gate makes of a message. Nothing else of the payload reaches the rest of gw. */
export type Decision =
  | { readonly kind: 'release'; readonly execution: JobExecutionWire }
  | {
      readonly kind: 'stop';
      readonly stop: ReceivedStop;
      readonly form: StopForm;
      /** What a retained copy is recognised by: SHA-256 of the payload, or `bytes-N` of one that was not kept. */
      readonly content: string;
      /** What a redelivery is recognised by: packet identifier and content; null: of QoS 0, never redelivered. */
      readonly delivery: string | null;
      /** An earlier stop had this content: retained, the one could not be distinguished from the other. */
      readonly isContentKnown: boolean;
    }
  | {
      readonly kind: 'tunnel-notification';
      readonly notification: TunnelNotificationWire;
      /** One with this access token was received before. Its receiver refuses it, so that the refusal is recorded. */
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'answer'; readonly clientToken: string; readonly answer: Answer }
  | {
      readonly kind: 'discard';
      readonly reason: DiscardReason;
      /** What a repeated stop was recognised by; absent: it is none. */
      readonly repeats?: string;
    };

/** What was readable of a stop. */
export interface ReceivedStop {
  /** null: it has none of the documented form. */
  readonly id: string | null;
  readonly reason?: string;
  readonly by?: string;
}

/** How a stop came: as docs/cloud.md describes it, or what of that it lacks. For the log. */
export type StopForm = 'documented' | 'no-id' | 'empty' | 'not-json' | 'too-deep' | 'oversized';

/** The answer to a request of this gateway. */
export type Answer =
  | { readonly kind: 'job'; readonly execution: JobExecutionWire | null }
  | { readonly kind: 'job-updated' }
  | { readonly kind: 'shadow'; readonly version: ShadowAcceptedWire['version'] }
  | { readonly kind: 'storage'; readonly storage: Omit<StorageAnswerWire, 'clientToken'> }
  | { readonly kind: 'rejected'; readonly rejected: Pick<RejectedWire, 'code' | 'message'> };

/** Why a message is discarded; the table with each answer is in docs/cloud.md. */
export const discardReasons = [
  'retained',
  'oversized',
  'misaddressed',
  'not-json',
  'too-deep',
  'wrong-type',
  'unknown-field',
  'duplicate',
  'not-asked-for',
  'late',
  'empty-queue',
] as const;
export type DiscardReason = (typeof discardReasons)[number];

/** A discarded message, without its payload. */
export const discardedMessageSchema = z.strictObject({
  reason: z.enum(discardReasons),
  topic: z.string(),
  bytes: z.number(),
  at: z.string().describe('UTC of the gateway, for people.'),
});
export type DiscardedMessage = Readonly<z.infer<typeof discardedMessageSchema>>;

/** What the gate knows besides the message. The functions are lookups without effect. */
export interface GateContext {
  readonly serial: string;
  readonly topics: Topics;
  /** The request of this gateway that carries this client token; null: none is known. */
  readonly requestOf: (clientToken: string) => OwnRequest | null;
  /** Whether a stop with this content was accepted before, also before a restart. */
  readonly hasSeenStop: (content: string) => boolean;
  /** Whether this delivery of a stop was accepted before, and the broker may not know that yet. */
  readonly hasSeenDelivery: (delivery: string) => boolean;
  /** The same for a notification with this access token. */
  readonly hasSeenNotification: (clientAccessToken: string) => boolean;
  /** Whether this job execution was offered as a release since the start of gw. */
  readonly hasSeenExecution: (jobId: string, executionNumber: number) => boolean;
}

/** A request of this gateway, as long as its client token is remembered. */
export interface OwnRequest {
  readonly kind: RequestKind;
  /** Topic of the request; its answers come on topics below it. */
  readonly topic: string;
  /** 'ended': it timed out, was aborted or lost its connection. */
  readonly state: 'pending' | 'answered' | 'ended';
}

/** Kinds of requests that are answered on a subscribed topic. */
export type RequestKind = 'job-start' | 'job-get' | 'job-update' | 'shadow-update' | 'storage';

/** Sends a request with a client token and waits for its answer. */
export interface Requester {
  /**
   * Rejects with CLOUD_NOT_CONNECTED without a connection or when it ends, CLOUD_NO_ANSWER after the timeout. A
   * rejection by the service is an answer of kind 'rejected'.
   */
  ask(request: CloudRequest, options: { readonly timeoutMs?: number; readonly signal: AbortSignal }): Promise<Answer>;
}

export interface CloudRequest {
  readonly kind: RequestKind;
  readonly topic: string;
  /** Without `clientToken`, which the requester adds. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Whether accepted stops and notifications are recognised after a restart. */
export const seenViewSchema = z.strictObject({
  status: z.enum(['saved', 'saving', 'failing', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
});
export type SeenView = Readonly<z.infer<typeof seenViewSchema>>;
