import { readFile } from 'node:fs/promises';
import type { StepResult } from '../../checklist/index.ts';
import { asGwError, type ErrorCode, type GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';

/** Checks that judge by poses, which arrive late and in bunches where robot and gateway wait for the processor. */
const BY_POSES: ReadonlySet<string | null> = new Set(['chassis probe', 'gateway state', 'tour run']);
/** Expectations on times: those that processes wait for the processor are within them. */
const TIMES: ReadonlySet<string> = new Set([
  'findings[id=latency].verdict',
  'findings[id=topics].verdict',
  'topics[topic=/tracked_pose].rate.value',
  'topics[topic=/tracked_pose].age.value',
  'afterMs',
]);
/** Processes that waited for so long during a step were late themselves, so the times that it found are not of the robot. */
const LATE_MS = 500;
/** A step that is never decided has its last verdict: more of the same shows nothing new. */
const MAX_REPEATS = 10;

/**
 * Why a step is not decided and is measured again; null: its verdict stands. Each repeat has to meet all expectations.
 * `lateMs`: how long the processes of the demo waited for the processor during the step; null: not known. `repeats`: how
 * often it was measured again before.
 */
export function whyAgain(
  step: Pick<StepResult, 'verdict' | 'run' | 'why' | 'expectations' | 'error' | 'measured'>,
  lateMs: number | null,
  repeats = 0,
): string | null {
  if (repeats >= MAX_REPEATS) return null;
  const { verdict, run, expectations, error } = step;
  const unmet = expectations.filter((one) => one.verdict !== 'ok');
  const isTime = (path: string) => TIMES.has(path) || (run === 'chassis address' && path === 'state');
  const isUnanswered = error !== null && UNANSWERED.has(error.code);
  if (!BY_POSES.has(run) && !isUnanswered && !unmet.some(({ path }) => isTime(path))) return null;
  if (verdict === 'not-checked' && unmet.length > 0) return `not decided: ${step.why}`;
  if (run === 'tour run' && isArrivalUnknown(step.measured)) return `not decided: ${step.why}`;
  if (verdict !== 'wrong' || lateMs === null || lateMs < LATE_MS) return null;
  const late = `the processes of the demo waited ${Math.round(lateMs)} ms for the processor meanwhile`;
  if (unmet.length > 0 && unmet.every(({ path, verdict: found }) => found === 'not-checked' || isTime(path))) {
    return `not decided, ${late}: ${step.why}`;
  }
  // Whether it stands is known by poses that come in time.
  return isUnanswered || error?.code === 'MOTION_REFUSED' ? `not decided, ${late}: ${error?.message}` : null;
}

/** Nothing came back in time. A wrong answer is none of them. */
const UNANSWERED: ReadonlySet<string> = new Set<ErrorCode>([
  'CHASSIS_NOT_CONNECTED',
  'CHASSIS_BOOTING',
  'OPERATOR_NOT_REACHABLE',
  'ENROLMENT_NOT_REACHABLE',
]);

const AGAIN_MS = 1_000;

/** Tries again for as long as nothing answers in time; `onAgain` says so each time. Any other error is thrown at once. */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  { clock, signal, onAgain }: { clock: Clock; signal: AbortSignal; onAgain: (error: GwError) => void },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      signal.throwIfAborted();
      const error = asGwError(thrown);
      if (!UNANSWERED.has(error.code)) throw thrown;
      onAgain(error);
      await clock.sleep(AGAIN_MS, signal);
    }
  }
}

/** The gateway itself does not know whether the robot stands at the station: the chassis reported success. */
function isArrivalUnknown(measured: unknown): boolean {
  const { state, arrivals } = Object(measured) as { readonly state?: unknown; readonly arrivals?: unknown };
  const last: unknown = Array.isArray(arrivals) ? arrivals.at(-1) : undefined;
  return state === 'failed' && (Object(last) as { readonly verdict?: unknown }).verdict === 'not-known';
}

/** How long the main threads of these processes have waited for the processor, in milliseconds; null: not known. */
export async function waitedForProcessor(pids: readonly number[]): Promise<number | null> {
  try {
    const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/schedstat`, 'utf8')));
    // Nanoseconds on the processor, waiting for it, and the number of turns.
    const waited = texts.map((text) => Number(text.split(' ')[1]) / 1e6);
    return waited.every(Number.isFinite) ? waited.reduce((sum, ms) => sum + ms, 0) : null;
  } catch {
    return null;
  }
}
