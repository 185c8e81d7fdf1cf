import { asGwError, GwError } from '../error/index.ts';
import { type Clock, systemClock } from './clock.ts';

export type SupervisorEvent =
  | { readonly kind: 'started'; readonly name: string; readonly detail: string; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly name: string; readonly error: unknown; readonly retryInMs: number }
  | { readonly kind: 'stopped'; readonly name: string; readonly tookMs: number }
  | { readonly kind: 'stop-failed'; readonly name: string; readonly error: unknown };

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly onEvent: (event: SupervisorEvent) => void;
  readonly backoff?: BackoffOptions;
  /** Deadline for one service to stop before the next one is stopped, in milliseconds. */
  readonly stopDeadlineMs?: number;
  /** Deadline for all services to stop, in milliseconds. */
  readonly stopAllDeadlineMs?: number;
  /** Max. delay of the start of later services by one that is retried, in milliseconds. */
  readonly maxStartDelayMs?: number;
}

interface Row {
  readonly service: Service;
  readonly backoff: ReturnType<typeof createBackoff>;
  status: ServiceStatus;
  restarts: number;
  lastError: string | null;
  remedy: string | null;
  /** Number of the current start; a failure reported by an earlier start is ignored. */
  life: number;
  runningSinceMs: number;
  ending: AbortController;
}

const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 250, maxMs: 30_000 };
/** Each service gets at least this long to stop, whatever the ones before it took. */
const MIN_STOP_MS = 100;

/**
 * Starts services in the given order and stops them in reverse. A failure at the first start fails the whole start (the
 * services before it are stopped again), unless the service is retried; a later failure restarts only that service, with
 * backoff. A retried service that hangs in its start delays the others by a bounded time. The backoff is reset once a
 * service has run longer than its longest wait.
 */
