import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { AskedStep, ConfirmStep, MeasureStep, Step } from '../file/step.ts';
import type { StepResult } from '../run.result.ts';
import type { Answer, Answers } from './answers.ts';
import { figureOfPerson } from './figures.ts';
import { compare, type Outcome } from './outcome.ts';

/** What a prompt receives. */
export interface AskContext {
  readonly signal: AbortSignal;
  /** Stores a photo with the answer; returns the attachment name. Throws ATTACHMENT_INVALID. */
  readonly keepPhoto: (path: string) => Promise<string>;
}

export interface AskingOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Prepared answers; used before the technician is asked. */
  readonly answers?: Answers;
  /** Asks the technician; absent without a terminal. null: no answer. */
  readonly ask?: (step: AskedStep, context: AskContext) => Promise<Answer | null>;
  /** Stores a photo for a step; returns its name. Absent: photos cannot be stored. */
  readonly keepPhoto?: (step: Step, path: string) => Promise<string>;
  /** Technician of the run; used for answers that name no person. */
  readonly technician?: { readonly name: string | null; readonly initials: string | null };
}

/** Uses the prepared answer, else asks. Throws what `ask` throws, except for an interruption and an invalid photo. */
export async function askPerson(step: AskedStep, options: AskingOptions): Promise<Outcome> {
  const { signal, ask, clock } = options;
  let at: string | null = null;
  let answer: Answer | null;
  try {
    answer = await writtenAnswer(step, options);
    if (answer === null && ask) {
      answer = await ask(step, { signal, keepPhoto: (path) => keepPhoto(step, path, options) });
      at = clock.wall().toISOString();
    }
  } catch (error) {
    if (signal.aborted) return { verdict: 'not-checked', why: 'Interrupted at the question.', interrupted: true };
    if (!(error instanceof GwError) || error.code !== 'ATTACHMENT_INVALID') throw error;
    return { verdict: 'not-checked', why: `The photo of the answer cannot be stored: ${error.message}` };
  }
  if (answer === null) {
    const written = step.kind === 'measure' ? `'${step.id}: 1.5'` : `'${step.id}: yes' or 'no'`;
    const remedy = `Answer at a terminal, or pass ${written} in a file with --answers.`;
    return { verdict: 'not-checked', why: `Not answered: ${step.question}`, remedy };
  }
  const { technician = { name: null, initials: null } } = options;
  // The person named in a file is not the one whose initials were passed to the command.
  const someoneElse = answer.by !== null && answer.initials === null;
  const given: Answer = {
    ...answer,
    by: answer.by ?? (answer.initials === null ? technician.name : null),
    initials: someoneElse ? null : (answer.initials ?? technician.initials),
  };
  return answered(step, { ...given, attachments: [...given.attachments], at, question: step.question });
}

type GivenAnswer = NonNullable<StepResult['answer']>;

function answered(step: AskedStep, answer: GivenAnswer): Outcome {
  return { ...(step.kind === 'confirm' ? confirmed(step, answer) : measured(step, answer)), answer };
}

/**
 * A question beside which gw looked itself. It is asked only once gw found its part ok, and no yes outweighs another
 * finding. `kept`: the earlier answer, where only the check was repeated. Throws as `askPerson`.
 */
export async function askBeside(
  step: ConfirmStep,
  found: Outcome,
  { kept, ...options }: AskingOptions & { readonly kept: GivenAnswer | null },
): Promise<Outcome> {
  if (found.verdict === 'skipped' || found.interrupted) return found;
  const { ask: _, ...prepared } = options;
  const person = kept ? answered(step, kept) : await askPerson(step, found.verdict === 'ok' ? options : prepared);
  const { answer = null } = person;
  if (found.verdict !== 'ok') return answer === null ? found : contradicted(found, person, answer);
  const { expectations, measured: excerpt, values } = found;
  const joined = { ...person, expectations, measured: excerpt, values };
  if (person.verdict !== 'ok' || answer === null) return joined;
  return {
    ...joined,
    why: `${found.why}; ${person.why}`,
    shown: `checked by gw: ${found.shown ?? found.why}; the rest is the ${wordOf(answer)}`,
  };
}

/** gw did not find its part ok: a yes is recorded, and changes nothing. */
function contradicted(found: Outcome, person: Outcome, answer: GivenAnswer): Outcome {
  if (answer.answer === 'no') return { ...found, verdict: 'wrong', why: `${person.why}; ${found.why}`, answer };
  if (answer.answer === 'skip' || found.verdict !== 'wrong') return { ...found, answer };
  return { ...found, why: `${nameOf(answer)} answered yes, which gw contradicts: ${found.why}`, answer };
}

/** The prepared answer, with its photos stored. */
async function writtenAnswer(step: AskedStep, options: AskingOptions): Promise<Answer | null> {
  const written = options.answers?.answers.get(step.id);
  if (!written) return null;
  const attachments: string[] = [];
  for (const path of written.photos) attachments.push(await keepPhoto(step, path, options));
  const { answer, by, initials, remark, value } = written;
  return { answer, by, initials, remark, value, attachments };
}

async function keepPhoto(step: Step, path: string, options: AskingOptions): Promise<string> {
  if (options.keepPhoto) return options.keepPhoto(step, path);
  throw new GwError('ATTACHMENT_INVALID', `${path} cannot be stored: this run writes no record.`);
}

const remarkOf = ({ remark }: Answer) => (remark === null ? '' : ` Remark: ${remark}`);
const nameOf = ({ by, initials }: Answer) => by ?? initials ?? 'The technician';

function wordOf(answer: Answer): string {
  const remark = remarkOf(answer);
  return `word of ${answer.by ?? answer.initials ?? 'the technician'}${remark && `;${remark}`}`;
}

function confirmed({ question, needsRemark }: ConfirmStep, answer: Answer): Outcome {
  switch (answer.answer) {
    case 'yes':
      if (needsRemark && (answer.remark ?? '').trim() === '') {
        const why = `${nameOf(answer)} answered yes without the remark that this question asks for: ${question}`;
        return { verdict: 'not-checked', why };
      }
      return { verdict: 'ok', why: `Asked: ${question}`, shown: `not checked by gw: ${wordOf(answer)}` };
    case 'no':
      return { verdict: 'wrong', why: `${nameOf(answer)} answered no: ${question}${remarkOf(answer)}` };
    case 'skip':
      return leftOpen(question, answer);
  }
}

function measured(step: MeasureStep, answer: Answer): Outcome {
  const { value } = answer;
  if (value === null) return leftOpen(step.question, answer);
  const remark = remarkOf(answer);
  const shown = `${value} ${step.unit}${remark && `;${remark}`}`;
  return { ...compare(step, { value }), shown, values: figureOfPerson(step, answer) };
}

function leftOpen(question: string, answer: Answer): Outcome {
  return { verdict: 'not-checked', why: `${nameOf(answer)} left it open: ${question}${remarkOf(answer)}` };
}
