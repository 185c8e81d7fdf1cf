import chalk from 'chalk';
import type { RunningMapView } from '../../lib/toolkit/map/change/running-map.result.ts';
import { printable, renderVerdict, type Verdict } from '../output.ts';
import { differenceLines } from './overlays-difference.ts';

const verdicts: Readonly<Record<RunningMapView['verdict'], Verdict>> = {
  equal: 'ok',
  differs: 'wrong',
  'another-map': 'wrong',
  'none-in-use': 'not-checked',
  'not-checked': 'not-checked',
};

/** Comparison of stored and running map, as a clause for a first line. */
export function runningClause({ verdict, mapId, detail }: RunningMapView): string {
  const map = mapId === null ? 'the current map' : `map ${mapId}`;
  switch (verdict) {
    case 'equal':
      return `stored and running ${map} have the same overlays`;
    case 'differs':
      return chalk.red.bold(`the running ${map} has other overlays than the stored one`);
    case 'another-map':
      return chalk.red.bold(printable(detail));
    case 'none-in-use':
      return chalk.yellow('there is no current map');
    case 'not-checked':
      return chalk.yellow(`running ${map} not compared with the stored one`);
  }
}

/** The comparison as a row with its reason, and the differences below it. */
export function runningLines(running: RunningMapView): string[] {
  const { verdict, detail, difference, announced, notes } = running;
  const version = announced?.overlaysVersion == null ? '' : `, overlays version ${announced.overlaysVersion}`;
  const announcedText =
    announced === null
      ? ''
      : chalk.dim(` (announced: ${printable(announced.name)}, uid ${printable(announced.uid)}${version})`);
  return [
    `running map ${renderVerdict(verdicts[verdict])} ${printable(detail)}${announcedText}`,
    ...(verdict === 'differs' ? differenceLines('from the stored to the running map', difference, '            ') : []),
    ...notes.map((note) => chalk.dim(`            ${printable(note)}`)),
  ];
}
