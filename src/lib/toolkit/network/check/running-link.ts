import { z } from 'zod';
import { asGwError } from '../../../error/index.ts';
import type { PathOutcome } from '../../../net/path/index.ts';
import { localOperatorAccess } from '../../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../../toolkit.ts';
import type { PlannedPath } from './plans.ts';

const checkSchema = z.object({
  step: z.string().nullable(),
  outcome: z.object({
    verdict: z.enum(['ok', 'wrong', 'not-checked']),
    detail: z.string(),
    remedy: z.string().optional(),
    ask: z.string().optional(),
  }),
});

/** Longer than all steps of a connection take until their timeouts, after another one that is being made. */
const TIMEOUT_MS = 60_000;
const BUSY_POLL_MS = 250;
const BUSY_WITHIN_MS = 20_000;

/** Paths of the link by the ids of the planned ones, in the order of the checks: the preferred path last. */
const paths = { 'mqtt-fallback': 'fallback', 'mqtt-direct': 'direct' } as const;

/**
 * Whether the broker accepts this device on each path, proven by the link of the running gateway itself, because a second
 * client would displace it. By the id of the path; empty where the gateway cannot be asked.
 */
export async function provenByRunningLink(
  toolkit: Toolkit,
  context: CheckContext,
  plans: readonly PlannedPath[],
): Promise<ReadonlyMap<string, PathOutcome>> {
  const proven = new Map<string, PathOutcome>();
  const access = await localOperatorAccess(toolkit, context, { timeoutMs: TIMEOUT_MS });
  if (access === null) return proven;
  for (const [id, path] of Object.entries(paths)) {
    if (!plans.some((plan) => plan.id === id)) continue;
    try {
      const { step, outcome } = await whenFree(toolkit, context, () =>
        access.ask('POST', '/api/cloud/pruefung', checkSchema, { path }),
      );
      const isOfMqtt = step === null || step === 'mqtt' || step === 'subscribe';
      const untried = `not tried by the running gateway: ${outcome.detail}`;
      proven.set(id, isOfMqtt ? outcome : { ...outcome, verdict: 'not-checked', detail: untried });
    } catch (error) {
      context.signal.throwIfAborted();
      proven.set(id, {
        verdict: 'not-checked',
        detail: `the running gateway did not check it: ${asGwError(error).message}`,
      });
    }
  }
  return proven;
}

/** The gateway proves one path at a time and refuses meanwhile, for example while another technician runs a checklist. */
async function whenFree<T>({ clock }: Toolkit, { signal }: CheckContext, ask: () => Promise<T>): Promise<T> {
  const beganMs = clock.monotonicMs();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = asGwError(error).details?.status === 503;
      if (!isBusy || clock.monotonicMs() - beganMs >= BUSY_WITHIN_MS) throw error;
      await clock.sleep(BUSY_POLL_MS, signal);
    }
  }
}
