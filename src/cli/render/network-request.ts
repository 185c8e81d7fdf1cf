import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { NetworkRequest } from '../../lib/toolkit/network/request.result.ts';
import { printable, renderTable } from '../output.ts';

/** `gw network request`: the letter itself, or where it is and what is open in it. */
export function renderNetworkRequest(data: NetworkRequest): string {
  if (data.written === null) return data.document ?? '';
  const { path, bytes, pages, replacedCharacters } = data.written;
  const size = `${bytes} bytes${pages === null ? '' : `, ${plural(pages, 'page')}`}`;
  const language = data.lang === 'de' ? 'German' : 'English';
  const letters = plural(replacedCharacters, 'character');
  return [
    `The request for ${printable(data.facts.site)} is written to ${printable(path)} (${language}, ${size}).`,
    ...(replacedCharacters === 0
      ? []
      : [chalk.yellow(`${letters} that the fonts of a PDF lack are written otherwise; the letter says which.`)]),
    '',
    ...openPointLines(data),
  ].join('\n');
}

/** What the letter calls open, and where in the site file it belongs. */
export function openPointLines({ facts, complete }: NetworkRequest): string[] {
  if (complete) return ['Nothing in the letter is open.'];
  const count = facts.open.length;
  const rows = facts.open.map(({ key, what, from }) => [key, what, from === 'customer' ? "the customer's IT" : 'you']);
  return [
    chalk.yellow(`${plural(count, 'point is', 'points are')} open in the letter:`),
    ...renderTable([{ title: 'key of the site file' }, { title: 'what is missing' }, { title: 'who knows it' }], rows)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}
