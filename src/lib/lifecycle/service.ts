/** Passed to a service at its start. */
export interface ServiceContext {
  /** Aborted when the service is to end; a start in progress must end too. */
  readonly signal: AbortSignal;
  /** The service calls this when it fails after its start; it is then restarted. */
  fail(error: unknown): void;
}

/**
 * A part of the daemon. Creating one has no effect; `start` resolves when it works (socket bound, file open) or rejects
 * with a GwError; `stop` drains, and may be called twice or without a start.
 */
export interface Service {
  readonly name: string;
  /**
   * Effect of a failure at the first start. 'refuses' (the default): the whole start fails, as for every service that
   * guards movement or answers a stop. 'is-retried': the others run without it, and it is restarted with backoff.
   */
  readonly failedStart?: 'refuses' | 'is-retried';
  start(context: ServiceContext): Promise<void>;
  stop(): Promise<void>;
  /** One line for a person about its current state; empty when there is nothing to add. */
  describe?(): string;
}

export type ServiceStatus = 'waiting' | 'starting' | 'running' | 'restarting' | 'stopping' | 'stopped';

export interface ServiceHealth {
  readonly name: string;
  readonly status: ServiceStatus;
  readonly restarts: number;
  /** The last failure, kept after the service runs again. */
  readonly lastError: string | null;
  /** What to do about the failure; null while the service runs. */
  readonly remedy: string | null;
  readonly detail: string;
}
