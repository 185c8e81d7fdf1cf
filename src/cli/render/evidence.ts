import chalk from 'chalk';
import { type EvidenceAdoption, type FactBasis, markText } from '../../lib/evidence/index.ts';
import { plural } from '../../lib/text/index.ts';
import type {
  EvidenceFact,
  EvidenceList,
  EvidenceRecorded,
  EvidenceVerified,
  Here,
  PlainFact,
} from '../../lib/toolkit/evidence/evidence.result.ts';
import { printable, remedyLine, renderVerdict, worstFirst } from '../output.ts';
import { colourMark, type Evidence } from './mark.ts';

const basisTexts: Readonly<Record<FactBasis, string>> = {
  measured: 'measured on the one test device',
  simulated: 'measured against a chassis simulator',
  stated: 'stated by the specification, not measured',
  vendor: 'from a vendor description, to be verified on the device',
  assumed: 'plausible, without evidence',
  'not-shown': 'open: not shown by any source',
  disagreement: 'two sources differ, this is the mark of the side that wins',
};

const movementText: Readonly<Record<EvidenceFact['movement'], string>> = {
  'may-carry': 'an order may rely on it',
  'only-where-verified': 'an order may rely on it only where it was verified on this device with this software',
  never: 'no order may rely on it',
};

const INDENT = ' '.repeat(10);

/** `gw evidence list` */
export function renderEvidenceList({ facts, counts, inLedger, site }: EvidenceList): string {
  if (facts.length === 0) return `No match among ${inLedger} facts.`;
  const marks = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([mark, count]) => `${count} ${mark}`);
  const head = `${facts.length} of ${inLedger} facts: ${marks.join(', ')}.`;
  const recorded = facts.filter(({ here }) => here !== null && here.verdict !== 'as-marked').length;
  const where = site && [`Records about ${recorded} of them for ${deviceText(site)}.`];
  return [[head, ...(where ?? [])].join('\n'), ...facts.map(renderListed)].join('\n\n');
}

function renderListed(fact: EvidenceList['facts'][number]): string {
  const short = fact.value === null || typeof fact.value === 'object' ? '' : chalk.dim(` = ${valueText(fact)}`);
  return [
    `${renderMark(fact)}${fact.id}${short}`,
    `${INDENT}${fact.statement}`,
    `${INDENT}${chalk.dim(fact.source)}`,
    ...(fact.here && fact.here.verdict !== 'as-marked' ? [`${INDENT}${renderHere(fact.here)}`] : []),
  ].join('\n');
}

/** `gw evidence show` */
export function renderEvidenceFact(shown: EvidenceFact): string {
  const { fact, disagreements, movement, movementHere, here, entries } = shown;
  const isRaised = here?.verdict === 'verified' && here.mark !== fact.mark;
  const head = isRaised
    ? `${fact.id} is ${markText(here)} and ${markText(fact)} elsewhere: ${hereText(here)}.`
    : `${fact.id} is ${markText(fact)}: ${basisTexts[fact.basis]}${here?.verdict === 'contradicted' ? ', and contradicted on this device' : ''}.`;
  const lines = [head, '', fact.statement, ''];
  const row = (title: string, text: string) => lines.push(`${chalk.dim(title.padEnd(10))}${text}`);
  if (fact.value !== null && typeof fact.value !== 'object') row('value', valueText(fact));
  else if (fact.unit !== null) row('unit', fact.unit);
  row('source', fact.source);
  row('movement', movementText[movement]);
  if (movementHere)
    row('', `${movementHere.usable ? 'here: yes' : chalk.yellow('here: no')}, ${printable(movementHere.why)}`);
  if (here && here.verdict !== 'as-marked') row('here', renderHere(here));
  if (fact.note !== null) row('note', fact.note);
  if (fact.value !== null && typeof fact.value === 'object') {
    lines.push(chalk.dim('value'));
    for (const [name, value] of Object.entries(fact.value)) {
      const entry = entries.find((other) => other.entry === name);
      const beside = entry ? `  ${renderHere(entry.here)}` : '';
      lines.push(Array.isArray(fact.value) ? `  ${String(value)}` : `  ${name.padStart(8)}  ${String(value)}${beside}`);
    }
  }
  for (const { id, sides, wins, consequence, statement } of disagreements) {
    lines.push('', id === fact.id ? 'The two sides:' : `Disagreement ${id}: ${statement}`);
    for (const side of sides) {
      lines.push(`  ${renderMark(side)}${side.id}${side.id === wins ? chalk.bold('  holds') : ''}`);
      lines.push(`  ${INDENT}${side.statement}`);
    }
    lines.push(`  ${consequence}`);
  }
  lines.push('', ...renderRecords(shown));
  return lines.join('\n');
}

