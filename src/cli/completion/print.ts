import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '../output.ts';
import { builtInChecklists } from '../shipped.ts';
import { defaultSiteFile } from '../site-file.ts';
import { type Completable, complete } from './complete.ts';
import { valuesOfGw } from './values.ts';

const MAX_ABOUT = 80;

/** Answers a shell: one line for each candidate, and the paths that it may add. Never fails: no answer completes nothing. */
export async function printCompletion(words: readonly string[], root: string): Promise<void> {
  const sitePath = () => process.env.GW_SITE || defaultSiteFile();
  const { candidates, paths } = await complete(
    words,
    readCompletable(root),
    valuesOfGw(builtInChecklists(root), sitePath),
  );
  const lines = candidates.map(({ value, about }) => `${printable(value)}\t${printable(about).slice(0, MAX_ABOUT)}`);
  process.stdout.write(`${[...lines, `:${paths}`].join('\n')}\n`);
}

function readCompletable(root: string): Completable {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  return { commands: read('oclif.manifest.json').commands, topics: read('package.json').oclif.topics };
}
