import chalk from 'chalk';
import type { SimEvent, SimFault } from '../../lib/sim/sim.result.ts';
import { plural } from '../../lib/text/index.ts';
import { printable, renderTable } from '../output.ts';

/** One line of `gw sim`; `ready` closes the list of parts. */
export function renderSimEvent(event: SimEvent): string {
  switch (event.event) {
    case 'listening':
      return `${event.part.padEnd(10)}${event.url}`;
    case 'note':
      return `${'note'.padEnd(10)}${printable(event.text)}`;
    case 'boot':
      return `${'chassis'.padEnd(10)}${event.state === 'booting' ? 'starting: 503 except for the boot progress' : 'started'}`;
    case 'fault':
      return `${'fault'.padEnd(10)}${event.name} ${event.on ? chalk.yellow('on') : 'off'}`;
    case 'ready': {
      const { chassis, sitePath, passwordPath, codePath } = event;
      const lines = [`${'robot'.padEnd(10)}serial ${chassis.serial}, software ${chassis.software}`];
      if (passwordPath !== null) lines.push(`${'password'.padEnd(10)}in ${printable(passwordPath)}`);
      if (codePath !== null) lines.push(`${'code'.padEnd(10)}in ${printable(codePath)}`);
      lines.push(`${'site'.padEnd(10)}${printable(sitePath)}`, chalk.green('ready'));
      return lines.join('\n');
    }
    case 'fleet': {
      const { robots, firstSerial, lastSerial, to } = event;
      const serials = robots === 1 ? firstSerial : `${firstSerial} to ${lastSerial}`;
      return `${'fleet'.padEnd(10)}${plural(robots, 'neighbour')} (${serials}), UDP to ${to.host}:${to.port}`;
    }
    case 'ended':
      return 'ended';
  }
}

/** `gw sim fault` */
export function renderSimFault({ dir, changed, note, faults }: SimFault): string {
  const where = dir === null ? '' : ` in ${printable(dir)}`;
  if (changed !== null) {
    const effect = faults.find(({ name }) => name === changed.name)?.effect ?? '';
    const first = `${changed.name} is ${changed.on ? 'on' : 'off'}${where}.`;
    return changed.on ? [first, effect, ...(note === undefined ? [] : [chalk.yellow(note)])].join('\n') : first;
  }
  const on = faults.filter((fault) => fault.on === true).map(({ name }) => name);
  const first =
    dir === null
      ? 'No simulator is running; the states are unknown.'
      : on.length === 0
        ? `No fault is on${where}.`
        : `On${where}: ${on.join(', ')}.`;
  const rows = faults.map((fault) => [fault.name, fault.on === null ? '--' : fault.on ? 'on' : 'off', fault.effect]);
  return `${first}\n\n${renderTable(['fault', 'state', 'effect'], rows)}`;
}
