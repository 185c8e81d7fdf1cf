import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { EvidenceAdopted, EvidenceVerified } from '../../lib/toolkit/evidence/verify.result.ts';
import { printable, remedyLine, renderVerdict } from '../output.ts';

/** `gw evidence verify` */
export function renderEvidenceVerified({ trial, verdict, findings, interrupted, tookMs }: EvidenceVerified): string {
  const lines = [verdictHead(trial, verdict, interrupted), ''];
  if (trial.alarm !== null) lines.push(chalk.red.bold(printable(trial.alarm)), '');
  if (verdict === 'refused') {
    lines.push(...trial.refusals.map((reason) => `- ${printable(reason)}`), '', nextStep(trial.kind));
  } else {
    for (const { id, verdict: found, detail, remedy } of findings) {
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
export function renderEvidenceAdopted({ records, adopted, revoked }: EvidenceAdopted): string {
  const all = plural(records, 'record counts', 'records count');
  const lines = [adopted.length === 0 ? `No new records: ${all}.` : `Adopted: ${all} now.`];
  if (adopted.length > 0) lines.push('', `stronger evidence  ${adopted.map(printable).join(', ')}`);
  if (revoked.length > 0) lines.push('', `weaker evidence    ${revoked.map(printable).join(', ')}`);
  return lines.join('\n');
}
