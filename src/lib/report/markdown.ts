import type { ChecklistResult, StepResult } from '../checklist/index.ts';
import { codeSpan, escapeMarkdown } from '../text/index.ts';
import { clean, cleanLine, seconds } from './text.ts';

const words = { ok: 'ok', wrong: '**WRONG**', skipped: 'skipped', 'not-checked': 'not checked' } as const;

/** The acceptance report as Markdown: verdict, summary, one table, then what is not ok and its fix. */
export function toMarkdown(result: ChecklistResult): string {
  const { counts, steps, subject } = result;
  const open = steps.filter((step) => step.verdict !== 'ok');
  return [
    `# ${foreign(result.title)}`,
    '',
    result.ok
      ? `**All ${steps.length} steps are ok.**`
      : `**Not accepted:** ${counts.wrong} wrong, ${counts.skipped} skipped, ${counts.notChecked} not checked, ${counts.ok} ok.`,
    '',
    foreign(result.purpose),
    '',
    `- Site: ${subject ? foreign(subject.site) : 'the site file could not be read'}`,
    `- Chassis serial: ${subject ? code(subject.serial) : 'not known'}`,
    `- Started: ${cleanLine(result.startedAt)}, took ${seconds(result.tookMs)} s`,
    `- Motion: ${result.motionAllowed ? 'allowed' : 'not allowed'}`,
    ...(result.interrupted ? ['- **Interrupted before its end**'] : []),
    '',
    '| Step | Verdict | Found | Specification |',
    '|---|---|---|---|',
    ...steps.map((step) => escapedRow([step.title, words[step.verdict], step.shown ?? '', step.proves])),
    '',
    ...(open.length > 0 ? ['## What is not ok', '', ...open.flatMap(openStep)] : []),
    ...answers(steps),
  ].join('\n');
}

function openStep(step: StepResult): string[] {
  return [
    `### ${foreign(step.title)} (${step.verdict})`,
    '',
    `- Why: ${foreign(step.why)}`,
    ...(step.error?.tried ? [`- Tried: ${code(step.error.tried)}`] : []),
    ...(step.remedy === null ? [] : [`- Fix: ${foreign(step.remedy)}`]),
    '',
  ];
}

function answers(steps: readonly StepResult[]): string[] {
  const answered = steps.filter((step) => step.answer !== null);
  if (answered.length === 0) return [];
  return [
    '## Answers of the technician',
    '',
    '| Question | Answer | By | Remark |',
    '|---|---|---|---|',
    ...answered.map((step) =>
      escapedRow([step.title, step.answer?.answer ?? '', step.answer?.by ?? '', step.answer?.remark ?? '']),
    ),
    '',
  ];
}

function escapedRow(cells: readonly string[]): string {
  const bold = Object.values(words) as readonly string[];
  return `| ${cells.map((cell) => (bold.includes(cell) ? cell : foreign(cell))).join(' | ')} |`;
}

/** Foreign text of any kind as one line of plain Markdown. */
export function foreign(text: string): string {
  return escapeMarkdown(cleanLine(clean(text)));
}

function code(text: string): string {
  return codeSpan(cleanLine(text));
}