type ShownRecord = EvidenceFact['records'][number];

const scopeText: Readonly<Record<ShownRecord['scope'], string>> = {
  here: 'counts here',
  expired: 'expired: the chassis now has another software version',
  foreign: 'of another device',
  'not-checked': 'present software not read (--live)',
};

const comparisonText: Readonly<Record<ShownRecord['comparison'], string>> = {
  holds: 'verified',
  differs: 'contradicted',
  undecided: 'recorded',
};

function renderRecords({ site, records }: EvidenceFact): string[] {
  if (site === null) return ['No records: there is no site file here.'];
  const where = `${deviceText(site)} (${printable(site.path)})`;
  if (records.length === 0) return [`No records for ${where}.`];
  return [
    `Recorded for ${where}:`,
    ...records.flatMap(
      ({ comparison, scope, unsealed, serial, software, value, how, who, when, attachment, attachmentState }) => [
        `  ${comparison === 'differs' ? chalk.red(comparisonText.differs) : comparisonText[comparison]} on ${printable(serial)} with software ${printable(software)}: ${printable(JSON.stringify(value))}`,
        `    ${printable(how)} (${printable(who)}, ${when})`,
        ...(attachment === undefined
          ? []
          : [`    samples in ${printable(attachment.file)}, ${attachmentText(attachmentState)}`]),
        `    ${unsealed ? chalk.yellow('does not count: its trial has no seal here, so run it again') : chalk.dim(scopeText[scope])}`,
      ],
    ),
  ];
}

function attachmentText(state: ShownRecord['attachmentState']): string {
  if (state === null) return 'not checked';
  if (state === 'as-recorded') return 'as recorded';
  return chalk.red(state === 'missing' ? 'MISSING' : state === 'changed' ? 'CHANGED since' : 'unreadable');
}

/** `gw evidence record` */
export function renderEvidenceRecorded(recorded: EvidenceRecorded): string {
  const { fact, record, now, before, entries, movement, path, created, records, appliesTo } = recorded;
  const lines = [`Recorded: ${headOf(recorded)}.`, ''];
  const row = (title: string, text: string) => lines.push(`${chalk.dim(title.padEnd(10))}${text}`);
  row('fact', fact.statement);
  row('value', printable(JSON.stringify(record.value)));
  row('how', printable(record.how));
  row('who', `${printable(record.who)}, ${record.when}`);
  row('before', renderHere(before));
  row('now', renderHere(now));
  for (const entry of entries) row('', `${entry.entry} (${entry.value}): ${renderHere(entry.now)}`);
  row('movement', movementChange(movement));
  if (movement.orders.length > 0) row('orders', `relying on it: ${movement.orders.join(', ')}`);
  row('file', `${printable(path)}${created ? ', new' : ''}, ${plural(records, 'record')}`);
  const gateway =
    appliesTo.gateway === 'within-a-second'
      ? 'a running `gw serve` closes its gate within a second and cancels a move that relies on this fact.'
      : 'in a running `gw serve` it counts after a restart, or with `gw evidence adopt`.';
  lines.push(
    '',
    `The record counts for this serial number and software version only. Commands read the file each time; ${gateway}`,
  );
  return lines.join('\n');
}

function headOf({ fact, record, now, entries }: EvidenceRecorded): string {
  const device = `on ${printable(record.serial)} with software ${printable(record.software)}`;
  const [entry, ...others] = entries;
  const isOne = entry !== undefined && others.length === 0;
  const what = isOne ? `${fact.id} ${entry.entry}` : fact.id;
  const shown = isOne ? entry.now : now;
  const { verdict } = shown;
  if (verdict === 'contradicted') return `${what} is contradicted ${device}`;
  if (verdict !== 'verified') return `${entries.length} entries of ${fact.id} ${device}`;
  const elsewhere = shown.mark === fact.mark ? ', as everywhere' : ` (${fact.mark} elsewhere)`;
  return `${what} is ${markText(shown)} ${device}${elsewhere}`;
}

function movementChange({ usable, before, why }: EvidenceRecorded['movement']): string {
  if (usable === before)
    return usable
      ? `an order may rely on it, as before: ${printable(why)}`
      : `no order may rely on it, as before: ${printable(why)}`;
  return usable
    ? chalk.green(`an order may rely on it now: ${printable(why)}`)
    : chalk.red(`no order may rely on it now: ${printable(why)}`);
}

/** Basis of a mark that a record of this device raised. */
function hereText({ basis }: Here): string {
  return basis === 'simulated'
    ? 'recorded on a simulator, which is no evidence about a real robot'
    : 'measured on this device with this software';
}

