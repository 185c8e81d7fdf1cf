import chalk from 'chalk';
import type { Next } from '../../lib/toolkit/next/next.result.ts';
import { page, printable, renderVerdict } from '../output.ts';

/** `gw next` */
export function renderNext({ next, steps, unseen }: Next): string {
  const lead = next === null ? [] : next.atHand.map((text) => `  at hand   ${printable(text)}`);
  return page(
    firstLine(next),
    next !== null && `  why       ${printable(next.title)}: ${printable(next.detail)}`,
    lead,
    '',
    steps.map(({ verdict, title, detail, id }) => {
      // A later step is no fault.
      const mark = id === next?.id ? chalk.bold('next') : verdict === 'wrong' ? 'open' : renderVerdict(verdict);
      return `${mark} ${printable(title)}: ${printable(detail)}`;
    }),
    unseen.map((text) => `${renderVerdict('not-checked')} gw cannot see ${printable(text)}`),
  );
}

function firstLine(next: Next['next']): string {
  if (next === null) return chalk.green('Nothing is open: on every later visit gw checklist run service');
  if (next.command === null) return chalk.yellow(`Next: ${next.title}`);
  return `Next: ${chalk.bold(printable(next.command))}`;
}
