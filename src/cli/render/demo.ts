import { relative } from 'node:path';
import chalk from 'chalk';
import type { Demo } from '../../lib/toolkit/demo/demo.result.ts';
import { printable, renderVerdict } from '../output.ts';
import { renderChecklistVerdict, renderSteps } from './checklist.ts';

/** `gw demo`: the verdict, the steps, the paths of record and report, next commands. `cwd` shortens the paths. */
export function renderDemo(demo: Demo, cwd: string): string {
  const { checklist, robot, tookMs, dir, kept } = demo;
  const folder = shortened(dir, cwd);
  return [
    renderDemoVerdict(demo),
    chalk.dim(
      `${printable(robot.serial)}, a simulated robot with software ${printable(robot.software)}; ready in ${seconds(demo.readyMs.sim)} s, its gateway in ${seconds(demo.readyMs.serve)} s; all in ${seconds(tookMs)} s.`,
    ),
    '',
    ...renderSteps(checklist.steps),
    ...demo.cloud.map(renderRehearsalLine),
    '',
    `${chalk.bold('Record')}  ${folder}/record.json ${recordState(demo.record)}`,
    `${chalk.bold('Report')}  ${folder}/demo.md ${chalk.dim('(also as demo.json and demo.junit.xml; logs: sim.log, serve.log)')}`,
    '',
    ...(kept ? renderKept(demo, folder) : renderNext(folder)),
  ].join('\n');
}

function renderDemoVerdict({ checklist, cloud }: Demo): string {
  const failed = cloud.filter(({ verdict }) => verdict !== 'ok');
  const [first] = failed;
  const steps = renderChecklistVerdict(checklist);
  if (first === undefined) return `${steps} Cloud rehearsed: ${cloud.length} of ${cloud.length} parts are ok.`;
  const mark = chalk.red.bold('NOT OK');
  return `${mark}  Rehearsal of the cloud: ${failed.length} of ${cloud.length} parts failed, first: ${printable(first.title)}.\n${steps}`;
}

/** One part of the rehearsal of the cloud, in the columns of the steps. */
export function renderRehearsalLine({ verdict, title, detail, remedy }: Demo['cloud'][number]): string {
  const next = verdict === 'ok' || remedy === null ? '' : ` Do next: ${printable(remedy)}`;
  return `${renderVerdict(verdict)}  ${printable(title).padEnd(REHEARSAL_TITLE_WIDTH)} ${chalk.dim(printable(detail))}${next}`;
}

function recordState({ state, signedBy }: Demo['record']): string {
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

function renderKept({ addresses }: Demo, folder: string): string[] {
  const dir = folder === './gw-sim' ? '' : ` --dir ${folder}`;
  const site = ` --site ${folder}/site.yaml`;
  return [
    chalk.bold('Open, until Ctrl-C'),
    ...rows([
      [addresses.surface, 'operator surface'],
      [addresses.service, 'technician page'],
      [addresses.readOnly, 'read-only socket, the only one a remote tunnel reaches'],
      [`${addresses.chassis}/device/info`, 'simulated chassis'],
    ]),
    chalk.bold('Try in another terminal'),
    ...rows([
      [`gw chassis watch${site}`, 'live state'],
      [`gw sim fault radians on${dir}`, 'wrong pose unit; then:'],
      [`gw chassis probe${site}`, 'fails, and the gate closes'],
      [`gw sim fault cut on${dir}`, "the technician page shows 'not connected'"],
    ]),
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
