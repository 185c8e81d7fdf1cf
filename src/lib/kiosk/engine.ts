import { type ErrorCode, GwError } from '../error/index.ts';
import type { Look, Step, StepScene } from './step.ts';

/** How one step stands. */
export interface StepOutcome {
  readonly id: string;
  readonly title: string;
  readonly expected: string;
  /** null: it was not looked at. */
  readonly found: string | null;
  /**
   * `ok`: as the profile says, nothing was done. `changed`: made so now, and read back. `differs`: not as the profile
   * says. `not-checked`: the tablet does not tell. `failed`: the change was refused. `not-reached`: a step before it
   * failed.
   */
  readonly state: 'ok' | 'changed' | 'differs' | 'not-checked' | 'failed' | 'not-reached';
  /** Whether setup can make it so. */
  readonly byHand: boolean;
  readonly remedy: string | null;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
}

/**
 * Reads every step and changes nothing. Throws TABLET_LOST and others of the connection; what was read until then is
 * in `outcomes`.
 */
export async function planSteps(
  steps: readonly Step[],
  scene: StepScene,
  outcomes: StepOutcome[] = [],
): Promise<StepOutcome[]> {
  for (const step of steps) {
    scene.signal.throwIfAborted();
    scene.onProgress(`Looking: ${step.title}`);
    try {
      const look = await step.check(scene);
      outcomes.push(outcomeOf(step, look.verdict, look));
    } catch (error) {
      outcomes.push(failed(step, error));
    }
  }
  return outcomes;
}

const VERIFY_WITHIN_MS = 15_000;
const VERIFY_EVERY_MS = 500;
const MOST_RECONNECTS = 3;

/**
 * Does every step: looks, changes what differs, and reads it back. What is in order is left alone, so that a second
 * run does nothing, and one after a cut goes on where the first was. A cut on the way is mended by connecting again.
 * After a step that failed the later ones are not reached.
 */
export async function applySteps(steps: readonly Step[], scene: StepScene): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  let reconnects = 0;
  for (let i = 0; i < steps.length; ) {
    const step = steps[i];
    if (step === undefined) break;
    try {
      outcomes.push(await applyStep(step, scene));
      i += 1;
    } catch (error) {
      if (!(error instanceof GwError) || error.code !== 'TABLET_LOST' || reconnects === MOST_RECONNECTS) {
        outcomes.push(failed(step, error), ...steps.slice(i + 1).map(notReached));
        break;
      }
      reconnects += 1;
      scene.onProgress(`The line was cut at '${step.title}'; connecting again`);
      await scene.tablet.reconnect();
    }
  }
  return outcomes;
}

async function applyStep(step: Step, scene: StepScene): Promise<StepOutcome> {
  const { clock, signal, onProgress } = scene;
  onProgress(`Looking: ${step.title}`);
  const before = await step.check(scene);
  if (before.verdict !== 'differs' || step.apply === undefined) return outcomeOf(step, before.verdict, before);
  onProgress(`Changing: ${step.title}`);
  await step.apply(scene);
  const began = clock.monotonicMs();
  for (;;) {
    const after = await (step.verify ?? step.check)(scene);
    if (after.verdict === 'ok') return outcomeOf(step, 'changed', after);
    if (clock.monotonicMs() - began >= VERIFY_WITHIN_MS) {
      return { ...outcomeOf(step, after.verdict, after), remedy: after.remedy ?? step.remedy };
    }
    // What the tablet does not tell it will not tell later either.
    if (after.verdict === 'not-checked') return outcomeOf(step, 'not-checked', after);
    await clock.sleep(VERIFY_EVERY_MS, signal);
  }
}

function outcomeOf(step: Step, state: StepOutcome['state'], look: Look): StepOutcome {
  const { id, title, expected, apply } = step;
  const isFine = state === 'ok' || state === 'changed';
  const byHand = apply === undefined;
  const remedy = isFine ? null : (look.remedy ?? (byHand && state === 'differs' ? step.remedy : null));
  return { id, title, expected, found: look.found, state, byHand, remedy, error: null };
}

/** What the tablet refused belongs to the step; a line that is gone, an interruption and our own bugs do not. */
function failed(step: Step, error: unknown): StepOutcome {
  const belongs: readonly ErrorCode[] = [
    'TABLET_REFUSED',
    'TABLET_NO_SPACE',
    'KIOSK_PACKAGE_DIFFERS',
    'FILE_UNWRITABLE',
  ];
  if (!(error instanceof GwError) || !belongs.includes(error.code)) throw error;
  const { id, title, expected, apply } = step;
  const { code, message, remedy } = error;
  return {
    id,
    title,
    expected,
    found: null,
    state: 'failed',
    byHand: apply === undefined,
    remedy,
    error: { code, message },
  };
}

function notReached({ id, title, expected, apply }: Step): StepOutcome {
  return {
    id,
    title,
    expected,
    found: null,
    state: 'not-reached',
    byHand: apply === undefined,
    remedy: null,
    error: null,
  };
}
