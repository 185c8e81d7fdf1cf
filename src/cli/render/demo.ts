import { relative } from 'node:path';
import chalk from 'chalk';
import type { Demo } from '../../lib/toolkit/demo/demo.result.ts';
import { printable, renderVerdict } from '../output.ts';
import { renderChecklistVerdict, renderStepLine, renderSteps } from './checklist.ts';

/** `gw demo`: the verdict, the steps, the paths of record and report, next commands. `cwd` shortens the paths. */
export function renderDemo(demo: Demo, cwd: string): string {
  const { dir, kept, end } = demo;
  const folder = shortened(dir, cwd);
  const steps = demo.checklist?.steps ?? [];
  const next = kept ? renderKept(demo, folder) : end === 'complete' ? renderNext(folder) : [];
  return [
    end === 'complete' && demo.checklist !== null ? renderDemoVerdict(demo, demo.checklist) : renderEarlyEnd(demo),
    chalk.dim(renderTimes(demo)),
    '',
    ...renderSteps(steps.filter((step) => isReached(step))),
    ...steps.filter((step) => !isReached(step)).map((step) => renderStepLine(step)),
    ...demo.cloud.map(renderRehearsalLine),
    '',
    ...renderFiles(demo, folder),
    ...(next.length > 0 ? ['', ...next] : []),
  ].join('\n');
}

/** One that was not reached has no finding to show. */
const isReached = ({ at }: { readonly at: string | null }) => at !== null;

function renderDemoVerdict({ cloud }: Demo, checklist: NonNullable<Demo['checklist']>): string {
  const failed = cloud.filter(({ verdict }) => verdict !== 'ok');
  const [first] = failed;
  const steps = renderChecklistVerdict(checklist);
  if (first === undefined) return `${steps} Cloud rehearsed: ${cloud.length} of ${cloud.length} parts are ok.`;
  const mark = chalk.red.bold('NOT OK');
  return `${mark}  Rehearsal of the cloud: ${failed.length} of ${cloud.length} parts failed, first: ${printable(first.title)}.\n${steps}`;
}

/** Of a demo that did not come to its end: what was done until then. */
function renderEarlyEnd({ end, checklist, cloud }: Demo): string {
  const mark = end === 'interrupted' ? chalk.yellow.bold('NOT COMPLETE') : chalk.red.bold('NOT COMPLETE');
  const how = end === 'interrupted' ? 'Interrupted' : 'Ended by an error';
  if (checklist === null) return `${mark}  ${how} before the first step: nothing was checked.`;
  const all = [...checklist.steps, ...cloud];
  const counts = [
    ['ok', all.filter(({ verdict }) => verdict === 'ok').length],
    ['wrong', all.filter(({ verdict }) => verdict === 'wrong').length],
    ['skipped', checklist.counts.skipped],
    ['not checked', all.filter(({ verdict }) => verdict === 'not-checked').length],
  ] as const;
  const summary = counts.filter(([word, n]) => word === 'ok' || n > 0).map(([word, n]) => `${n} ${word}`);
  return `${mark}  ${how}: ${summary.join(', ')} of ${all.length} steps and parts.`;
}

function renderTimes({ robot, readyMs, tookMs }: Demo): string {
  const took = `all in ${seconds(tookMs)} s.`;
  if (robot === null) return `The simulated robot was not ready; ${took}`;
  const gateway = readyMs.serve === null ? 'was not ready' : `in ${seconds(readyMs.serve)} s`;
  return `${printable(robot.serial)}, a simulated robot with software ${printable(robot.software)}; ready in ${seconds(readyMs.sim ?? 0)} s, its gateway ${gateway}; ${took}`;
}

