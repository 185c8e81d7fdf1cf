import type { ReplacementStep, StepLine } from './replace.result.ts';

/** One step of a replacement, as data: how it is looked at, and what is done or asked where it is open. `S`: what was seen. */
export interface Step<S> {
  readonly id: string;
  readonly title: string;
  /** The state of the world, from what was seen just now. */
  look(seen: S): readonly StepLine[];
  /** What gw cannot see. A yes holds for `frame` only, and never against a line that is wrong. */
  readonly word?: {
    readonly question: string;
    /** Absent: of this replacement. null: it cannot be given now. */
    frame?(seen: S): string | null;
    /** Whether a person is asked at all, by what was seen. */
    isAsked?(seen: S): boolean;
    /** The word is not about what the lines look at, so a wrong line does not refuse it. */
    readonly mayOverrule?: true;
  };
  /** Performs the step; false: it cannot, and the lines say how. Throws GwError. */
  act?(seen: S): Promise<boolean>;
}

/** The word of a person about one step. */
export interface Word {
  readonly step: string;
  readonly by: string;
  /** UTC. */
  readonly at: string;
  readonly frame: string;
}

export const line = (
  id: string,
  title: string,
  verdict: StepLine['verdict'],
  detail: string,
  remedy: string | null = null,
): StepLine => ({ id, title, verdict, detail, remedy });

/** Worst first. What does not concern this robot counts only where nothing else is there. */
const order: readonly StepLine['verdict'][] = ['wrong', 'open', 'not-checked', 'stated', 'ok', 'not-applicable'];

function verdictOf(lines: readonly StepLine[]): StepLine['verdict'] {
  return order.find((verdict) => lines.some((one) => one.verdict === verdict)) ?? 'not-checked';
}

const passing: ReadonlySet<StepLine['verdict']> = new Set(['ok', 'stated', 'not-applicable']);
export const isPassing = ({ verdict }: Pick<StepLine, 'verdict'>) => passing.has(verdict);

/** The step as it stands, with the word of a person where it asks for one. */
export function judge<S>(
  { id, title, look, word }: Step<S>,
  seen: S,
  { words, command }: { readonly words: readonly Word[]; readonly command: string },
): ReplacementStep {
  const lines = [...look(seen)];
  if (word !== undefined && (word.isAsked?.(seen) ?? true)) {
    const frame = frameOf(word, seen);
    const given = words.findLast((one) => one.step === id && one.frame === frame);
    const elsewhere = words.findLast((one) => one.step === id);
    const remedy = `${word.question} Then: \`${command} --confirm ${id} --who NAME\``;
    if (given !== undefined) {
      const isAgainst = lines.some(({ verdict }) => verdict === 'wrong');
      const said = `${given.by} confirmed it at ${given.at}; gw cannot see it`;
      lines.push(
        line('word', 'Word of a person', 'stated', isAgainst ? `${said}, and a line above contradicts` : said),
      );
    } else if (elsewhere !== undefined) {
      const why = `${elsewhere.by} confirmed it at ${elsewhere.at}, in another state of the robot`;
      lines.push(line('word', 'Word of a person', 'open', why, remedy));
    } else lines.push(line('word', 'Word of a person', 'open', 'not given yet', remedy));
  }
  return { id, title, verdict: verdictOf(lines), lines };
}

/** Of this replacement alone, where the step names no narrower one. */
const WHOLE = 'replacement';

export function frameOf<S>(word: NonNullable<Step<S>['word']>, seen: S): string | null {
  return word.frame === undefined ? WHOLE : word.frame(seen);
}
