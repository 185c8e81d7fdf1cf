import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { CloudOthers } from '../../lib/toolkit/cloud/others.result.ts';
import { page, printable, renderTable, right } from '../output.ts';

/** `gw cloud others` */
export function renderCloudOthers({ robots, unread, exported }: CloudOthers): string {
  const count = robots.reduce((sum, robot) => sum + robot.count, 0);
  const open = unread.length === 0 ? '' : chalk.red(`; ${plural(unread.length, 'file')} not read whole`);
  const kept =
    count === 0 ? 'No messages of other robots kept' : `${plural(count, 'message')} of other robots kept, never sent`;
  const rows = robots.map((robot) => [
    printable(robot.serial ?? 'not named'),
    String(robot.count),
    robot.oldest,
    robot.newest,
    robot.files.map(printable).join(' '),
  ]);
  return page(
    `${kept}${open}.`,
    exported !== null &&
      `Exported: ${plural(exported.count, 'message')} of ${printable(exported.serial)} to ${printable(exported.path)}, SHA-256 ${exported.sha256}`,
    rows.length > 0 && ['', renderTable(['robot', right('messages'), 'oldest', 'newest', 'files'], rows)],
    unread.map(({ path, reason }) => chalk.red(`not read  ${printable(path)}: ${printable(reason)}`)),
  );
}