/** A run without a record of its own leaves that of the last run, and says so. */
function renderFiles({ record, lastRecord }: Demo, folder: string): string[] {
  if (record !== null) {
    return [
      `${chalk.bold('Record')}  ${folder}/record.json ${recordState(record)}`,
      `${chalk.bold('Report')}  ${folder}/demo.md ${chalk.dim('(also as demo.json and demo.junit.xml; logs: sim.log, serve.log)')}`,
    ];
  }
  const logs = `${chalk.bold('Logs')}    ${folder}/sim.log ${chalk.dim('(and serve.log)')}`;
  if (lastRecord === null) return [`${chalk.bold('Record')}  none: this run did not come to its end`, logs];
  const at = lastRecord.subject?.endedAt.replace(/\.\d+Z$/, 'Z') ?? 'unknown time';
  return [
    `${chalk.bold('Record')}  none of this run; ${folder}/record.json and its reports are of the last run, ${at}, ${recordState(lastRecord)}`,
    logs,
  ];
}

/** One part of the rehearsal of the cloud, in the columns of the steps. */
export function renderRehearsalLine({ verdict, title, detail, remedy }: Demo['cloud'][number]): string {
  const next = verdict === 'ok' || remedy === null ? '' : ` Do next: ${printable(remedy)}`;
  return `${renderVerdict(verdict)}  ${printable(title).padEnd(REHEARSAL_TITLE_WIDTH)} ${chalk.dim(printable(detail))}${next}`;
}

function recordState({ state, signedBy }: NonNullable<Demo['record']>): string {
  if (state === 'verified') return chalk.green(`signed by the key of ${printable(signedBy ?? '')}, verified`);
  return chalk.red(
    state === 'not-signed' ? 'not signed' : `the signature is ${state === 'wrong' ? 'wrong' : 'not verified'}`,
  );
}

function renderNext(folder: string): string[] {
  return [
    `${chalk.bold('Try next')} ${chalk.dim('(in a clone gw is `npx gw`)')}`,
    ...rows([
      ['gw demo --keep', 'keep it running: pages to open, faults to switch'],
      [
        `gw checklist report ${folder}/record.json --site ${folder}/site.yaml --format pdf --out ${folder}/acceptance.pdf`,
        'the document for the signature',
      ],
      ['gw checklist show site', "the acceptance steps at a customer's site"],
      ['gw evidence list', 'facts about the platform with their evidence'],
      [`gw site check --site ${folder}/site.yaml`, 'validate a site file'],
    ]),
  ];
}

/** What stands: after a failure perhaps only a part. */
function renderKept({ addresses, standing }: Demo, folder: string): string[] {
  const dir = folder === './gw-sim' ? '' : ` --dir ${folder}`;
  const site = ` --site ${folder}/site.yaml`;
  const [hasGateway, hasRobot] = [standing.includes('gw serve'), standing.includes('gw sim')];
  if (addresses === null) return [chalk.bold(`Kept until Ctrl-C: ${standing.join(', ')}, which is not ready`)];
  const pages: [string, string][] = [
    [addresses.surface, 'operator surface'],
    [addresses.service, 'technician page'],
    [addresses.readOnly, 'read-only socket, the only one a remote tunnel reaches'],
  ];
  const commands: [string, string][] = [
    [`gw chassis watch${site}`, 'live state'],
    [`gw sim fault radians on${dir}`, 'wrong pose unit; then:'],
    [`gw chassis probe${site}`, 'fails, and the gate closes'],
    [`gw sim fault cut on${dir}`, "the technician page shows 'not connected'"],
  ];
  return [
    chalk.bold('Open, until Ctrl-C'),
    ...rows([
      ...(hasGateway ? pages : []),
      ...(hasRobot ? [[`${addresses.chassis}/device/info`, 'simulated chassis'] as const] : []),
    ]),
    ...(hasGateway && hasRobot ? [chalk.bold('Try in another terminal'), ...rows(commands)] : []),
  ];
}

const MAX_WIDTH = 48;
/** That of the steps above. */
const REHEARSAL_TITLE_WIDTH = 52;

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  // A single long command must not widen the whole column.
  const width = Math.max(...pairs.map(([left]) => left.length).filter((length) => length <= MAX_WIDTH));
  return pairs.map(([left, right]) => `  ${chalk.cyan(left.padEnd(width))}  ${right}`);
}

function shortened(path: string, cwd: string): string {
  const relativePath = relative(cwd, path);
  if (relativePath === '') return '.';
  return relativePath.startsWith('..') ? printable(path) : `./${printable(relativePath)}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
