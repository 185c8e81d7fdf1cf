import chalk from 'chalk';
import { formatTried, roundTripText } from '../../lib/error/index.ts';
import type { ChassisAddress } from '../../lib/toolkit/chassis/chassis.result.ts';
import { printable, renderVerdict } from '../output.ts';

type Tried = ChassisAddress['tried'];

export function triedText({ address, port, via, slowLink, action, forMs }: Tried): string {
  return printable(
    formatTried({
      address,
      ...(port !== undefined && { port }),
      ...(via !== undefined && slowLink !== undefined && { via, slowLink }),
      ...(action !== undefined && { action }),
      ...(forMs !== undefined && { forMs }),
    }),
  );
}

export function placeText({ address, port }: Tried): string {
  return triedText({ address, ...(port !== undefined && { port }) });
}

const failureWords: Readonly<Record<NonNullable<ChassisAddress['failure']>, string>> = {
  refused: 'refused',
  'no-route': 'no route',
  'no-answer': 'no answer',
  'unknown-name': 'unknown name',
  'no-name-server': 'no name server',
  cut: 'cut',
  closed: 'closed',
  other: 'failed',
  'bad-answer': 'bad answer',
  'wrong-device': 'wrong device',
};

/** `gw chassis address` */
export function renderChassisAddress(data: ChassisAddress): string {
  const { name, tcp, serial, mac, tookMs, remedy } = data;
  const nameText: Record<ChassisAddress['name']['kind'], string> = {
    address: 'IP address, no lookup',
    resolved: `${name.addresses.join(', ')} (resolved in ${name.tookMs} ms)`,
    unknown: 'unknown host name',
    'no-answer': `no DNS answer within ${name.tookMs} ms`,
    'not-checked': 'not resolved here: the remote host does it',
  };
  const nameVerdict = {
    address: 'ok',
    resolved: 'ok',
    unknown: 'wrong',
    'no-answer': 'wrong',
    'not-checked': 'not-checked',
  } as const;
  const tcpText = {
    ok: `open after ${tcp.tookMs} ms`,
    wrong: 'connection failed',
    'not-checked': 'unknown: no result in time',
  };
  const found = serial.found === null ? 'not reported' : printable(serial.found);
  const lines = [
    answerLine(data),
    '',
    ...linkLine(data),
    `${renderVerdict(nameVerdict[name.kind])} name    ${printable(data.tried.address)}: ${printable(nameText[name.kind])}`,
    `${renderVerdict(tcp.verdict)} port    ${data.tried.port ?? ''} ${tcpText[tcp.verdict]}`,
    `${renderVerdict(serial.verdict)} serial  found ${found}, expected ${printable(serial.expected)}`,
    `${renderVerdict(mac.verdict)} mac     ${macText(mac)}`,
    '',
    chalk.dim(`took ${tookMs} ms`),
  ];
  if (remedy !== null) lines.push(`do next: ${remedy}`);
  return lines.join('\n');
}

/** First, since the other lines are read through it. */
function linkLine({ link, way }: ChassisAddress): string[] {
  if (way === 'direct') return [];
  if (link === null) return [`${renderVerdict('not-checked')} link    ${printable(way)}: not measured`];
  const text = `${printable(way)}: ${roundTripText(link)}`;
  return [
    link.isSlow ? `${renderVerdict('not-checked')} link    slow, ${text}` : `${renderVerdict('ok')} link    ${text}`,
  ];
}

function answerLine(data: ChassisAddress): string {
  const { state, failure, detail, tried, serial, software } = data;
  switch (state) {
    case 'connected': {
      const version = software === null ? '' : `, software ${printable(software)}`;
      return `${chalk.green('connected')}: ${placeText(tried)} is chassis ${printable(serial.found ?? '')}${version}`;
    }
    case 'starting':
      return `${chalk.yellow('starting')}: tried ${triedText(tried)}: ${printable(detail)}`;
    case 'wrong-device':
    case 'not-connected':
      return `${chalk.red.bold('not connected')}: tried ${triedText(tried)}, ${failureWords[failure ?? 'other']}: ${printable(detail)}`;
  }
}

function macText({ verdict, expected, found, detail }: ChassisAddress['mac']): string {
  const sides = found === null ? '' : ` (found ${found}, expected ${expected ?? 'not configured'})`;
  return `${verdict === 'not-checked' ? 'not checked: ' : ''}${printable(detail)}${sides}`;
}
