import chalk from 'chalk';
import type { NetworkRequest } from '../../lib/toolkit/network/request.result.ts';
import { printable, renderTable } from '../output.ts';

/** `gw network request`: the letter, or its file and its open points. */
export function renderNetworkRequest(data: NetworkRequest): string {
  if (data.written === null) return data.document ?? '';
  const { path, bytes, pages, replacedCharacters } = data.written;
  const size = `${bytes} bytes${pages === null ? '' : `, ${pages} ${pages === 1 ? 'page' : 'pages'}`}`;
  const language = data.lang === 'de' ? 'German' : 'English';
  const letters = `${replacedCharacters} ${replacedCharacters === 1 ? 'character' : 'characters'}`;
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
    chalk.yellow(`${count} open ${count === 1 ? 'point' : 'points'} in the letter:`),
    ...renderTable([{ title: 'site file key' }, { title: 'missing' }, { title: 'provided by' }], rows)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}
