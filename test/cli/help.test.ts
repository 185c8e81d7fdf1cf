import { stripVTControlCharacters } from 'node:util';
import { Config } from '@oclif/core';
import { afterEach, expect, it } from 'vitest';
import { HelpText } from '../../src/cli/help.ts';
import { renderVersion } from '../../src/cli/render/version.ts';
import { visibleWidth } from '../../src/cli/wrap.ts';
import { isFull } from '../properties.ts';

const before = process.env.COLUMNS;
afterEach(() => {
  if (before === undefined) delete process.env.COLUMNS;
  else process.env.COLUMNS = before;
});

async function helpAt(columns: number, words: string[], config?: Config): Promise<string> {
  process.env.COLUMNS = `${columns}`;
  const loaded = config ?? (await Config.load(import.meta.dirname));
  const help = new HelpText(loaded, { ...loaded.pjson.oclif.helpOptions });
  await help.showHelp(words);
  return stripVTControlCharacters(help.text);
}

const widths = [44, 60, 80, 140];
it('help of every command has no line over the columns but an example, nor a torn paragraph', {
  tags: 'property',
}, async () => {
  const config = await Config.load(import.meta.dirname);
  const ids = config.commands.flatMap(({ hidden, id }) => (hidden ? [] : [id]));
  expect(ids.length).toBeGreaterThan(80);
  for (const [at, id] of ids.entries()) {
    // In `npm test` each command at one of the widths.
    for (const columns of isFull ? widths : [widths[at % widths.length] as number]) {
      const text = await helpAt(columns, id.split(':'), config);
      for (const line of (text.split('\nEXAMPLES')[0] ?? '').split('\n')) {
        const isWhole = /^ *\$ gw /.test(line) || !line.trim().includes(' ');
        if (!isWhole) expect([id, line, visibleWidth(line) <= columns]).toEqual([id, line, true]);
      }
      // A line that ends early although the first word of the next one had room was broken twice.
      const description = /\nDESCRIPTION\n([\s\S]*?)\n\nEXAMPLES/.exec(text)?.[1] ?? '';
      for (const paragraph of description.split('\n\n')) {
        const lines = paragraph.split('\n');
        for (const [at, line] of lines.slice(0, -1).entries()) {
          const [next = ''] = (lines[at + 1] ?? '').trim().split(' ');
          expect([id, line, visibleWidth(`${line} ${next}`) > columns]).toEqual([id, line, true]);
        }
      }
    }
  }
});

it('the first line of the help breaks at its words', async () => {
  const [first, second] = (await helpAt(60, [])).split('\n');
  expect([first, second]).toEqual(['Commissioning toolkit and gateway daemon for autonomous', 'delivery robots']);
});

it('the version names each of its lines, however narrow the terminal', () => {
  process.env.COLUMNS = '40';
  const about = { nodePath: `/usr/${'long/'.repeat(20)}node`, os: 'Debian', kernel: 'Linux', architecture: 'x64' };
  const own = { name: 'gw', version: '1.2.3', node: '24.0.0', folder: '/usr/lib/gw', origin: null };
  const names = renderVersion({ ...own, ...about })
    .split('\n')
    .map((line) => line.split(/ {2,}/)[0]);
  expect(names.join()).toBe('gw 1.2.3,from,Node.js,system,architecture,folder,documentation');
});
