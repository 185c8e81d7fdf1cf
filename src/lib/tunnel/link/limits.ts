/** Limits of the proxy. All project decisions but the longest payload; tests pass smaller ones. */
export interface ProxyLimits {
  /** Bytes of one DATA message to the service: small, so that connections take turns often. At most 64,512. */
  readonly chunkBytes: number;
  /** Bytes read from one local connection that wait for the WebSocket. */
  readonly readAheadBytes: number;
  /** Above it no local connection is read; below half of it they are read again. */
  readonly unsentPauseBytes: number;
  /** What a connection that had nothing to send for a moment may send before the others. */
  readonly creditBytes: number;
  /** Above it the service reads nothing while it makes us answer: the WebSocket is given up. */
  readonly unsentMaxBytes: number;
  /** Bytes that wait for one local connection; above it that connection is reset. */
  readonly queueBytes: number;
  /** Bytes that wait for all local connections; above it the connection with the longest queue is reset. */
  readonly queueTotalBytes: number;
  readonly connectionsPerService: number;
  readonly connectionsTotal: number;
  /** How long nothing is read from the WebSocket for connections of which half a limit waits; then they are reset. */
  readonly holdMs: number;
  /** Timeout of a local connection attempt. */
  readonly connectMs: number;
  /** How long a local connection that the technician has closed may take to accept what waits for it. */
  readonly flushMs: number;
}

export const proxyLimits: ProxyLimits = {
  chunkBytes: 32 * 1024,
  readAheadBytes: 32 * 1024,
  unsentPauseBytes: 128 * 1024,
  creditBytes: 256 * 1024,
  unsentMaxBytes: 8 * 1024 * 1024,
  queueBytes: 2 * 1024 * 1024,
  queueTotalBytes: 8 * 1024 * 1024,
  connectionsPerService: 128,
  connectionsTotal: 256,
  holdMs: 5_000,
  connectMs: 5_000,
  flushMs: 5_000,
};

/** Memory of a queued piece of data beside its bytes: many small pieces must not escape the limits. */
export const PIECE_OVERHEAD_BYTES = 512;
