import chalk from 'chalk';
import type { ServeEvent } from '../../lib/gateway/serve.result.ts';
import { plural } from '../../lib/text/index.ts';
import { printable } from '../output.ts';

/** One line of `gw serve`: one for each service, then `ready`. */
export function renderServeEvent(event: ServeEvent): string {
  switch (event.event) {
    case 'started':
      return `${event.service.padEnd(10)}${printable(event.detail)}`;
    case 'ready':
      return chalk.green('ready');
    case 'failed':
      return `${event.service.padEnd(10)}${chalk.red('failed')}: ${printable(event.message)} (retry in ${event.retryInMs} ms). Do next: ${printable(event.remedy)}`;
    case 'restarting':
      return `restarting: ${printable(event.reason)}`;
    case 'stopping':
      return 'stopping';
    case 'stopped':
      return `${event.service.padEnd(10)}stopped`;
    case 'stop-failed':
      return `${event.service.padEnd(10)}${chalk.red('did not stop')}: ${printable(event.message)}`;
    case 'dropped':
      return chalk.yellow(`${plural(event.lines, 'line was', 'lines were')} dropped: stdout was not read`);
    case 'ended':
      return 'ended';
  }
}
