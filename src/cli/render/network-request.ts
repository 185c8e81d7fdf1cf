import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { NetworkRequest } from '../../lib/toolkit/network/request.result.ts';
import { printable, renderTable } from '../output.ts';

/** `gw network request`: the letter, or its file and its open points. */
export function renderNetworkRequest(data: NetworkRequest): string {
  if (data.written === null) return data.document ?? '';
  const { path, bytes, pages, replacedCharacters } = data.written;
  const size = `${bytes} bytes${pages === null ? '' : `, ${plural(pages, 'page')}`}`;
  const language = data.lang === 'de' ? 'German' : 'English';
  const letters = plural(replacedCharacters, 'character');
  return [
    `Letter for ${printable(data.facts.site)} written to ${printable(path)} (${language}, ${size}).`,
    ...(replacedCharacters === 0
      ? []
      : [chalk.yellow(`${letters} replaced, missing in the PDF fonts; the letter lists them.`)]),
    '',
    ...openPointLines(data),
  ].join('\n');
}

/** The open points of the letter with their site file keys. */
export function openPointLines({ facts, complete }: NetworkRequest): string[] {
  if (complete) return ['No open points in the letter.'];
  const count = facts.open.length;
  const rows = facts.open.map(({ key, what, from }) => [key, what, from === 'customer' ? "the customer's IT" : 'you']);
  return [
    chalk.yellow(`${plural(count, 'open point')} in the letter:`),
    ...renderTable(['site file key', 'missing', 'provided by'], rows)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}
