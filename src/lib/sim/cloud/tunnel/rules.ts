import type { TunnelMessage, TunnelMessageType } from '../../../tunnel/wire.ts';

/** A side of a tunnel. */
export type Side = 'source' | 'destination';

/** @source vendor (HINWEIS) */
export const MAX_PAYLOAD_BYTES = 64_512;
/** The service accepts and sends no longer WebSocket message. @source vendor (HINWEIS) */
export const MAX_MESSAGE_BYTES = 131_076;

/** Which side may send what; the other types come from the service. @source vendor (HINWEIS) */
const senders: Readonly<Partial<Record<TunnelMessageType, readonly Side[]>>> = {
  'stream-start': ['source'],
  'connection-start': ['source'],
  data: ['source', 'destination'],
  'connection-reset': ['source', 'destination'],
  'stream-reset': ['source', 'destination'],
};

/** What the service knows of the streams of a connection. */
export interface StreamState {
  /** Services of which this connection has sent or received a STREAM_START; '' for one without a service. */
  readonly started: ReadonlySet<string>;
  /** Whether the last one had no service id: then no other message of the session may have one. */
  readonly isWithoutService: boolean;
}

/**
 * Why the service closes the connection of a client after this message; null: it relays the message. A message before a
 * start, without a connection id where its type needs one, or of an unknown type is a project decision where the vendor
 * names only DATA.
 */
export function violation(
  from: Side,
  message: TunnelMessage,
  { started, isWithoutService }: StreamState,
): string | null {
  const { type, typeNumber, streamId, ignorable, payload, serviceId, connectionId } = message;
  if (type === 'unknown') {
    if (typeNumber === 0) return 'a message without a type';
    return ignorable ? null : `a message of the unknown type ${typeNumber}`;
  }
  if (!senders[type]?.includes(from)) return `${nameOf(type)} from the ${from}`;
  if (streamId <= 0) return `${nameOf(type)} with the stream id ${streamId}`;
  if (payload.length > MAX_PAYLOAD_BYTES) return `a payload of ${payload.length} bytes`;
  if (isWithoutService && serviceId !== '') {
    return `${nameOf(type)} with a service id after a STREAM_START without one`;
  }
  const needsStart = type === 'data' || type === 'connection-start';
  if (needsStart && !started.has(serviceId)) return `${nameOf(type)} before a STREAM_START of its service`;
  if (type === 'connection-start' && connectionId === 0) return 'CONNECTION_START without a connection id';
  return null;
}

function nameOf(type: TunnelMessageType): string {
  return type.toUpperCase().replaceAll('-', '_');
}
