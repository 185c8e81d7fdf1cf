import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { SupportBundle } from '../../lib/toolkit/support/bundle.result.ts';
import { page, printable, renderTable, right } from '../output.ts';

/** `gw support bundle` */
export function renderSupportBundle(bundle: SupportBundle): string {
  const { missing, state, path, sha256 } = bundle;
  const open = missing.length === 0 ? '' : `, ${plural(missing.length, 'source')} MISSING`;
  const first = {
    written: `Written: ${printable(path ?? '')}, readable for its owner only`,
    'dry-run': 'Nothing written (--dry-run); below is what it would hold',
    declined: 'Nothing written',
    inline: 'Archive in the result',
  }[state];
  return page(
    missing.length === 0 ? `${first}.` : chalk.yellow(`${first}${open}.`),
    state === 'written' && `SHA-256 ${sha256}`,
    '',
    bundleContents(bundle),
  );
}

/** What is inside, for the question and for the result. */
export function bundleContents({ files, missing, bytes }: SupportBundle): string {
  const redacted = files.reduce((sum, file) => sum + file.redacted, 0);
  const rows = files.map(({ name, bytes: size, holds, redacted: count }) => [
    name,
    String(size),
    count === 0 ? '-' : String(count),
    printable(holds),
  ]);
  return page(
    renderTable(['file', right('bytes'), right('redacted'), 'holds'], rows),
    missing.length > 0 && [
      '',
      missing.map(({ name, holds, reason }) =>
        chalk.yellow(`missing  ${name} (${printable(holds)}): ${printable(reason)}`),
      ),
    ],
    '',
    `${plural(files.length, 'file')}, ${bytes} bytes packed, ${plural(redacted, 'passage')} redacted.`,
    'It holds addresses, names of places and people, and texts of the robot. Read it before you pass it on.',
  );
}
