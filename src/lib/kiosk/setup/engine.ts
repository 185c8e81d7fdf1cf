import { type ErrorCode, GwError } from '../../error/index.ts';
import type { CheckResult, Step, StepContext, StepOutcome } from './step.ts';

/**
 * Reads every step and changes nothing. Throws TABLET_LOST and other connection errors; `outcomes` then holds the steps
 * read so far.
 */
export async function planSteps(
  steps: readonly Step[],
  context: StepContext,
  outcomes: StepOutcome[] = [],
): Promise<StepOutcome[]> {
  for (const step of steps) {
    context.signal.throwIfAborted();
    context.onProgress(`Checking: ${step.title}`);
    try {
      const result = await step.check(context);
      outcomes.push(outcomeOf(step, result.verdict, result));
    } catch (error) {
      outcomes.push(failed(step, error));
    }
  }
  return outcomes;
}

const VERIFY_TIMEOUT_MS = 15_000;
const VERIFY_INTERVAL_MS = 500;
const MAX_RECONNECTS = 3;

/**
 * Applies every step: reads it, changes what differs, and reads it back. Steps that match are not touched, so a repeated
 * run changes nothing and an interrupted one continues. A lost connection is reopened up to three times. Steps after a
 * failed one are not reached.
 */
export async function applySteps(steps: readonly Step[], context: StepContext): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  let reconnects = 0;
  for (let i = 0; i < steps.length; ) {
    const step = steps[i];
    if (step === undefined) break;
    try {
      outcomes.push(await applyStep(step, context));
      i += 1;
    } catch (error) {
      if (!(error instanceof GwError) || error.code !== 'TABLET_LOST' || reconnects === MAX_RECONNECTS) {
        outcomes.push(failed(step, error), ...steps.slice(i + 1).map((later) => outcomeOf(later, 'not-reached')));
        break;
      }
      reconnects += 1;
      context.onProgress(`ADB connection lost at '${step.title}'; reconnecting`);
      await context.tablet.reconnect();
    }
  }
  return outcomes;
}

async function applyStep(step: Step, context: StepContext): Promise<StepOutcome> {
  const { clock, signal, onProgress } = context;
  onProgress(`Checking: ${step.title}`);
  const before = await step.check(context);
  if (before.verdict !== 'differs' || step.apply === undefined) return outcomeOf(step, before.verdict, before);
  onProgress(`Changing: ${step.title}`);
  await step.apply(context);
  const began = clock.monotonicMs();
  for (;;) {
    const after = await (step.verify ?? step.check)(context);
    if (after.verdict === 'ok') return outcomeOf(step, 'changed', after);
    if (clock.monotonicMs() - began >= VERIFY_TIMEOUT_MS) {
      return { ...outcomeOf(step, after.verdict, after), remedy: after.remedy ?? step.remedy };
    }
    // A value that the tablet does not report is not reported later either.
    if (after.verdict === 'not-checked') return outcomeOf(step, 'not-checked', after);
    await clock.sleep(VERIFY_INTERVAL_MS, signal);
  }
}

function outcomeOf(step: Step, state: StepOutcome['state'], result: Partial<CheckResult> = {}): StepOutcome {
  const { id, title, expected, apply } = step;
  const byHand = apply === undefined;
  const matches = state === 'ok' || state === 'changed';
  const remedy = matches ? null : (result.remedy ?? (byHand && state === 'differs' ? step.remedy : null));
  return { id, title, expected, found: result.found ?? null, state, byHand, remedy, error: null };
}

/** The outcome of a refused change. Rethrows connection errors, interruptions and internal errors. */
function failed(step: Step, error: unknown): StepOutcome {
  const stepErrors: readonly ErrorCode[] = [
    'TABLET_REFUSED',
    'TABLET_NO_SPACE',
    'KIOSK_PACKAGE_DIFFERS',
    'FILE_UNREADABLE',
  ];
  if (!(error instanceof GwError) || !stepErrors.includes(error.code)) throw error;
  const { code, message, remedy } = error;
  return { ...outcomeOf(step, 'failed', { remedy }), error: { code, message } };
}
