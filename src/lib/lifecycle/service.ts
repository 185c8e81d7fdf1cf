/** What a service is told at its start. */
export interface ServiceContext {
  /** Aborted when the service is to end; a start that is under way gives up. */
  readonly signal: AbortSignal;
  /** The service calls this when it dies after its start: it is then stopped and started anew. */
  fail(error: unknown): void;
}

/**
 * A part of the daemon. Making one does nothing; `start` resolves when it truly works (socket bound, file open)
 * or rejects with a coded error; `stop` drains, and may be called twice or without a start.
 */
export interface Service {
  readonly name: string;
  /**
   * What a failure at the first start means. 'refuses' (the default): the whole start fails, as for everything that
   * guards movement or answers a stop. 'is-retried': the others run without it, and it is started again with backoff.
   */
  readonly failedStart?: 'refuses' | 'is-retried';
  start(context: ServiceContext): Promise<void>;
  stop(): Promise<void>;
  /** One line for a person about what it does right now; empty when there is nothing to add. */
  describe?(): string;
}

export type ServiceStatus = 'waiting' | 'starting' | 'running' | 'restarting' | 'stopping' | 'stopped';

export interface ServiceHealth {
  readonly name: string;
  readonly status: ServiceStatus;
  readonly restarts: number;
  /** The last failure, kept after the service runs again, so that a person sees what happened. */
  readonly lastError: string | null;
  /** What a person can do about it; null while the service runs. */
  readonly remedy: string | null;
  readonly detail: string;
}