export function createSupervisor(services: readonly Service[], options: SupervisorOptions) {
  const { clock, onEvent } = options;
  const backoff = options.backoff ?? DEFAULT_BACKOFF;
  const stopDeadlineMs = options.stopDeadlineMs ?? 1_500;
  const stopAllDeadlineMs = options.stopAllDeadlineMs ?? 4_500;
  const maxStartDelayMs = options.maxStartDelayMs ?? 1_500;
  const rows: Row[] = services.map((service) => ({
    service,
    backoff: createBackoff(backoff, clock),
    status: 'waiting',
    restarts: 0,
    lastError: null,
    remedy: null,
    life: 0,
    runningSinceMs: 0,
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
    let early: { readonly error: unknown } | undefined;
    await row.service.start({
      signal: firstOf(signal, row.ending.signal),
      fail: (error) => {
        if (row.life !== life) return;
        if (row.status === 'running') recover(row, error);
        else if (row.status === 'starting') early ??= { error };
      },
    });
    if (early) throw early.error;
    // A stop in the meantime has already skipped this service, so it must not be left running.
    if (over.signal.aborted) {
      await row.service.stop();
      throw new GwError('INTERRUPTED', `Stopped while ${row.service.name} was starting.`);
    }
    row.status = 'running';
    row.remedy = null;
    row.runningSinceMs = clock.monotonicMs();
    onEvent({
      kind: 'started',
      name: row.service.name,
      detail: row.service.describe?.() ?? '',
      tookMs: clock.monotonicMs() - began,
    });
  }

  function recover(row: Row, firstError: unknown): void {
    if (clock.monotonicMs() - row.runningSinceMs > backoff.maxMs) row.backoff.reset();
    row.status = 'restarting';
    const run = async (): Promise<void> => {
      let error = firstError;
      while (!over.signal.aborted) {
        row.status = 'restarting';
        row.restarts += 1;
        const { message, remedy } = asGwError(error);
        [row.lastError, row.remedy] = [message, remedy];
        const retryInMs = row.backoff.nextMs();
        onEvent({ kind: 'failed', name: row.service.name, error, retryInMs });
        await stopRow(row, 'restarting', stopDeadlineMs);
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

  /** Starts a retried service; later services are started whatever its result. */
  async function startWithout(row: Row, signal: AbortSignal): Promise<void> {
    row.runningSinceMs = clock.monotonicMs();
    const begun = startRow(row, signal).catch((error: unknown) => {
      if (!over.signal.aborted) recover(row, error);
    });
    recoveries.add(begun);
    const done = begun.finally(() => recoveries.delete(begun));
    await stoppedInTime(done, maxStartDelayMs, clock).catch(() => {});
  }

  async function stopRow(row: Row, next: ServiceStatus, deadlineMs: number): Promise<void> {
    const began = clock.monotonicMs();
    row.ending.abort();
    try {
      await stoppedInTime(row.service.stop(), deadlineMs, clock);
      if (next === 'stopped') {
        onEvent({ kind: 'stopped', name: row.service.name, tookMs: clock.monotonicMs() - began });
      }
    } catch (error) {
      onEvent({ kind: 'stop-failed', name: row.service.name, error });
    }
    row.status = next;
  }

  async function stopAll(): Promise<void> {
    const untilMs = clock.monotonicMs() + stopAllDeadlineMs;
    const leftMs = () => Math.min(stopDeadlineMs, Math.max(MIN_STOP_MS, untilMs - clock.monotonicMs()));
    over.abort();
    if (recoveries.size > 0) await stoppedInTime(Promise.all(recoveries), leftMs(), clock).catch(() => {});
    for (const row of rows.toReversed()) {
      if (row.status === 'waiting' || row.status === 'stopped') continue;
      row.status = 'stopping';
      await stopRow(row, 'stopped', leftMs());
    }
  }

  return {
    /** Resolves when every service runs but those that are retried. Rejects with the first error after undoing what was started. */
    async start(signal: AbortSignal): Promise<void> {
      const both = firstOf(signal, over.signal);
      for (const row of rows) {
        try {
          both.throwIfAborted();
          await (row.service.failedStart === 'is-retried' ? startWithout : startRow)(row, both);
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
      return rows.map(({ service, status, restarts, lastError, remedy }) => ({
        name: service.name,
        status,
        restarts,
        lastError,
        remedy,
        detail: service.describe?.() ?? '',
      }));
    },
  };
}

async function stoppedInTime(work: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  const done = new AbortController();
  // `sleep` and not `after`, because the process must stay alive until the deadline.
  const late = clock.sleep(ms, done.signal).then(() => {
    throw new GwError('INTERNAL', `Service did not stop within ${Math.round(ms)} ms.`);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    done.abort();
    late.catch(() => {});
  }
}

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

type ServiceStatus = 'waiting' | 'starting' | 'running' | 'restarting' | 'stopping' | 'stopped';

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

interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Waits that were made before; none by default. */
  readonly attempt?: number;
}

/** Exponential backoff up to a limit, with jitter in the upper half, so that a fleet does not retry in step. */
export function createBackoff(options: BackoffOptions, clock: Pick<Clock, 'random'>) {
  let attempt = options.attempt ?? 0;
  return {
    /** The wait before the next attempt, in milliseconds. */
    nextMs(): number {
      const whole = Math.min(options.maxMs, options.firstMs * 2 ** attempt);
      attempt += 1;
      return whole / 2 + clock.random() * (whole / 2);
    },
    /** After a success, or after it has run long enough to count as one. */
    reset(): void {
      attempt = 0;
    },
  };
}

/**
 * Calls `fn` when the signal is aborted, immediately if it already is. Disposing removes the listener, so that a
 * signal that outlives the work keeps no reference to it.
 */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): Disposable {
  if (signal?.aborted) fn();
  else signal?.addEventListener('abort', fn, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', fn) };
}

/** Waits for work, but no longer than the signal; rejects with its reason then, and the work goes on. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _aborted = onAbort(signal, () => reject(signal?.reason));
  return await Promise.race([work, promise]);
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _aborted = onAbort(signal, resolve);
  await promise;
}

/**
 * Aborted with the first of these, for its reason. A signal that outlives the result keeps it while it has a listener, so
 * listeners on it are removed when the work ends (`onAbort`).
 */
export function firstOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Aborted with the signal, or after so many milliseconds with a TimeoutError. */
export function withDeadline(signal: AbortSignal, ms: number, clock: Clock = systemClock): AbortSignal {
  const late = new AbortController();
  clock.after(ms, () => late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
  return firstOf(signal, late.signal);
}
