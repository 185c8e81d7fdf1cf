import { appendFile, readdir, type rename, type rm } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import {
  attachmentFolder,
  loadEvidenceFile,
  sealAttachment,
  unsealAttachment,
  writeAttachment,
} from '../../src/lib/evidence/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { recordOf } from './record-of.ts';

type Effect = () => Promise<unknown>;
/** How the disk carries out a removal, a renaming, and the sync of a folder. */
const disk = vi.hoisted(() => {
  const honest = (effect: Effect) => effect();
  return { rm: honest, rename: honest, sync: honest };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...original,
    rm: (...of: Parameters<typeof rm>) => disk.rm(() => original.rm(...of)),
    rename: (...of: Parameters<typeof rename>) => disk.rename(() => original.rename(...of)),
    async open(...of: Parameters<typeof original.open>) {
      const file = await original.open(...of);
      if (!(await file.stat()).isDirectory()) return file;
      return { sync: () => disk.sync(() => file.sync()), [Symbol.asyncDispose]: () => file.close() };
    },
  };
});

const failure = () => Object.assign(new Error('EIO'), { code: 'EIO' });
const honest = (effect: Effect) => effect();
const afterEffect = async (effect: Effect) => {
  await effect();
  throw failure();
};
const withoutEffect = async () => {
  throw failure();
};

const folder = folderOfEach();
/** A trial with one verification. */
async function trial() {
  Object.assign(disk, { rm: honest, rename: honest, sync: honest });
  const path = folder.at('evidence.jsonl');
  const attachment = { ...(await writeAttachment(path, 't.json', '{}')), needsSeal: true as const };
  await appendFile(path, `${JSON.stringify({ ...recordOf('vendor.move.request'), attachment })}\n`);
  return { path, counting: () => loadEvidenceFile(path).then((records) => records.length) };
}

it.each([
  ['the folder is not synced', { sync: withoutEffect }],
  ['the folder is synced, and an error follows', { sync: afterEffect }],
  ['the file is renamed, and an error follows', { rename: afterEffect }],
  ['the folder is not synced, and the seal removed with an error', { sync: withoutEffect, rm: afterEffect }],
  ['the folder is not synced, and the seal not removed', { sync: withoutEffect, rm: withoutEffect }],
] as const)('a seal that fails does not count: %s', async (_name, faults) => {
  const { path, counting } = await trial();
  Object.assign(disk, faults);
  await expect(sealAttachment(path, 't.json')).rejects.toThrow();
  expect(await counting()).toBe(0);
});

it.each([
  ['as asked', {}],
  ['with an error after it was removed', { rm: afterEffect }],
  ['with an error instead', { rm: withoutEffect }],
  ['and the folder is not synced', { sync: withoutEffect }],
] as const)('a seal is removed: %s', async (_name, faults) => {
  const { path, counting } = await trial();
  await sealAttachment(path, 't.json');
  expect([await counting(), (await readdir(attachmentFolder(path))).length]).toEqual([1, 2]);
  Object.assign(disk, faults);
  await unsealAttachment(path, 't.json').catch(() => {});
  expect(await counting()).toBe(0);
});
