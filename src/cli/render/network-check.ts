import chalk from 'chalk';
import { pluralWord } from '../../lib/text/index.ts';
import type { NetworkCheck, NetworkLine, NetworkSocket } from '../../lib/toolkit/network/check.result.ts';
import { printable, renderTable, renderVerdict } from '../output.ts';

const sections = [
  ['outward', 'Outward, from this gateway'],
  ['inward', 'Inward, what listens on this gateway'],
  ['segment', 'Segments, who reaches whom'],
] as const;

/** `gw network check` */
export function renderNetworkCheck(data: NetworkCheck): string {
  const { lines, sockets, paths, tookMs, checks } = data;
  const blocks = sections.map(([section, title]) => {
    const own = lines.filter((line) => line.section === section);
    return own.length === 0 ? '' : [chalk.bold(title), ...own.flatMap(renderLine)].join('\n');
  });
  // Who opens TLS is asked for once, and not again for every way.
  const isInspected = lines.some(({ id, verdict }) => id === 'tls-inspection' && verdict === 'wrong');
  const asking = lines.filter(({ id, verdict }) => verdict === 'wrong' && !(isInspected && id.endsWith('.tls')));
  const asks = [...new Set(asking.flatMap(({ ask }) => (ask === null ? [] : [ask])))];
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
    issuers.length === 0
      ? ''
      : renderTable(
          [{ title: 'TLS to' }, { title: 'protocol' }, { title: 'ALPN' }, { title: 'chain' }, { title: 'issued by' }],
          issuers,
        );
  const slowest = Math.max(0, ...checks.map((check) => check.tookMs));
  const took = chalk.dim(
    `took ${(tookMs / 1000).toFixed(1)} s; the slowest single check ${(slowest / 1000).toFixed(1)} s`,
  );
  return [firstLine(data), ...blocks, renderSockets(sockets), chains, asked, took]
    .filter((block) => block !== '')
    .join('\n\n');
}

function firstLine({ verdict, lines, counts }: NetworkCheck): string {
  const notLooked = lines.filter((line) => line.need === 'optional' && line.verdict === 'not-checked').length;
  const open =
    notLooked === 0 ? '' : `; ${notLooked} optional ${pluralWord(notLooked, 'line was', 'lines were')} not checked`;
  const needed = lines.filter((line) => line.need === 'needed');
  const missing = needed.filter((line) => line.verdict === 'not-checked').length;
  const unlooked =
    missing === 0 ? '' : `; ${missing} needed ${pluralWord(missing, 'line was', 'lines were')} not checked`;
  const optional =
    counts.optionalWrong === 0
      ? ''
      : `; ${counts.optionalWrong} optional ${pluralWord(counts.optionalWrong, 'line is', 'lines are')} wrong`;
  switch (verdict) {
    case 'ok':
      return `${chalk.green('The network is as it must be')}${optional}${open}.`;
    case 'not-checked':
      return `${chalk.yellow('Nothing needed is wrong, and not everything was looked at')}${unlooked}${optional}.`;
    case 'wrong': {
      const first = needed.find((line) => line.verdict === 'wrong');
      const what = first === undefined ? '' : ` ${printable(first.title)}: ${printable(first.detail)}`;
      return `${chalk.red.bold(`${counts.wrong} needed ${pluralWord(counts.wrong, 'line is', 'lines are')} wrong`)}${unlooked}${optional}. First:${what}`;
    }
  }
}

function renderLine({ id, verdict, need, title, detail, remedy, tried }: NetworkLine): string[] {
  // Where a way leads is said once, with its first words.
  const where = tried === null || /\.(name|tls|alpn|mqtt|https)$/.test(id) ? '' : chalk.dim(` [${printable(tried)}]`);
  const mark = verdict === 'wrong' && need === 'optional' ? chalk.yellow('no  ') : renderVerdict(verdict);
  const optional = need === 'optional' ? ' (optional)' : '';
  return [
    `${mark} ${printable(title)}${optional}: ${printable(detail)}${where}`,
    ...(remedy === null ? [] : [`     do next: ${printable(remedy)}`]),
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
  return renderTable(
    [
      { title: 'socket' },
      { title: 'bound to' },
      { title: 'port', align: 'right' },
      { title: 'process' },
      { title: 'allowed by' },
      { title: 'why' },
    ],
    rows,
  );
}
