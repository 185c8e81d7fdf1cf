import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import {
  openReplacement,
  REPLACEMENT_FORMAT,
  type ReplacementFile,
  replacementPath,
} from '../../../src/lib/toolkit/replace/replacement-file.ts';
import { type Person, runReplacement } from '../../../src/lib/toolkit/replace/run.ts';
import { line, type Step } from '../../../src/lib/toolkit/replace/step.ts';
import { runs } from '../../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-replace-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const fresh = () => mkdtempSync(join(scratch, 's-'));
const BEGUN: ReplacementFile = {
  ...{ format: REPLACEMENT_FORMAT, part: 'chassis', from: 'SN1', to: 'SN2', begunAt: '2026-05-01T10:00:00.000Z' },
  ...{ old: null, archive: null, records: [], words: [] },
};
const begin = (found: ReplacementFile | null) => found ?? BEGUN;

interface Lamp {
  readonly isOn: boolean;
  readonly isBroken: boolean;
  readonly map: string | null;
}

/** Two steps: a lamp that is switched on, and a person who sees it. */
async function lampRun(world: { lamp: Lamp }, person: Partial<Person> = {}, fails = false, dir = fresh()) {
  const steps: Step<Lamp>[] = [
    {
      ...{ id: 'lamp', title: 'Lamp' },
      look: ({ isOn }) => [line('lamp', 'Lamp', isOn ? 'ok' : 'open', '', 'Switch it on.')],
      async act() {
        if (fails) throw new GwError('CHASSIS_NOT_CONNECTED', 'no power.');
        world.lamp = { ...world.lamp, isOn: true };
        return true;
      },
    },
    {
      ...{ id: 'seen', title: 'Seen' },
      look: ({ isBroken }) => [line('broken', 'Glass', isBroken ? 'wrong' : 'ok', 'broken', 'Replace it.')],
      word: { question: 'Is it seen?', frame: ({ map }) => map },
    },
  ];
  const file = await openReplacement(dir, 'chassis', begin);
  const ran = await runReplacement({
    ...{ steps, file, see: async () => world.lamp, clock: { wall: () => new Date(0) }, command: 'gw replace chassis' },
    ...{
      person: { confirms: [], by: undefined, ...person },
      signal: new AbortController().signal,
      onProgress: () => {},
    },
  });
  return { ...ran, words: file.current().words, dir };
}

const dark = () => ({ lamp: { isOn: false, isBroken: false, map: 'm1' } as Lamp });
const seenBy = { confirms: ['seen'], by: 'K. Maier' };

