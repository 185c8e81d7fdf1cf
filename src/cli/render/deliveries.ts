import chalk from 'chalk';
import { plural, titleAndKey, titleIn } from '../../lib/text/index.ts';
import type { Deliveries } from '../../lib/toolkit/gateway/deliveries.result.ts';
import { printable, renderTable } from '../output.ts';

type Delivery = Deliveries['deliveries'][number];

/** What the list does not have; none: it is complete. */
export function gapsOf({ more, unreadable, lost, trouble }: Deliveries): string[] {
  return [
    ...(trouble === null ? [] : [`The list cannot be written now: ${printable(trouble)}`]),
    ...(lost === 0
      ? []
      : [`${plural(lost, 'line')} NOT WRITTEN, or more: since the gateway started, or on a full day.`]),
    ...(unreadable === 0 ? [] : [`${plural(unreadable, 'line')} of the list cannot be read.`]),
    ...(more === 0 ? [] : [`${more} older ones are not listed: name a later --since.`]),
  ];
}

/** `gw deliveries` */
export function renderDeliveries(data: Deliveries): string {
  const { deliveries } = data;
  const troubles = gapsOf(data).map((line) => chalk.yellow(line));
  if (deliveries.length === 0) return ['No drive began since then.', ...troubles].join('\n');
  const failed = deliveries.filter(({ result }) => result === 'failed' || result === 'not-known').length;
  return [
    `${plural(deliveries.length, 'drive')}, newest first; ${failed === 0 ? 'none failed' : `${failed} failed, or it is not known how they ended`}.`,
    ...troubles,
    '',
    renderTable(
      ['begun', 'ended', 'to', 'ordered by', 'result'],
      deliveries.map((one) => [
        localTime(one.begunAt, one.timeZone),
        one.endedAt === null ? '-' : localTime(one.endedAt, one.timeZone),
        printable(goalOf(one)),
        one.by ?? 'not known',
        `${one.result}${one.reason === null ? '' : `: ${printable(one.reason)}`}`,
      ]),
    ),
  ].join('\n');
}

const columns = ['begun', 'ended', 'time_zone', 'kind', 'name', 'title', 'ordered_by', 'result', 'reason'] as const;

/** The same as CSV (RFC 4180), with times in UTC. */
export function deliveriesCsv({ deliveries }: Deliveries): string {
  const rows = deliveries.map((one) =>
    [
      ...[one.begunAt, one.endedAt, one.timeZone, one.kind, one.name],
      one.title === undefined ? one.name : titleIn(one.title, 'en'),
      ...[one.by, one.result, one.reason],
    ]
      .map(cell)
      .join(','),
  );
  return [columns.join(','), ...rows].map((row) => `${row}\r\n`).join('');
}

/** A text that a spreadsheet would calculate is one of a program here: it stays a text. */
function cell(value: string | null): string {
  const text = value ?? '';
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function goalOf({ kind, name, title }: Delivery): string {
  if (name === null) return 'the dock';
  return `${kind === 'tour' ? 'tour ' : ''}${titleAndKey(name, title)}`;
}

function localTime(utc: string, timeZone: string): string {
  try {
    return new Date(utc).toLocaleString('sv-SE', { timeZone });
  } catch {
    return `${utc} (UTC)`;
  }
}
