import { relative } from 'node:path';
import chalk from 'chalk';
import type { Demo } from '../../lib/toolkit/demo/demo.result.ts';
import { printable } from '../output.ts';
import { renderChecklistVerdict, renderSteps } from './checklist.ts';

/** `gw demo`: the verdict, what was proven, where the report lies, what to try next. `cwd` shortens the paths. */
export function renderDemo(demo: Demo, cwd: string): string {
  const { checklist, robot, tookMs, dir, kept } = demo;
  const folder = shortened(dir, cwd);
  return [
    renderChecklistVerdict(checklist),
    chalk.dim(
      `${printable(robot.serial)}, a robot in a box with software ${printable(robot.software)}; ready in ${seconds(demo.readyMs.sim)} s, its gateway in ${seconds(demo.readyMs.serve)} s; all in ${seconds(tookMs)} s.`,
    ),
    '',
    ...renderSteps(checklist.steps),
    '',
    `${chalk.bold('Record')}  ${folder}/record.json ${recordState(demo.record)}`,
    `${chalk.bold('Report')}  ${folder}/demo.md ${chalk.dim('(the same as demo.json and demo.junit.xml; what the programs said: sim.log, serve.log)')}`,
    '',
    ...(kept ? renderKept(demo, folder) : renderNext(folder)),
  ].join('\n');
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
      ['gw demo --keep', 'the same, left up: pages to open, faults to switch'],
      [
        `gw checklist report ${folder}/record.json --site ${folder}/site.yaml --format pdf`,
        'the document for the signature',
      ],
      ['gw checklist show site', "what is proven at a customer's site, and by whom"],
      ['gw evidence list', 'what is known about the platform, and how well'],
      [`gw site check --site ${folder}/site.yaml`, 'what a site file says'],
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
      [addresses.readOnly, 'read-only socket: all that a remote tunnel can see'],
      [`${addresses.chassis}/device/info`, 'the simulated chassis itself'],
    ]),
    chalk.bold('Try in another terminal'),
    ...rows([
      [`gw chassis watch${site}`, 'the live state'],
      [`gw sim fault radians on${dir}`, 'the pose unit goes wrong; then:'],
      [`gw chassis probe${site}`, 'fails loudly, and the gate closes'],
      [`gw sim fault cut on${dir}`, "the technician page says 'not connected'"],
    ]),
  ];
}

const MOST_WIDTH = 48;

function rows(pairs: readonly (readonly [string, string])[]): string[] {
  // One long command must not push the words of all others to the edge.
  const width = Math.max(...pairs.map(([left]) => left.length).filter((length) => length <= MOST_WIDTH));
  return pairs.map(([left, right]) => `  ${chalk.cyan(left.padEnd(width))}  ${right}`);
}

function shortened(path: string, cwd: string): string {
  const way = relative(cwd, path);
  if (way === '') return '.';
  return way.startsWith('..') ? printable(path) : `./${printable(way)}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
