import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createFile } from '../../src/lib/lifecycle/index.ts';
import { isFull } from '../properties.ts';
import { folderOfEach } from './folder.ts';

const scratch = folderOfEach();

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('a created file', () => {
  it('is complete, with its mode, and its folder is created', async () => {
    const path = scratch.at('a/secret');
    await createFile(path, 'text\n', { mode: 0o600, folderMode: 0o700 });
    expect(readFileSync(path, 'utf8')).toBe('text\n');
    expect([modeOf(path), modeOf(scratch.at('a'))]).toEqual([0o600, 0o700]);
    expect(readdirSync(scratch.at('a'))).toEqual(['secret']);
  });

  it('is created by one of several concurrent calls; the others fail and change nothing', async () => {
    const path = scratch.at('one');
    const texts = Array.from({ length: 20 }, (_, nth) => `text ${nth}`);
    const outcomes = await Promise.allSettled(texts.map((text) => createFile(path, text)));
    const made = outcomes.flatMap(({ status }, nth) => (status === 'fulfilled' ? [texts[nth]] : []));
    expect(made).toEqual([readFileSync(path, 'utf8')]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'FILE_EXISTS' });
    }
    expect(readdirSync(scratch.path)).toEqual(['one']);
  });

  it('is never visible empty or incomplete', { tags: 'property' }, async () => {
    const text = 'x'.repeat(100_000);
    const sizes = new Set<number>();
    const paths = Array.from({ length: isFull ? 50 : 8 }, (_, nth) => scratch.at(`whole-${nth}`));
    let isCreating = true;
    const watching = (async () => {
      while (isCreating) {
        for (const path of paths) sizes.add(statSync(path, { throwIfNoEntry: false })?.size ?? text.length);
        await new Promise(setImmediate);
      }
    })();
    for (const path of paths) await createFile(path, text);
    isCreating = false;
    await watching;
    expect([...sizes]).toEqual([text.length]);
    expect(readdirSync(scratch.path)).toHaveLength(paths.length);
  });

  it('never replaces a file or a dangling link, and reports a path that cannot be created', async () => {
    await createFile(scratch.at('file'), 'kept');
    symlinkSync(scratch.at('nowhere'), scratch.at('link'));
    for (const name of ['file', 'link', '.']) {
      await expect(createFile(scratch.at(name), 'new'), name).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    }
    expect(readFileSync(scratch.at('file'), 'utf8')).toBe('kept');
    expect(readdirSync(scratch.path).sort()).toEqual(['file', 'link']);
    writeFileSync(scratch.at('flat'), '');
    await expect(createFile(scratch.at('flat/file'), 'new')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });
});
