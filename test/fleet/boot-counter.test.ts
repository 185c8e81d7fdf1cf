import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GwError } from '../../src/lib/error/index.ts';
import { startBoot } from '../../src/lib/fleet/fleet.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { runs } from '../properties.ts';

const root = folderOfEach();

const dir = () => root.at('state');
const file = () => root.at('state', 'heartbeat-boots.json');
const written = (boots: unknown) => `${JSON.stringify({ format: 'gw/heartbeat-boots/1', boots })}\n`;
const put = (content: string | Uint8Array) => {
  mkdirSync(dir(), { recursive: true });
  writeFileSync(file(), content);
};
const refusal = async () =>
  await startBoot(dir()).then(
    () => null,
    (error: GwError) => error,
  );

describe('the counter of starts', () => {
  it('counts 1, 2, 3 over restarts, each written to disk before the boot begins', async () => {
    for (const boots of [1, 2, 3]) {
      expect((await startBoot(dir())).bootCounter).toBe(boots);
      expect(readFileSync(file(), 'utf8')).toBe(written(boots));
    }
  });

  it('creates its folder and its file for their owner only, and leaves no other file', async () => {
    await startBoot(dir());
    expect(statSync(dir()).mode & 0o777).toBe(0o700);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir())).toEqual(['heartbeat-boots.json']);
  });

  it('assigns every boot an instance of its own', async () => {
    const instances = new Set<string>();
    for (let boot = 0; boot < 20; boot += 1) {
      const { instance } = await startBoot(dir());
      expect(instance).toMatch(/^[0-9a-f]{16}$/);
      instances.add(instance);
    }
    expect(instances.size).toBe(20);
  });

  it.each([
    ['empty', ''],
    ['cut off', '{"format":"gw/heartbeat-boots/1","boo'],
    ['not text', Uint8Array.of(0xff, 0xfe, 0x00)],
    ['of another kind', '{"format":"gw/heartbeat-boots/2","boots":4}'],
    ['without its number', '{"format":"gw/heartbeat-boots/1"}'],
    ['with more than it should hold', '{"format":"gw/heartbeat-boots/1","boots":4,"more":1}'],
    ['negative', written(-1)],
    ['broken', written(1.5)],
    ['a text', written('4')],
    ['too high', written(2 ** 32)],
  ])('never restarts from 1 with a file that is %s', async (_, content) => {
    put(content);
    const error = await refusal();
    expect(error).toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(error?.message).toContain(file());
    expect(error?.remedy).toMatch(/with an N above every earlier/);
    expect(readFileSync(file())).toEqual(Buffer.from(content));
  });

  it('never restarts from 1 with an unreadable file', async () => {
    mkdirSync(file(), { recursive: true });
    const error = await refusal();
    expect(error).toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(error?.message).toMatch(/it is a folder/);
    expect(error?.remedy).toMatch(/Inspect the file/);
    rmSync(file(), { recursive: true });
    await expect(startBoot(dir())).resolves.toMatchObject({ bootCounter: 1 });
  });

  it('begins no boot where the file cannot be written', async () => {
    writeFileSync(dir(), 'a file where the folder should be');
    expect(await refusal()).toMatchObject({ code: 'FILE_UNWRITABLE' });
    await expect(startBoot('/proc/none/state')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });

  it('begins a last boot at 2^32-1 and none after it', async () => {
    put(written(2 ** 32 - 2));
    expect((await startBoot(dir())).bootCounter).toBe(2 ** 32 - 1);
    const error = await refusal();
    expect(error).toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(error?.message).toMatch(/exhausted/);
    expect(error?.remedy).toMatch(/edited by hand/);
    expect(readFileSync(file(), 'utf8')).toBe(written(2 ** 32 - 1));
  });

  it('continues from any number that gw wrote', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2 ** 32 - 2), async (boots) => {
        put(written(boots));
        expect((await startBoot(dir())).bootCounter).toBe(boots + 1);
      }),
      { numRuns: runs(20) },
    );
  });
});
