/**
 * Shapes of the tunnel protocol, protocol version 3, without any code that encodes or decodes them.
 * @source vendor (HINWEIS): the specification shows nothing of it
 */

/** `type` of a message. */
export type TunnelMessageType =
  | 'unknown'
  | 'data'
  | 'stream-start'
  | 'stream-reset'
  | 'session-reset'
  | 'service-ids'
  | 'connection-start'
  | 'connection-reset';

/** One message of the tunnel. Absent on the wire is 0 or empty here. */
export interface TunnelMessage {
  /** The number of an unknown type stays in `typeNumber`. */
  readonly type: TunnelMessageType;
  readonly typeNumber: number;
  /** Of the stream, above 0 in every message of a stream. */
  readonly streamId: number;
  /** A receiver that does not know `type` may leave the message out. */
  readonly ignorable: boolean;
  /** At most 64,512 bytes. */
  readonly payload: Uint8Array;
  /** Empty in version 1. */
  readonly serviceId: string;
  readonly availableServiceIds: readonly string[];
  /** 0 in the versions 1 and 2. */
  readonly connectionId: number;
}
