import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { Enrol, EnrolStatus } from '../../lib/toolkit/enrol/enrol.result.ts';
import { DO_NEXT, findingsLines, page, printable, renderTable, spanText } from '../output.ts';

/** `gw enrol` */
export function renderEnrol({ url, resumed, replaced, clock, verifiedBy, status }: Enrol): string {
  const how = resumed ? ', with the key of the interrupted run' : '';
  const what = replaced ? 'has a new identity' : 'is enrolled';
  const list = verifiedBy === 'system' ? "the operating system's list" : 'NODE_EXTRA_CA_CERTS';
  const warning = (...lines: string[]) => ['', ...lines.map((line) => chalk.yellow(line))];
  return page(
    `${chalk.green(`${printable(status.serial)} ${what}`)} by ${printable(url)}${how}.`,
    clock.verdict === 'wrong' &&
      clock.aheadMs !== null &&
      warning(
        `The clock of this device is ${spanText(Math.abs(clock.aheadMs))} ${clock.aheadMs > 0 ? 'ahead of' : 'behind'} that of the enrolment endpoint. Set it with timedatectl:`,
        'with a wrong clock certificates of the cloud cannot be verified, and the cloud is not reachable.',
      ),
    clock.verdict === 'not-checked' &&
      warning('Clock of this device not checked: no Date header from the enrolment endpoint.'),
    (verifiedBy === 'system' || verifiedBy === 'extra') &&
      warning(
        `The certificate of the endpoint was verified with ${list} alone: a CA of the operator, or a proxy's.`,
        'Set enrolment.caFile to the CA of the operator to exclude a proxy.',
      ),
    ['', details(status)],
  );
}

/** `gw enrol status` */
export function renderEnrolStatus(status: EnrolStatus): string {
  return [firstLine(status), '', ...details(status)].join('\n');
}

function firstLine({ state, verdict, identity, serial, begunAt }: EnrolStatus): string {
  switch (state) {
    case 'not-enrolled':
      return chalk.red.bold(`${printable(serial)} is not enrolled.`);
    case 'begun':
      return chalk.red.bold(`${printable(serial)} is not enrolled: enrolment started at ${begunAt}, not finished.`);
    case 'broken':
      return chalk.red.bold(`The identity of ${printable(serial)} is broken.`);
    case 'of-another-robot': {
      const other = printable(identity?.serial ?? '');
      return chalk.red.bold(`${printable(serial)} is not enrolled: the identity on this machine is that of ${other}.`);
    }
    case 'enrolled': {
      const days = identity?.daysLeft ?? null;
      const left = days === null ? 'remaining validity unknown' : `${plural(days, 'day')} left`;
      if (verdict === 'wrong') return chalk.red.bold(`${printable(serial)} is enrolled, but a check failed.`);
      const enrolled = `${printable(serial)} is enrolled`;
      return verdict === 'ok'
        ? `${chalk.green(enrolled)}, ${left}.`
        : `${chalk.yellow(`${enrolled}; not everything was checked`)}, ${left}.`;
    }
  }
}

function details({ identity, identityDir, renewal, findings }: EnrolStatus): string[] {
  const candidate = renewal?.candidate ?? null;
  const rows =
    identity === null
      ? [['folder', identityDir]]
      : [
          ['serial', identity.serial],
          ['broker', identity.endpoint],
          ['region', identity.region],
          ['subject', identity.certificate.subject],
          ['issuer', identity.certificate.issuer],
          ['valid', `${identity.certificate.notBefore} to ${identity.certificate.notAfter}`],
          ['sha-256', identity.certificate.fingerprintSha256],
          ...(candidate === null
            ? []
            : [
                ['new, not proved', `until ${candidate.notAfter}, kept since ${candidate.keptAt}`],
                ['its sha-256', candidate.fingerprintSha256],
              ]),
          ['folder', identityDir],
        ];
  return [
    renderTable(
      ['identity', ''],
      rows.map((cells) => cells.map(printable)),
    ),
    '',
    ...findingsLines(findings, DO_NEXT),
  ];
}
