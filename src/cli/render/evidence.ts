import chalk from 'chalk';
import type { Basis, Mark } from '../../lib/evidence/index.ts';
import type { EvidenceFact, EvidenceList } from '../../lib/toolkit/evidence-list.result.ts';
import { printable } from '../output.ts';

type PlainFact = EvidenceList['facts'][number];

const basisText: Readonly<Record<Basis, string>> = {
  measured: 'measured on the one test device',
  simulated: 'measured against a chassis simulator',
  stated: 'stated by the specification, not measured',
  vendor: 'from a vendor description, to be checked on the device',
  assumed: 'plausible, without evidence',
  'not-shown': 'not shown by any source',
  disagreement: 'two sources differ, this is the mark of the side that wins',
};

const movementText: Readonly<Record<EvidenceFact['movement'], string>> = {
  'may-carry': 'an order may rely on it',
  'only-where-verified': 'an order may rely on it only where it was verified on this device with this software',
  never: 'no order may rely on it',
};

const INDENT = ' '.repeat(10);

/** `gw evidence list` */
export function renderEvidenceList({ facts, counts, inLedger }: EvidenceList): string {
  if (facts.length === 0) return `No fact of the ${inLedger} in the ledger is like that.`;
  const marks = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([mark, count]) => `${count} ${mark}`);
  const head = `${facts.length} of ${inLedger} facts: ${marks.join(', ')}.`;
  return [head, ...facts.map(renderListed)].join('\n\n');
}

function renderListed(fact: PlainFact): string {
  const short = fact.value === null || typeof fact.value === 'object' ? '' : chalk.dim(` = ${valueText(fact)}`);
  return [
    `${renderMark(fact.mark)}${fact.id}${short}`,
    `${INDENT}${fact.statement}`,
    `${INDENT}${chalk.dim(`${fact.basis}; ${fact.source}`)}`,
  ].join('\n');
}

/** `gw evidence show` */
export function renderEvidenceFact({ fact, disagreements, movement, site }: EvidenceFact): string {
  const lines = [`${fact.id} is ${fact.mark}: ${basisText[fact.basis]}.`, '', fact.statement, ''];
  const row = (title: string, text: string) => lines.push(`${chalk.dim(title.padEnd(10))}${text}`);
  if (fact.value !== null && typeof fact.value !== 'object') row('value', valueText(fact));
  else if (fact.unit !== null) row('unit', fact.unit);
  row('source', fact.source);
  row('movement', movementText[movement]);
  if (fact.note !== null) row('note', fact.note);
  if (fact.value !== null && typeof fact.value === 'object') {
    lines.push(chalk.dim('value'));
    for (const [name, value] of Object.entries(fact.value)) {
      lines.push(Array.isArray(fact.value) ? `  ${String(value)}` : `  ${name.padStart(8)}  ${String(value)}`);
    }
  }
  for (const { id, sides, wins, consequence, statement } of disagreements) {
    lines.push('', id === fact.id ? 'The two sides:' : `Disagreement ${id}: ${statement}`);
    for (const side of sides) {
      lines.push(`  ${renderMark(side.mark)}${side.id}${side.id === wins ? chalk.bold('  holds') : ''}`);
      lines.push(`  ${INDENT}${side.statement}`);
    }
    lines.push(`  ${consequence}`);
  }
  lines.push('', ...renderSite(site));
  return lines.join('\n');
}

function renderSite(site: EvidenceFact['site']): string[] {
  if (site === null) return ['Not looked up on a site: there is no site file here.'];
  const where = `chassis ${printable(site.serial)} (${printable(site.path)})`;
  if (site.records.length === 0) return [`Nothing was recorded about it for ${where}.`];
  return [
    `Recorded for ${where}:`,
    ...site.records.map((record) => {
      const what = record.confirms ? 'verified' : chalk.red('contradicted');
      const here = record.thisSerial ? 'here' : 'on another device';
      const software = `serial ${printable(record.serial)}, software ${printable(record.software)}`;
      const value = printable(JSON.stringify(record.value));
      return `  ${what} ${here} for ${software}: ${value}, ${printable(record.how)} (${printable(record.who)}, ${record.when})`;
    }),
  ];
}

function valueText({ value, unit }: PlainFact): string {
  if (value === null) return 'none';
  return unit === null ? String(value) : `${String(value)} ${unit}`;
}

function renderMark(mark: Mark): string {
  const word = mark.padEnd(INDENT.length);
  switch (mark) {
    case 'BELEGT':
      return chalk.green(word);
    case 'HINWEIS':
      return chalk.cyan(word);
    case 'VORSICHT':
      return chalk.yellow(word);
    case 'OFFEN':
      return chalk.magenta(word);
  }
}