describe('a run of a replacement', () => {
  it('performs the first step that does not hold, and stops at the one that a person must confirm', async () => {
    const world = dark();
    expect(await lampRun(world)).toMatchObject({ verdict: 'open', next: 'seen', done: ['lamp'], problem: null });
    expect(world.lamp.isOn).toBe(true);
  });

  it('names the reason of a step that cannot be done, and goes no further', async () => {
    const ran = await lampRun(dark(), {}, true);
    expect(ran).toMatchObject({
      verdict: 'open',
      next: 'lamp',
      done: [],
      problem: { step: 'lamp', code: 'CHASSIS_NOT_CONNECTED' },
    });
  });

  it('remembers the word of a person with name, time and frame, and nothing that can be looked at again', async () => {
    const world = dark();
    const { dir, words } = await lampRun(world, seenBy);
    expect(words).toEqual([{ step: 'seen', by: 'K. Maier', at: '1970-01-01T00:00:00.000Z', frame: 'm1' }]);
    expect(await lampRun(world, {}, false, dir)).toMatchObject({
      verdict: 'complete',
      next: null,
      steps: [{ verdict: 'ok' }, { verdict: 'stated' }],
    });
    world.lamp = { isOn: false, isBroken: false, map: 'm1' };
    expect(await lampRun(world, {}, true, dir)).toMatchObject({ verdict: 'open', next: 'lamp' });
  });

  it('does not count the word of a person in another frame', async () => {
    const world = dark();
    const { dir } = await lampRun(world, seenBy);
    world.lamp = { ...world.lamp, map: 'm2' };
    expect(await lampRun(world, {}, false, dir)).toMatchObject({ verdict: 'open', next: 'seen' });
  });

  it('does not save the word of a person against what is seen, or about what is not known', async () => {
    const broken = { lamp: { isOn: true, isBroken: true, map: 'm1' } as Lamp };
    const against = await lampRun(broken, seenBy);
    expect(against).toMatchObject({
      verdict: 'wrong',
      problem: { step: 'seen', code: 'REPLACEMENT_CONTRADICTED' },
      words: [],
    });
    const unknown = await lampRun({ lamp: { isOn: true, isBroken: false, map: null } }, seenBy);
    expect(unknown).toMatchObject({ verdict: 'open', problem: { code: 'REPLACEMENT_CONTRADICTED' }, words: [] });
  });

  it('is wrong where the world contradicts an earlier word', async () => {
    const world = dark();
    const { dir } = await lampRun(world, seenBy);
    world.lamp = { ...world.lamp, isBroken: true };
    expect(await lampRun(world, {}, false, dir)).toMatchObject({ verdict: 'wrong', next: 'seen' });
  });

  it('asks a person at a terminal once, and leaves the step open without a yes', async () => {
    const asked: string[] = [];
    const ask = (answer: { by: string } | null) => async (question: string) => {
      asked.push(question);
      return answer;
    };
    expect(await lampRun(dark(), { ask: ask(null) })).toMatchObject({ verdict: 'open', next: 'seen', words: [] });
    expect(await lampRun(dark(), { ask: ask({ by: 'K. Maier' }) })).toMatchObject({
      verdict: 'complete',
      done: ['lamp', 'seen'],
    });
    expect(asked).toEqual(['Is it seen?', 'Is it seen?']);
  });

  it.each([
    ['a step that asks for no word', { confirms: ['lamp'], by: 'K. Maier' }, /No step 'lamp'/],
    ['a word without a name', { confirms: ['seen'], by: ' ' }, /needs the name/],
  ])('refuses %s', async (_what, person, message) => {
    await expect(lampRun(dark(), person)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(message),
    });
  });
});

describe('the file of a replacement', () => {
  it.each([
    ['damaged', '{"format":"gw/repl', /invalid content/],
    ['of a newer gw', JSON.stringify({ ...BEGUN, format: 'gw/replacement/2' }), /another version/],
    ['with more than this gw knows', JSON.stringify({ ...BEGUN, more: 1 }), /invalid content/],
    ['of another part', JSON.stringify({ ...BEGUN, part: 'tablet' }), /replacement of a tablet/],
  ])('that is %s is an error, and stays as it is', async (_what, content, message) => {
    const dir = fresh();
    writeFileSync(replacementPath(dir, 'chassis'), content, { mode: 0o600 });
    await expect(openReplacement(dir, 'chassis', begin)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringMatching(message),
    });
    expect(readFileSync(replacementPath(dir, 'chassis'), 'utf8')).toBe(content);
  });

  it('keeps what another run has saved since, and is not taken over where another replacement was begun', async () => {
    const dir = fresh();
    const said = { step: 'ended', by: 'K. Maier', at: BEGUN.begunAt, frame: 'replacement' };
    const waiting = await openReplacement(dir, 'chassis', begin);
    const archive = { path: '/maps.tar.gz', sha256: 'a'.repeat(64) };
    await (await openReplacement(dir, 'chassis', begin)).change(() => ({ archive }));
    await waiting.change(({ words }) => ({ words: [...words, said] }));
    expect((await openReplacement(dir, 'chassis', begin)).current()).toEqual({ ...BEGUN, archive, words: [said] });
    rmSync(waiting.path);
    await openReplacement(dir, 'chassis', () => ({ ...BEGUN, to: 'SN3' }));
    await expect(waiting.change(() => ({ words: [] }))).rejects.toMatchObject({ code: 'REPLACEMENT_OTHER' });
  });

  it('is read as it was written, or is an error', { tags: 'property' }, async () => {
    const dir = fresh();
    const path = replacementPath(dir, 'chassis');
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string(), fc.constant(JSON.stringify(BEGUN))), async (content) => {
        writeFileSync(path, content, { mode: 0o600 });
        const opened = await openReplacement(dir, 'chassis', begin).catch((error: unknown) => error);
        expect(readFileSync(path, 'utf8')).toBe(content);
        if (opened instanceof Error) expect(opened).toMatchObject({ code: 'FILE_UNREADABLE' });
        else expect((opened as { current(): object }).current()).toEqual(JSON.parse(content));
      }),
      { numRuns: runs(200) },
    );
  });
});
