import type { LocalConnection } from '../link/index.ts';
import type { TunnelMessage } from '../wire.ts';

/** Format of the messages of one stream. */
export type ProtocolVersion = 1 | 2 | 3;

/** The stream that is active for one service. */
export interface Stream {
  readonly service: string;
  readonly streamId: number;
  /** Learnt from its STREAM_START. */
  readonly version: ProtocolVersion;
  /** By connection id; always 1 in the versions 1 and 2, which have none. */
  readonly connections: Map<number, LocalConnection>;
}

/** The version whose format a STREAM_START has. @source vendor (HINWEIS) */
export function versionOf({ serviceId, connectionId }: TunnelMessage): ProtocolVersion {
  if (connectionId > 0) return 3;
  return serviceId === '' ? 1 : 2;
}

/** The ids of a stream and one of its connections, in the format of its version. */
export function idsOf(
  { streamId, service, version }: Pick<Stream, 'streamId' | 'service' | 'version'>,
  connectionId: number,
): Pick<TunnelMessage, 'streamId' | 'serviceId' | 'connectionId'> {
  return {
    streamId,
    serviceId: version === 1 ? '' : service,
    connectionId: version === 3 ? connectionId : 0,
  };
}

/** The own service that a message names; version 1 names none, which needs exactly one. */
export function serviceOf({ serviceId }: TunnelMessage, services: readonly string[]): string | undefined {
  if (serviceId === '') return services.length === 1 ? services[0] : undefined;
  return services.includes(serviceId) ? serviceId : undefined;
}

/** A message without a connection id means the connection 1. @source vendor (HINWEIS) */
export function connectionIdOf({ connectionId }: TunnelMessage): number {
  return connectionId === 0 ? 1 : connectionId;
}

export function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const [a, b] = [new Set(some), new Set(others)];
  return a.size === b.size && [...a].every((each) => b.has(each));
}