/** As text, readable without colour. */
function renderHere(here: Here): string {
  const { verdict } = here;
  const mark = markText(here);
  switch (verdict) {
    case 'verified':
      return chalk.green(`${markText(here)}: ${hereText(here)}`);
    case 'contradicted':
      return chalk.red('contradicted on this device with this software');
    case 'in-part':
      return chalk.cyan(`${mark}, and recorded for some entries of the table`);
    case 'expired':
      return chalk.yellow(`${mark}: recorded with another software version, so verify it again`);
    case 'not-checked':
      return chalk.yellow(`${mark}: recorded on this device; its present software was not read (--live)`);
    case 'as-marked':
      return `${mark}, no record on this device`;
  }
}

function deviceText({ serial, software }: { readonly serial: string; readonly software: string | null }): string {
  const version = software === null ? ', software not read' : ` with software ${printable(software)}`;
  return `chassis ${printable(serial)}${version}`;
}

function valueText({ value, unit }: PlainFact): string {
  if (value === null) return 'none';
  return unit === null ? String(value) : `${String(value)} ${unit}`;
}

function renderMark(evidence: Evidence): string {
  return `${colourMark(evidence)}  `;
}

/** `gw evidence verify` */
export function renderEvidenceVerified({ trial, verdict, findings, interrupted, tookMs }: EvidenceVerified): string {
  const lines = [verdictHead(trial, verdict, interrupted), ''];
  if (trial.alarm !== null) lines.push(chalk.red.bold(printable(trial.alarm)), '');
  if (verdict === 'refused') {
    lines.push(...trial.refusals.map((reason) => `- ${printable(reason)}`), '', nextStep(trial.kind));
  } else {
    for (const { id, verdict: found, detail, remedy } of worstFirst(findings)) {
      lines.push(`${renderVerdict(found)} ${id}: ${printable(detail)}`);
      if (remedy !== null && found === 'wrong') lines.push(remedyLine(remedy));
    }
  }
  for (const note of trial.notes) lines.push('', printable(note));
  const file = trial.report === null ? 'no report written' : `report ${printable(trial.report.file)}`;
  const records = plural(trial.recorded.length, 'record');
  lines.push(
    '',
    chalk.dim(`${records} written, ${file}; by ${printable(trial.who)}; took ${(tookMs / 1000).toFixed(1)} s`),
  );
  return lines.join('\n');
}

function nextStep(kind: EvidenceVerified['trial']['kind']): string {
  const order =
    kind === 'stop' ? '' : ' If the cancel is not verified on this robot yet, run `gw evidence verify stop` first.';
  return `Resolve these reasons, then run the trial again.${order}`;
}

function verdictHead(
  { kind, facts, serial, software, simulated, reason }: EvidenceVerified['trial'],
  verdict: string,
  interrupted: boolean,
): string {
  const what = `Trial '${kind}'`;
  const on = `${printable(serial ?? 'an unknown chassis')} (software ${printable(software ?? 'unknown')}${simulated ? ', simulated' : ''})`;
  const count = (wanted: string) => {
    const found = facts.filter((fact) => fact.verdict === wanted).length;
    return plural(found, 'fact');
  };
  switch (verdict) {
    case 'verified':
      return `${chalk.green('VERIFIED')}: ${what}, ${count('holds')} on ${on}.`;
    case 'contradicted':
      return `${chalk.red.bold('CONTRADICTED')}: ${what}, ${count('differs')} on ${on}. No order relies on it now.`;
    case 'refused':
      return `${chalk.red.bold('REFUSED')}: ${what} on ${on}. No order was sent.`;
    case 'cancelled':
      return `${chalk.yellow(interrupted ? 'INTERRUPTED' : 'CANCELLED')}: ${what} on ${on}. Nothing was verified. ${printable(reason ?? '')}`;
    default:
      return `${chalk.yellow('NOT DECIDED')}: ${what}, ${count('holds')} verified, the rest not decided on ${on}.`;
  }
}

/** `gw evidence adopt` */
export function renderEvidenceAdopted({ records, adopted, revoked }: EvidenceAdoption): string {
  const all = plural(records, 'record counts', 'records count');
  const lines = [adopted.length === 0 ? `No new records: ${all}.` : `Adopted: ${all} now.`];
  if (adopted.length > 0) lines.push('', `stronger evidence  ${adopted.map(printable).join(', ')}`);
  if (revoked.length > 0) lines.push('', `weaker evidence    ${revoked.map(printable).join(', ')}`);
  return lines.join('\n');
}
