import chalk from 'chalk';
import type { ChassisRestart } from '../../lib/toolkit/chassis/chassis.result.ts';
import { page, printable, renderTable, renderVerdict, type Verdict } from '../output.ts';
import {
  changeEnd,
  differenceLines,
  renderMapRestore,
  runningClause,
  runningLines,
  usedBackupLines,
} from './map-restore.ts';
import { stillnessLine } from './motion.ts';

/** `gw chassis restart` */
export function renderChassisRestart(data: ChassisRestart): string {
  const { maps, mapInUse, order, orderError, signs, restarted, backup, stillness, restore, notCompared, running } =
    data;
  const rows = maps.map((map) => [
    String(map.id),
    printable(map.name),
    map.idNow === null ? '-' : String(map.idNow),
    `${renderVerdict(verdicts[map.status])} ${[statusTexts[map.status], ...map.changes, ...map.notes].map(printable).join('; ')}`,
  ]);
  const answer = `${order === 'accepted' ? 'accepted' : 'no response'}${orderError === null ? '' : `: ${printable(orderError)}`}`;
  return page(
    [firstLine(data), ''],
    maps.length === 0
      ? 'The chassis had no maps before the restart.'
      : renderTable(['map', 'name', 'now', 'after the restart'], rows),
    maps
      .filter(({ status }) => status === 'changed')
      .map(({ id, difference }) => differenceLines(`overlays of map ${id}, from before to now`, difference, '  ')),
    ['', inUseText(mapInUse)],
    running !== null && runningLines(running),
    [`${renderVerdict('not-checked')} not compared: ${notCompared.join(', ')}`, ''],
    `order       ${answer}`,
    `restart     ${renderVerdict(restarted ? 'ok' : 'not-checked')} ${signs.length === 0 ? 'not observed' : signs.map((sign) => signTexts[sign]).join(', ')}`,
    stillnessLine(stillness, 'before the restart'),
    usedBackupLines(backup),
    changeEnd(data, ...(restore === null ? [] : [renderMapRestore({ ...restore, next: [] })])),
  );
}

function firstLine({ verdict, chassis, maps, mapInUse, tookMs, why, running }: ChassisRestart): string {
  const serial = printable(chassis.serial);
  const took = `${(tookMs / 1000).toFixed(0)} s`;
  const lost = maps.filter(({ status }) => status === 'lost');
  const names = lost.map(({ id, name }) => `${id} '${printable(name)}'`).join(', ');
  const all = maps.length === 1 ? 'its map is there' : `all ${maps.length} maps are there`;
  switch (verdict) {
    case 'ok':
      return `${(running?.verdict === 'not-checked' ? chalk.yellow : chalk.green)(`Chassis ${serial} is back`)} after ${took}, and ${maps.length === 0 ? 'it had no map before' : all}${running === null || maps.length === 0 ? '' : `; ${runningClause(running)}`}.`;
    case 'brought-back':
      return `Chassis ${serial} is back after ${took}; ${lost.length === 0 ? 'the changed maps were' : `it had lost ${names}, ${lost.length === 1 ? 'which was' : 'which were'}`} ${chalk.green('restored')}.`;
    case 'lost':
      return `${chalk.red.bold(`The restart lost ${lost.length} of ${maps.length} maps`)} of chassis ${serial}: ${names}.`;
    case 'changed': {
      const isOnlyRunning = mapInUse.verdict === 'same' && maps.every(({ status }) => status === 'unchanged');
      if (isOnlyRunning && running !== null)
        return `Chassis ${serial} is back after ${took}, and ${all}, but ${runningClause(running)}.`;
      const what = maps.some(({ status }) => status === 'changed') ? 'a map has changed' : 'another map is current';
      return `Chassis ${serial} is back after ${took}, but ${chalk.red.bold(mapInUse.verdict === 'another' && what.startsWith('a ') ? `${what}, and another one is current` : what)}.`;
    }
    case 'no-restart-seen':
      return `${chalk.yellow('No restart was observed')} within ${took}; chassis ${serial} answers, and ${maps.length === 0 ? 'it has no map' : all}.`;
    case 'not-back':
      return `${chalk.red.bold(`Chassis ${serial} is not connected again`)} after ${took}: ${printable(why ?? 'it does not answer')}.`;
    case 'interrupted':
      return `${chalk.yellow('Interrupted')} after ${took}: the restart order was sent to chassis ${serial}, and its maps were not compared.`;
  }
}

const statusTexts: Readonly<Record<ChassisRestart['maps'][number]['status'], string>> = {
  unchanged: 'present, with the same overlays',
  changed: 'changed',
  lost: 'lost',
  'not-checked': 'not compared',
};

const verdicts: Readonly<Record<ChassisRestart['maps'][number]['status'], Verdict>> = {
  unchanged: 'ok',
  changed: 'wrong',
  lost: 'wrong',
  'not-checked': 'not-checked',
};

const signTexts: Readonly<Record<ChassisRestart['signs'][number], string>> = {
  'start-time': 'another start time of its software',
  starting: 'reported to be starting',
  silence: 'no answer for some time',
};

function inUseText({ before, now, verdict }: ChassisRestart['mapInUse']): string {
  const was = before === null ? 'there was no current map' : `map ${before} was the current one`;
  if (verdict === 'not-checked' && now !== null) {
    const number = now === before ? '' : ` (now map ${now})`;
    return `${renderVerdict('not-checked')} ${was}, and the chassis reports it as such again${number}, but does not store it`;
  }
  if (verdict === 'not-checked') return `${renderVerdict('not-checked')} ${was}; the present one was not read`;
  if (verdict === 'same') return `${renderVerdict('ok')} ${was}, and ${before === null ? 'none is now' : 'is again'}`;
  return `${renderVerdict('wrong')} ${was}, and ${now === null ? 'none is now' : `map ${now} is now`}`;
}
