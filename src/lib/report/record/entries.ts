import type { CheckRecord, RedLine, RobotRecord, StepResult } from '../../checklist/index.ts';
import type { Language } from '../document.ts';
import type { Locale } from '../locale.ts';
import type { RecordTexts } from '../texts/record.ts';

/** What is not ok, with the number under which both parts of the report have it. */
export type Entry = { readonly number: number; readonly robot: RobotRecord } & (
  | { readonly kind: 'red-line'; readonly redLine: RedLine }
  | { readonly kind: 'step'; readonly step: StepResult }
);

/** What the part for the customer is written with. */
export interface Writing {
  readonly lang: Language;
  readonly texts: RecordTexts;
  readonly locale: Locale;
}

/** Red lines and steps that are not ok, robot by robot, the worst first. */
export function entriesOf({ robots }: CheckRecord): Entry[] {
  const entries = robots.flatMap((robot) => [
    ...robot.redLines.map((redLine) => ({ kind: 'red-line', redLine, robot }) as const),
    ...notOkFirst(robot.steps).map((step) => ({ kind: 'step', step, robot }) as const),
  ]);
  return entries.map((entry, at) => ({ ...entry, number: at + 1 }));
}

/** Wrong and not accepted. */
export function isBad(step: StepResult): boolean {
  return step.verdict === 'wrong' && step.deviation === null;
}

/** Wrong, wrong but accepted, not checked, skipped, left out. Within these the order of the checklist. */
function notOkFirst(steps: readonly StepResult[]): StepResult[] {
  const rank = (step: StepResult) => {
    if (isBad(step)) return 0;
    if (step.verdict === 'wrong') return 1;
    if (isLeftOut(step)) return 4;
    return step.verdict === 'not-checked' ? 2 : 3;
  };
  return steps.filter(({ verdict }) => verdict !== 'ok').sort((one, other) => rank(one) - rank(other));
}

export function isLeftOut({ leftOut, verdict }: StepResult): boolean {
  return leftOut && verdict === 'not-checked';
}

interface Titled {
  readonly title: string;
  readonly titleDe?: string | undefined;
}

/** The title in this language, where the checklist has it. */
export function titleIn({ title, titleDe }: Titled, lang: Language): string {
  return lang === 'de' ? (titleDe ?? title) : title;
}

export function redLineTitle({ id, title }: RedLine, texts: RecordTexts): string {
  return texts.redLineTitles[id] ?? title;
}
