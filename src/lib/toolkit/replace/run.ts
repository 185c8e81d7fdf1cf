import { asGwError, GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Replacement, ReplacementStep } from './replace.result.ts';
import type { OpenedReplacement } from './replacement-file.ts';
import { frameOf, isPassing, judge, type Step } from './step.ts';

/** What a person gives on the command line or at a prompt. */
export interface Person {
  /** Steps that are confirmed. */
  readonly confirms: readonly string[];
  /** Who confirms; needed for each confirmation. */
  readonly by: string | undefined;
  /** Asks at a terminal; absent: nothing is asked. null: left open. */
  readonly ask?: ((question: string) => Promise<{ readonly by: string } | null>) | undefined;
}

export interface Replacing<S> {
  readonly steps: readonly Step<S>[];
  readonly file: OpenedReplacement;
  /** Reads the world anew. */
  see(): Promise<S>;
  readonly person: Person;
  readonly clock: Pick<Clock, 'wall'>;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** As typed, for the remedies. */
  readonly command: string;
}

export type Ran<S> = Pick<Replacement, 'verdict' | 'steps' | 'next' | 'done' | 'problem'> & { readonly seen: S };

/**
 * Looks at every step, then performs or asks the first one that does not hold, until one stays so. Nothing is remembered as
 * done: the next run begins with the same look. Throws USAGE for a confirmation without a name or of no such step, what
 * `see` throws, and INTERRUPTED.
 */
export async function runReplacement<S>(replacing: Replacing<S>): Promise<Ran<S>> {
  const { steps, see, person, signal, onProgress } = replacing;
  assertNamed(steps, person);
  const done = new Set<string>();
  const tried = new Set<string>();
  let problem: Replacement['problem'] = null;
  onProgress('looking at every step');
  let seen = await see();
  for (const id of new Set(person.confirms)) {
    problem = (await confirm(replacing, id, seen, person.by ?? '')) ?? problem;
    if (problem === null) done.add(id);
  }
  for (;;) {
    signal.throwIfAborted();
    const judged = steps.map((step) => judge(step, seen, given(replacing)));
    const at = judged.findIndex((one) => !isPassing(one));
    const [step, state] = [steps[at], judged[at]];
    const result = (next: string | null): Ran<S> => ({
      ...{ verdict: whole(judged), steps: judged, next, done: [...done], problem, seen },
    });
    if (step === undefined || state === undefined) return result(null);
    if (problem !== null) return result(step.id);
    onProgress(`step ${at + 1}/${steps.length}: ${step.title}`);
    if (step.act !== undefined && !tried.has(step.id)) {
      tried.add(step.id);
      try {
        if (await step.act(seen)) done.add(step.id);
      } catch (error) {
        signal.throwIfAborted();
        problem = problemOf(step.id, error);
      }
      onProgress('looking at every step');
      seen = await see();
      continue;
    }
    const isAsked = state.lines.some(({ id, verdict }) => id === 'word' && verdict === 'open');
    const mayAsk = isAsked && state.lines.every((one) => one.id === 'word' || isPassing(one));
    if (step.word === undefined || person.ask === undefined || !mayAsk || tried.has(`ask ${step.id}`)) {
      return result(step.id);
    }
    tried.add(`ask ${step.id}`);
    const answer = await person.ask(step.word.question);
    if (answer === null) return result(step.id);
    // Time has passed: the word is of what is seen after it.
    seen = await see();
    problem = await confirm(replacing, step.id, seen, answer.by);
    if (problem === null) done.add(step.id);
  }
}

const given = <S>({ file, command }: Replacing<S>) => ({ words: file.current().words, command });

function assertNamed<S>(steps: readonly Step<S>[], { confirms, by }: Person): void {
  const ids = steps.filter(({ word }) => word !== undefined).map(({ id }) => id);
  const unknown = confirms.find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    throw new GwError('USAGE', `No step '${unknown.slice(0, 100)}' asks for the word of a person.`, {
      remedy: `Name one of: ${ids.join(', ')}.`,
    });
  }
  if (confirms.length > 0 && (by === undefined || by.trim() === '')) {
    throw new GwError('USAGE', 'A confirmation needs the name of the person.', { remedy: 'Add --who NAME.' });
  }
}

/** The newest of each step in each frame are kept, fewer than the file may have. */
const MAX_WORDS = 500;

/** Saves the word of a person; what is seen against it refuses it. */
async function confirm<S>(
  replacing: Replacing<S>,
  id: string,
  seen: S,
  by: string,
): Promise<Replacement['problem'] | null> {
  const { steps, file, clock } = replacing;
  const step = steps.find((one) => one.id === id);
  const { word } = step ?? {};
  if (step === undefined || word === undefined) return null;
  const state = judge(step, seen, given(replacing));
  const against = word.mayOverrule ? undefined : state.lines.find(({ verdict }) => verdict === 'wrong');
  const frame = frameOf(word, seen);
  if (against === undefined && frame !== null) {
    const given = { step: id, by: by.trim(), at: clock.wall().toISOString(), frame };
    await file.change(({ words }) => {
      const others = words.filter((one) => one.step !== id || one.frame !== frame);
      return { words: [...others, given].slice(-MAX_WORDS) };
    });
    return null;
  }
  const why = against === undefined ? 'what it is about is not known now' : `${against.title}: ${against.detail}`;
  const remedy = against?.remedy ?? state.lines.find((one) => one.id !== 'word' && one.remedy !== null)?.remedy;
  const message = `The confirmation of the step ${id} was not saved: ${why}.`;
  return problemOf(id, new GwError('REPLACEMENT_CONTRADICTED', message, { remedy: remedy ?? undefined }));
}

function problemOf(step: string, thrown: unknown): NonNullable<Replacement['problem']> {
  const error = asGwError(thrown);
  const { code, message, remedy } = error.toJSON();
  return { step, code, message, remedy };
}

function whole(steps: readonly ReplacementStep[]): Replacement['verdict'] {
  const has = (wanted: ReplacementStep['verdict']) => steps.some(({ verdict }) => verdict === wanted);
  if (has('wrong')) return 'wrong';
  if (has('open')) return 'open';
  return steps.every(isPassing) ? 'complete' : 'not-checked';
}
