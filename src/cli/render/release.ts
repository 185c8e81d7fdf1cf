import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type {
  ReleaseInspect,
  ReleaseKeyNew,
  ReleaseMake,
  ReleaseRollback,
  ReleaseStatus,
  ReleaseVerify,
} from '../../lib/toolkit/release/release.result.ts';
import { DO_NEXT, findingsLines, printable, renderTable, right } from '../output.ts';

const table = (rows: readonly (readonly string[])[]) =>
  renderTable(
    ['release', ''],
    rows.map((cells) => cells.map(printable)),
  );

/** `gw release verify` */
export function renderReleaseVerify(data: ReleaseVerify): string {
  const { version, files, file } = data;
  return [
    `${chalk.green('ok')}: release ${printable(version)}, signature and ${plural(files, 'file')} verified. ${printable(file)}`,
    '',
    packageTable(data),
  ].join('\n');
}

/** `gw release make` */
export function renderReleaseMake(data: ReleaseMake): string {
  const { version, files, file } = data;
  return [
    `Made ${printable(file)}: release ${printable(version)}, ${plural(files, 'file')}, signed and verified.`,
    '',
    packageTable(data),
  ].join('\n');
}

/** `gw release inspect` */
export function renderReleaseInspect({ verdict, parts, origin, key, ...data }: ReleaseInspect): string {
  const { version, files, file, minimumVersion, bytes, unpackedBytes, sha256 } = data;
  const whole = `release ${printable(version)}, ${plural(files.length, 'file')} as its manifest lists them`;
  const rows = [
    ['version', version],
    ['replaces', `${minimumVersion} or newer`],
    ['built from', origin === null ? 'not stated' : `commit ${origin.commit} of ${origin.sourceTime}`],
    ['size', `${bytes} bytes, ${unpackedBytes} unpacked`],
    ['sha-256', sha256],
    ['signed by', key === null ? 'not checked: name the public key with --key FILE' : key.file],
    ...(key === null ? [] : [['key sha-256', key.fingerprintSha256]]),
  ];
  const partRows = parts.map((part) => [printable(part.path), String(part.files), String(part.bytes)]);
  return [
    verdict === 'ok'
      ? `${chalk.green('ok')}: ${whole}, signature verified. ${printable(file)}`
      : `${chalk.yellow('Not verified')}: ${whole}, whose signature was not checked. ${printable(file)}`,
    '',
    table(rows),
    '',
    renderTable(['part', right('files'), right('bytes')], partRows),
  ].join('\n');
}

/** `gw release key new` */
export function renderReleaseKeyNew({ file, publicFile, fingerprintSha256 }: ReleaseKeyNew): string {
  return [
    `Made ${printable(file)}, which signs releases, readable for its owner only.`,
    '',
    `${printable(publicFile)} verifies them: cloud.release.keyFile of every gateway.`,
    `SHA-256 of the public key: ${fingerprintSha256}`,
    'Keep the private key away from every gateway, with a copy at a safe place: without it no gateway accepts another release.',
  ].join('\n');
}

function packageTable({ version, bytes, sha256, minimumVersion, unpackedBytes, key }: ReleaseVerify): string {
  return table([
    ['version', version],
    ['replaces', `${minimumVersion} or newer`],
    ['size', `${bytes} bytes, ${unpackedBytes} unpacked`],
    ['sha-256', sha256],
    ['key', key.file],
    ['key sha-256', key.fingerprintSha256],
  ]);
}

/** `gw release status` */
export function renderReleaseStatus(data: ReleaseStatus): string {
  const { dir, current, previous, installed, run, onSite, findings } = data;
  const rows = [
    ['folder', dir],
    ['current', current === null ? 'not readable' : versionText(current)],
    ['rollback to', previous === null ? 'none' : versionText(previous)],
    ['installed', installed.length === 0 ? 'none' : installed.map(({ folder }) => folder).join(', ')],
  ];
  if (run !== null) {
    rows.push(
      ['last release', `${run.fromVersion} to ${run.toVersion}: ${run.phase}, since ${run.since}`],
      ['job', `${run.jobId}, execution ${run.executionNumber}`],
      ['rollout stage', run.stage === null ? 'none given' : String(run.stage)],
      ['parameters', run.documentParameters === null ? 'none given' : run.documentParameters],
    );
  }
  if (onSite !== null) {
    rows.push(['on site', `rolled back from ${onSite.fromVersion} to ${onSite.toVersion} at ${onSite.at}`]);
  }
  return [firstLine(data), '', table(rows), '', ...findingsLines(findings, DO_NEXT)].join('\n');
}

/** The launcher starts it next; whether it runs already only the gateway knows. */
function firstLine({ verdict, current, run, dir, findings }: ReleaseStatus): string {
  if (current === null) return chalk.red.bold(`FAILED: the release folder ${printable(dir)} cannot be read.`);
  const version = printable(versionText(current));
  if (verdict === 'wrong') return chalk.red.bold(`FAILED: a check failed. Current version: ${version}.`);
  const open = findings.filter((line) => line.verdict === 'not-checked').length;
  if (run !== null && !['confirmed', 'rolled-back', 'rejected'].includes(run.phase)) {
    return chalk.yellow(`Release ${printable(run.toVersion)} in progress (${run.phase}). Current version: ${version}.`);
  }
  if (verdict === 'not-checked') {
    return `${chalk.yellow(`Not decided: ${open} of ${findings.length} checks not made`)}. Current version: ${version}.`;
  }
  return current.folder === null
    ? `Current version: ${version}; no release is in use.`
    : `${chalk.green('ok')}: current version ${version}.`;
}

function versionText({ folder, version }: { readonly folder: string | null; readonly version: string | null }): string {
  if (folder === null) return version === null ? 'base installation' : `base installation, ${version}`;
  return version === folder || version === null ? folder : `${version} in ${folder}`;
}

/** `gw release rollback` */
export function renderReleaseRollback({ mode, from, to, toBase, isUnconfirmed, next }: ReleaseRollback): string {
  const change = `${printable(from)} to ${printable(to)}${toBase ? ' (base installation)' : ''}`;
  const first =
    mode === 'switched'
      ? `${chalk.green('Switched')} from ${change}; ${chalk.yellow('the running gw is unchanged until it is restarted')}.`
      : `Dry run, nothing changed: this would switch from ${change}.`;
  const job = isUnconfirmed ? ['The job of the unconfirmed release is reported as failed.'] : [];
  return [first, '', ...job, ...next.map(printable)].join('\n');
}
