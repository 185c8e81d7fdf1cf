import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type {
  NetworkCheck,
  NetworkLine,
  NetworkRequest,
  NetworkSocket,
} from '../../lib/toolkit/network/network.result.ts';
import { DO_NEXT, groupsWorstFirst, printable, remedyLine, renderTable, renderVerdict, right } from '../output.ts';

const sections = [
  ['outward', 'Outward, from this gateway'],
  ['inward', 'Inward, open sockets of this gateway'],
  ['segment', 'Segments, reachability between hosts'],
] as const;

/** `gw network check` */
export function renderNetworkCheck(data: NetworkCheck): string {
  const { lines, sockets, paths, tookMs, checks } = data;
  const groups = sections.map(([id, title]) => ({ title, lines: lines.filter(({ section }) => section === id) }));
  const blocks = groupsWorstFirst(groups, renderLine);
  // TLS interception is requested once, not again for every path.
  const isInspected = lines.some(({ id, verdict }) => id === 'tls-inspection' && verdict === 'wrong');
  const failed = lines.filter(({ id, verdict }) => verdict === 'wrong' && !(isInspected && id.endsWith('.tls')));
  const asks = [...new Set(failed.flatMap(({ ask }) => (ask === null ? [] : [ask])))];
  const asked =
    asks.length === 0
      ? ''
      : [chalk.bold("Ask the customer's IT"), ...asks.map((ask) => `- ${printable(ask)}`)].join('\n');
  const issuers = paths.flatMap(({ host, port, tls }) =>
    tls === null
      ? []
      : [[`${host}:${port}`, tls.protocol, tls.alpn ?? '--', tls.trust, tls.chain[0]?.issuer ?? '--'].map(printable)],
  );
  const chains =
    issuers.length === 0 ? '' : renderTable(['endpoint', 'protocol', 'ALPN', 'chain', 'issued by'], issuers);
  const slowest = Math.max(0, ...checks.map((check) => check.tookMs));
  const took = chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s; slowest check ${(slowest / 1000).toFixed(1)} s`);
  return [firstLine(data), ...blocks, renderSockets(sockets), chains, asked, took]
    .filter((block) => block !== '')
    .join('\n\n');
}

function firstLine({ verdict, lines, counts }: NetworkCheck): string {
  const needed = lines.filter((line) => line.need === 'needed');
  const notChecked = needed.filter((line) => line.verdict === 'not-checked').length;
  const optionalNotChecked = counts.notChecked - notChecked;
  const also = [
    ...(verdict === 'wrong' && notChecked > 0 ? [`${notChecked} not checked`] : []),
    ...(counts.optionalWrong > 0 ? [`${counts.optionalWrong} optional failed`] : []),
    ...(optionalNotChecked > 0 ? [`${optionalNotChecked} optional not checked`] : []),
  ];
  const rest = also.length === 0 ? '' : `; ${also.join(', ')}`;
  switch (verdict) {
    case 'ok':
      return `${chalk.green(`Network ok: ${needed.length} of ${needed.length} checks`)}${rest}.`;
    case 'not-checked':
      return `${chalk.yellow(`Not decided: ${notChecked} of ${needed.length} network checks were not checked`)}${rest}.`;
    case 'wrong': {
      const first = needed.find((line) => line.verdict === 'wrong');
      const what = first === undefined ? '' : ` First: ${printable(first.title)}: ${printable(first.detail)}`;
      return `${chalk.red.bold(`FAILED: ${counts.wrong} of ${needed.length} network checks`)}${rest}.${what}`;
    }
  }
}

function renderLine({ id, verdict, need, title, detail, remedy, tried }: NetworkLine): string[] {
  // The endpoint is shown once per path, in its TCP line.
  const where = tried === null || /\.(name|tls|alpn|mqtt|https)$/.test(id) ? '' : chalk.dim(` [${printable(tried)}]`);
  const mark = verdict === 'wrong' && need === 'optional' ? chalk.yellow('no  ') : renderVerdict(verdict);
  const optional = need === 'optional' ? ' (optional)' : '';
  return [
    `${mark} ${printable(title)}${optional}: ${printable(detail)}${where}`,
    ...(remedy === null ? [] : [remedyLine(remedy, DO_NEXT)]),
  ];
}

function renderSockets(sockets: readonly NetworkSocket[] | null): string {
  if (sockets === null || sockets.length === 0) return '';
  const rows = sockets.map(({ protocol, address, port, processes, allowedBy, why }) => [
    protocol,
    printable(address),
    `${port}`,
    processes.length === 0 ? '--' : printable(processes.map(({ name, pid }) => `${name} (${pid})`).join(', ')),
    allowedBy === 'not-checked' ? chalk.yellow('not checked') : (allowedBy ?? chalk.red('nothing')),
    printable(why),
  ]);
  return renderTable(['socket', 'bound to', right('port'), 'process', 'allowed by', 'why'], rows);
}

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
    renderTable(['site file key', 'missing', 'provided by'], rows),
  ];
}
