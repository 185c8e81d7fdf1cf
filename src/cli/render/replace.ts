import chalk from 'chalk';
import type { Replacement, ReplacementStep, StepLine } from '../../lib/toolkit/replace/replace.result.ts';
import { countsText, page, printable, remedyLine, renderVerdict } from '../output.ts';

/** `gw replace chassis|gateway|tablet` */
export function renderReplacement(result: Replacement): string {
  const { steps, next, problem, done, file, begunAt } = result;
  return page(
    firstLine(result),
    result.simulated && chalk.yellow.bold('SIMULATED ROBOT: not an acceptance'),
    `Begun at ${begunAt}, remembered in ${printable(file)}.`,
    done.length > 0 && `Done by this run: ${done.join(', ')}.`,
    problem !== null && [
      '',
      `${chalk.red.bold('Not done')}: ${printable(problem.message)}`,
      remedyLine(problem.remedy, 'do next: '),
    ],
    steps.map((step, at) => ['', stepText(step, at + 1, step.id === next)]),
  );
}

function firstLine({ verdict, part, from, to, steps, next }: Replacement): string {
  const what = `${part} ${printable(from)}${to === '' ? '' : ` by ${printable(to)}`}`;
  const count = (wanted: StepLine['verdict']) => steps.filter((step) => step.verdict === wanted).length;
  const counts = countsText([
    [count('wrong'), 'wrong'],
    [count('open'), 'open'],
    [count('not-checked'), 'not checked'],
    [count('stated'), 'stated by a person'],
    [count('ok'), 'ok'],
  ]);
  const at = steps.findIndex(({ id }) => id === next);
  const then = at === -1 ? '' : ` Next: ${at + 1}, ${steps[at]?.title}.`;
  switch (verdict) {
    case 'complete':
      return `${chalk.green('Replacement complete')}: ${what}: ${counts}.`;
    case 'wrong':
      return `${chalk.red.bold('Replacement has a wrong step')}: ${what}: ${counts}.${then}`;
    case 'open':
      return `${chalk.yellow('Replacement not complete')}: ${what}: ${counts}.${then}`;
    case 'not-checked':
      return `${chalk.yellow('Replacement not completely checked')}: ${what}: ${counts}.${then}`;
  }
}

function stepText({ id, title, verdict, lines }: ReplacementStep, number: number, isNext: boolean): string[] {
  const head = `${number}. ${title} (${id})${isNext ? '  <- next' : ''}`;
  return [`${sign(verdict)} ${isNext ? chalk.bold(head) : head}`, ...lines.flatMap(lineText)];
}

function lineText({ verdict, title, detail, remedy }: StepLine): string[] {
  const text = `     ${sign(verdict)} ${printable(title)}: ${printable(detail)}`;
  return remedy === null ? [text] : [text, `     ${remedyLine(remedy, 'do next: ')}`];
}

/** The word of a person is never green. */
function sign(verdict: StepLine['verdict']): string {
  if (verdict === 'open') return chalk.yellow('open');
  if (verdict === 'stated') return chalk.cyan('said');
  return renderVerdict(verdict);
}
