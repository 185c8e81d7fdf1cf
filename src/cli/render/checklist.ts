import chalk from 'chalk';
import type { StepResult } from '../../lib/checklist/index.ts';
import type { ChecklistList, ChecklistRun, ChecklistShow } from '../../lib/toolkit/checklist-run.result.ts';
import { printable, renderTable, renderVerdict } from '../output.ts';

const MOST_TITLE_WIDTH = 52;

/** `gw checklist list` */
export function renderChecklistList({ checklists, checks }: ChecklistList): string {
  const lists = checklists.map(({ name, title, runs, questions, movesRobot }) => {
    return [name, String(runs), String(questions), movesRobot ? 'yes' : 'no', printable(title)];
  });
  const lines = checks.flatMap(({ name, summary, moves, options }) => [
    `  ${name}${moves ? chalk.yellow(' (moves the robot)') : ''}  ${chalk.dim(summary)}`,
    ...options.map((option) => {
      return chalk.dim(`      with ${option.name}${option.required ? ' (needed)' : ''}: ${option.description}`);
    }),
  ]);
  return [
    `${count(checklists.length, 'checklist comes', 'checklists come')} with gw; run one with \`gw checklist run NAME\`.`,
    '',
    renderTable(
      [
        { title: 'name' },
        { title: 'checks', align: 'right' },
        { title: 'questions', align: 'right' },
        { title: 'moves the robot' },
        { title: 'about' },
      ],
      lists,
    ),
    '',
    'Checks that an own checklist may name under run:',
    '',
    ...lines,
  ].join('\n');
}

/** `gw checklist show` */
export function renderChecklistShow({ name, title, purpose, steps }: ChecklistShow): string {
  const questions = steps.filter((step) => step.kind === 'confirm').length;
  const head = `${printable(title)}: ${count(steps.length - questions, 'check', 'checks')} and ${count(questions, 'question', 'questions')} (${printable(name)}).`;
  const lines = steps.flatMap((step, index) => {
    const what = step.kind === 'run' ? `runs '${step.run}'` : `asks: ${printable(step.question ?? '')}`;
    return [
      '',
      `${String(index + 1).padStart(2)}. ${chalk.bold(printable(step.title))} ${chalk.dim(`(${step.id})`)}`,
      `    ${what}${step.moves ? chalk.yellow('; moves the robot') : ''}`,
      ...step.expects.map(({ path, expected }) => `    expects ${path}: ${printable(expected)}`),
      chalk.dim(`    proves: ${printable(step.proves)}`),
      ...(step.needs.length > 0 ? [chalk.dim(`    needs: ${step.needs.join(', ')}`)] : []),
    ];
  });
  return [head, printable(purpose), ...lines].join('\n');
}

/** `gw checklist run` */
export function renderChecklistRun(result: ChecklistRun): string {
  const { steps, subject, tookMs, written, interrupted } = result;
  return [
    renderChecklistVerdict(result),
    chalk.dim(
      [
        subject
          ? `${printable(subject.site)}, chassis ${printable(subject.serial)}`
          : 'the site file could not be read',
        `${(tookMs / 1000).toFixed(1)} s`,
        ...(interrupted ? ['interrupted'] : []),
      ].join(', '),
    ),
    '',
    ...renderSteps(steps),
    ...(written.length > 0 ? ['', 'Report:', ...written.map((path) => `  ${printable(path)}`)] : []),
  ].join('\n');
}

/** The one line that answers the question. */
export function renderChecklistVerdict({
  title,
  ok,
  counts,
  steps,
}: Pick<ChecklistRun, 'title' | 'ok' | 'counts' | 'steps'>): string {
  if (ok) return `${chalk.green.bold('ALL OK')}  ${printable(title)}: ${steps.length} of ${steps.length} steps are ok.`;
  const parts = [
    [counts.wrong, 'wrong'],
    [counts.skipped, 'skipped'],
    [counts.notChecked, 'not checked'],
    [counts.ok, 'ok'],
  ] as const;
  const said = parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`);
  const mark = counts.wrong > 0 ? chalk.red.bold('NOT OK') : chalk.yellow.bold('NOT COMPLETE');
  return `${mark}  ${printable(title)}: ${said.join(', ')} of ${steps.length} steps.`;
}

/** The steps, one below the other; their figures stand in a column. */
export function renderSteps(steps: readonly StepResult[]): string[] {
  const width = Math.min(MOST_TITLE_WIDTH, Math.max(0, ...steps.map(({ title }) => title.length)));
  return steps.map((step) => renderStep(step, width));
}

/** A step with what was proven; one that is not ok says why and how to mend it. */
function renderStep(step: StepResult, width: number): string {
  if (step.verdict === 'ok') return renderStepLine(step, width);
  const why = `        ${printable(step.why)}`;
  return [
    renderStepLine(step, width),
    why,
    ...(step.remedy === null ? [] : [`        ${chalk.cyan('to mend:')} ${printable(step.remedy)}`]),
  ].join('\n');
}

/** A step on one line: verdict, title, what was proven. */
export function renderStepLine({ verdict, title, shown, why, kind }: StepResult, width = MOST_TITLE_WIDTH): string {
  const mark = verdict === 'skipped' ? chalk.yellow('skip') : renderVerdict(verdict);
  const proven = shown ?? (kind === 'run' && verdict === 'ok' ? why : '');
  return `${mark}  ${printable(title).padEnd(width)} ${chalk.dim(printable(proven))}`.trimEnd();
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
