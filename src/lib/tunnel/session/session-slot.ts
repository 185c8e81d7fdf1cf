import type { Clock } from '../../lifecycle/index.ts';
import type { SupportOptions } from '../model.ts';
import type { EndReason } from '../records/schema.ts';
import { checkNotification } from './check.ts';
import type { Waiting } from './notification-queue.ts';
import type { Outcomes } from './recording/outcomes.ts';
import { createRecordLimit } from './recording/record-limit.ts';
import type { RecordWriter } from './recording/record-writer.ts';
import { beginSession, type Session } from './session.ts';
import { type Refusal, refuse } from './state.ts';

/** So long after such an end, a notification may be the rotation that caused it. Project decision. */
const ROTATION_WITHIN_MS = 10_000;
/** How a rotation ends the session when its proxy notices it before the notification arrives. */
const reasons: ReadonlySet<EndReason> = new Set(['token-refused', 'closed-by-cloud']);

export interface SessionSlotOptions extends Pick<SupportOptions, 'site' | 'program' | 'clock' | 'log'> {
  readonly writer: Pick<RecordWriter, 'start' | 'hasToken'>;
  readonly outcomes: Outcomes;
  /** Why no session may begin now, whatever the notification says; null: one may. */
  refusalByState(): Refusal | null;
}

/** The place of the one session that may run: a notification that passes all checks replaces the session there. */
export function createSessionSlot(options: SessionSlotOptions) {
  const { site, program, clock, log, writer, outcomes, refusalByState } = options;
  const { keepRefusal, keepEnd } = outcomes;
  const tunnel = site.cloud?.tunnel;
  const starts = createRecordLimit(clock);
  const lateRotation = createLateRotation(clock);
  let session: Session | null = null;

  async function follow(current: Session): Promise<void> {
    const result = await current.done;
    if (session === current) session = null;
    if (typeof result === 'object') keepRefusal(result);
    else lateRotation.ended(result, current.untilMs);
  }

  return {
    /** The one that runs, also before its start is recorded; null: none. */
    get session(): Session | null {
      return session;
    },

    /** Begins the session of a notification, or refuses it. Not to be called again before it has resolved. */
    async handle(item: Waiting): Promise<void> {
      const expected = { region: site.cloud?.region ?? '', services: tunnel?.services ?? null };
      const isSeen = item.isRepeated || writer.hasToken(item.notified.token.hash);
      const refusal = refusalByState() ?? checkNotification(item.notified, { ...expected, isSeen });
      if (refusal !== null || tunnel === undefined) {
        if (refusal !== null) keepRefusal(refuse(item.notified, refusal));
        return;
      }
      if (starts.admit() === null) {
        const detail = 'Too many sessions began within a short time; wait a minute.';
        return keepRefusal(refuse(item.notified, { reason: 'not-recorded', detail }));
      }
      const id = crypto.randomUUID();
      let untilMs = lateRotation.limit(clock.monotonicMs() + tunnel.maxMinutes * 60_000);
      let replaces: string | null = null;
      const before = session;
      if (before !== null && before.view() !== null) {
        // The clock goes on: the cloud cannot extend a session by rotating its token.
        untilMs = Math.min(untilMs, before.untilMs);
        void before.end({ reason: 'replaced', detail: `Replaced by session ${id}.` });
        replaces = (await before.done) === 'replaced' ? before.id : null;
        const late = refusalByState();
        if (late !== null) return keepRefusal(refuse(item.notified, late));
      }
      const { host, port, subprotocol } = tunnel;
      const settings = { host, port, subprotocol, caFile: site.cloud?.caFile ?? null };
      const next = beginSession({
        id,
        notified: item.notified,
        untilMs,
        replaces,
        program,
        settings,
        writer: { start: writer.start, keep: keepEnd },
        clock,
        log,
      });
      session = next;
      if (item.cause !== null) void next.end(item.cause);
      void follow(next);
      await next.begun;
    },
  };
}

/**
 * Keeps the deadline of a session that a rotation may have ended. A notification does not name its tunnel, so a new tunnel
 * looks the same: within the time for it, it gets the deadline of the session before, and later one of its own.
 */
function createLateRotation(clock: Pick<Clock, 'monotonicMs'>) {
  let last: { readonly untilMs: number; readonly endedMs: number } | null = null;
  return {
    ended(reason: EndReason, untilMs: number): void {
      last = reasons.has(reason) ? { untilMs, endedMs: clock.monotonicMs() } : null;
    },
    /** The deadline of a session that would otherwise end at `untilMs`. */
    limit(untilMs: number): number {
      if (last === null || clock.monotonicMs() - last.endedMs > ROTATION_WITHIN_MS) return untilMs;
      return Math.min(untilMs, last.untilMs);
    },
  };
}
