import { z } from 'zod';
import { asGwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { OperatorAccess } from '../operator/access.ts';
import type { CheckContext } from '../toolkit.ts';

/** Part of `GET /api/stopp`: what the poses of the robot show. An older gateway does not report it. */
const answerSchema = z.looseObject({
  standstill: z
    .looseObject({ verdict: z.enum(['stands', 'moves', 'drives-on', 'not-known']), reason: z.string() })
    .nullable()
    .catch(null),
});

/** What the poses of the robot show, as its gateway judges them. 'not-known' is not standing. */
export interface SeenStandstill {
  readonly verdict: 'stands' | 'moves' | 'drives-on' | 'not-known';
  readonly reason: string;
}

/** How long the proof may take: a chassis that reports a pose per second needs up to ten seconds. Project decision. */
export const STANDSTILL_WITHIN_MS = 15_000;
const POLL_MS = 100;

/**
 * Waits until the robot is seen to stand, or not to obey; otherwise returns what is known after the time limit, or when
 * the signal is aborted. Never throws: what cannot be read is not known.
 */
export async function awaitStandstill(
  access: Pick<OperatorAccess, 'ask'>,
  clock: Clock,
  signal: AbortSignal,
  withinMs = STANDSTILL_WITHIN_MS,
): Promise<SeenStandstill> {
  const untilMs = clock.monotonicMs() + withinMs;
  let last: SeenStandstill = { verdict: 'not-known', reason: 'the gateway did not report it' };
  do {
    try {
      const { standstill } = await access.ask('GET', '/api/stopp', answerSchema);
      if (standstill === null) return { verdict: 'not-known', reason: 'the gateway does not report it' };
      last = { verdict: standstill.verdict, reason: standstill.reason };
    } catch (error) {
      last = { verdict: 'not-known', reason: `the gateway did not report it: ${asGwError(error).message}` };
    }
    if (last.verdict === 'stands' || last.verdict === 'drives-on') return last;
    await clock.sleep(POLL_MS, signal).catch(() => {});
  } while (clock.monotonicMs() < untilMs && !signal.aborted);
  return last;
}

/**
 * Sends an order, and once more where the gateway refused it and the robot only moved, or was not seen to stand yet: a
 * technician who has just turned it by hand does not type the command again. Any other refusal is thrown at once.
 */
export async function orderOnceItStands<T>(
  order: () => Promise<T>,
  access: Pick<OperatorAccess, 'ask'>,
  { clock }: { readonly clock: Clock },
  { signal, onProgress }: Pick<CheckContext, 'signal' | 'onProgress'>,
): Promise<T> {
  try {
    return await order();
  } catch (error) {
    if (asGwError(error).code !== 'MOTION_REFUSED') throw error;
    const now = await awaitStandstill(access, clock, signal, 0);
    if (now.verdict !== 'moves' && now.verdict !== 'not-known') throw error;
    onProgress(`Waiting until the robot stands, up to ${STANDSTILL_WITHIN_MS / 1_000} s`);
    if ((await awaitStandstill(access, clock, signal)).verdict !== 'stands' || signal.aborted) throw error;
    return await order();
  }
}

/** Remedy where the robot is not seen to stand. */
export const MAY_DRIVE_ON = 'Check the robot. Press its emergency stop if it moves; then run `gw motion stop`.';

/** Whether the finding says that the robot stands; only then a person may go on. */
export function isSeenToStand(findings: readonly Finding[]): boolean {
  return findings.some(({ id, verdict }) => id === 'standstill' && verdict === 'ok');
}

/** After a run that was cancelled or failed: whether the robot stands, which its reported end does not prove. */
export async function standstillFinding(
  run: { readonly state: string },
  access: Pick<OperatorAccess, 'ask'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (run.state !== 'failed' && run.state !== 'stopped') return [];
  const base = { id: 'standstill', title: 'Robot stands', spec: null };
  const { verdict, reason } = await awaitStandstill(access, clock, signal);
  switch (verdict) {
    case 'stands':
      return [ok(base, reason)];
    case 'not-known':
      return [{ ...notChecked(base, `not seen to stand: ${reason}`), remedy: MAY_DRIVE_ON }];
    case 'moves':
    case 'drives-on':
      return [
        wrong(
          base,
          `THE ROBOT IS STILL MOVING: ${reason}`,
          'Press the emergency stop of the robot, then run `gw motion stop`.',
        ),
      ];
  }
}
