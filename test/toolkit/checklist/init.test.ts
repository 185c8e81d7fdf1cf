import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseChecklist } from '../../../src/lib/checklist/index.ts';
import { createCatalogue } from '../../../src/lib/toolkit/catalogue/catalogue.ts';
import { checklistInitSchema } from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import { initChecklist, startingList } from '../../../src/lib/toolkit/checklist/init.ts';
import { sharedFolder } from '../kit.ts';

const dir = sharedFolder();

const checksOf = (text: string, programs: readonly string[]) =>
  parseChecklist(text, 'own.yaml', createCatalogue({ programs })).steps.map((step) =>
    step.kind === 'run' ? step.run : step.kind,
  );

test('the list loads as it is, where the site file allows no program', async () => {
  const path = join(dir, 'our-lobby.yaml');
  const result = await initChecklist(path);
  expect(checklistInitSchema.parse(result)).toEqual({ path, name: 'our-lobby' });
  const kinds = checksOf(await readFile(path, 'utf8'), []);
  expect(kinds).toEqual(['http', 'tcp', 'dns', 'file', 'process']);
});

test('without the marks of its comments it has a command and a question too', () => {
  const text = startingList('own').replaceAll(/^ {2}# (- id: | {2}(?:title|run|with|expect|confirm): )/gm, '  $1');
  expect(checksOf(text, ['/usr/bin/systemctl'])).toEqual([
    'http',
    'tcp',
    'dns',
    'file',
    'process',
    'command',
    'confirm',
  ]);
  expect(() => checksOf(text, [])).toThrow(/checklists\.programs of the site file/);
});

test('every address that it asks is of this machine', () => {
  const text = startingList('own');
  expect(text.match(/\d+\.\d+\.\d+\.\d+/g)?.filter((address) => !address.startsWith('127.'))).toEqual([]);
});

test('an existing file is kept, and a name that `gw checklist run` takes for a built-in list is refused', async () => {
  const path = join(dir, 'there.yaml');
  await writeFile(path, 'mine');
  await expect(initChecklist(path)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
  expect(await readFile(path, 'utf8')).toBe('mine');
  await expect(initChecklist('lobby')).rejects.toMatchObject({ code: 'USAGE' });
  expect(await initChecklist(join(dir, 'Our Lobby.yaml'))).toMatchObject({ name: 'own-checks' });
});
