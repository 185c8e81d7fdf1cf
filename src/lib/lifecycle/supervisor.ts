import { asGwError } from '../error/index.ts';
import { type BackoffOptions, createBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Service, ServiceHealth, ServiceStatus } from './service.ts';

export type SupervisorEvent =
  | { readonly kind: 'started'; readonly name: string; readonly detail: string; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly name: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly kind: 'stopped'; readonly name: string; readonly tookMs: number }
  | { readonly kind: 'stop-failed'; readonly name: string; readonly error: unknown };

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly onEvent: (event: SupervisorEvent) => void;
  readonly backoff?: BackoffOptions;
  /** How long one service may take to stop before the next one is asked, in milliseconds. */
  readonly stopDeadlineMs?: number;
}

interface Row {
  readonly service: Service;
  status: ServiceStatus;
  restarts: number;
  lastError: string | null;
  /** Which life of the service is current; a failure reported by an earlier life is ignored. */
  life: number;
  ending: AbortController;
}

const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 250, mostMs: 30_000 };

/**
 * Starts services in the given order and stops them in reverse. A failure at the first start is an error of the
 * whole start (the ones before it are stopped again); a failure later restarts that one service with backoff and
 * leaves the others alone.
 */
export function createSupervisor(services: readonly Service[], options: SupervisorOptions) {
  const { clock, onEvent } = options;
  const stopDeadlineMs = options.stopDeadlineMs ?? 1_500;
  const rows: Row[] = services.map((service) => ({
    service,
    status: 'waiting',
    restarts: 0,
    lastError: null,
    life: 0,
    ending: new AbortController(),
  }));
  const over = new AbortController();
  const recoveries = new Set<Promise<void>>();
  let stopping: Promise<void> | undefined;

  async function startRow(row: Row, signal: AbortSignal): Promise<void> {
    const life = ++row.life;
    row.ending = new AbortController();
    row.status = 'starting';
    const began = clock.monotonicMs();
    await row.service.start({
      signal: AbortSignal.any([signal, row.ending.signal]),
      fail: (error) => {
        if (row.life === life && row.status === 'running') recover(row, error);
      },
    });
    row.status = 'running';
    onEvent({
      kind: 'started',
      name: row.service.name,
      detail: row.service.describe?.() ?? '',
      tookMs: clock.monotonicMs() - began,
    });
  }

  function recover(row: Row, firstError: unknown): void {
    const backoff = createBackoff(options.backoff ?? DEFAULT_BACKOFF, clock);
    const run = async (): Promise<void> => {
      let error = firstError;
      while (!over.signal.aborted) {
        row.status = 'restarting';
        row.restarts += 1;
        row.lastError = asGwError(error).message;
        const retryInMs = backoff.nextMs();
        onEvent({ kind: 'failed', name: row.service.name, error, retryInMs });
        await stopRow(row, 'restarting');
        try {
          await clock.sleep(retryInMs, over.signal);
          await startRow(row, over.signal);
          return;
        } catch (next) {
          error = next;
        }
      }
    };
    const recovery = run().finally(() => recoveries.delete(recovery));
    recoveries.add(recovery);
  }

  async function stopRow(row: Row, next: ServiceStatus): Promise<void> {
    const began = clock.monotonicMs();
    row.ending.abort();
    try {
      await withDeadline(row.service.stop(), stopDeadlineMs, clock);
      if (next === 'stopped') {
        onEvent({ kind: 'stopped', name: row.service.name, tookMs: clock.monotonicMs() - began });
      }
    } catch (error) {
      onEvent({ kind: 'stop-failed', name: row.service.name, error });
    }
    row.status = next;
  }

  async function stopAll(): Promise<void> {
    over.abort();
    await Promise.all(recoveries);
    for (const row of rows.toReversed()) {
      if (row.status === 'waiting' || row.status === 'stopped') continue;
      row.status = 'stopping';
      await stopRow(row, 'stopped');
    }
  }

  return {
    /** Resolves when every service runs. Rejects with the first error after undoing what was started. */
    async start(signal: AbortSignal): Promise<void> {
      for (const row of rows) {
        try {
          signal.throwIfAborted();
          await startRow(row, AbortSignal.any([signal, over.signal]));
        } catch (error) {
          await this.stop();
          throw error;
        }
      }
    },
    stop(): Promise<void> {
      stopping ??= stopAll();
      return stopping;
    },
    health(): ServiceHealth[] {
      return rows.map(({ service, status, restarts, lastError }) => ({
        name: service.name,
        status,
        restarts,
        lastError,
        detail: service.describe?.() ?? '',
      }));
    },
  };
}

export type Supervisor = ReturnType<typeof createSupervisor>;

async function withDeadline(work: Promise<void>, ms: number, clock: Clock): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => reject(new Error(`did not stop within ${ms} ms`)));
  await Promise.race([work, late]);
}
