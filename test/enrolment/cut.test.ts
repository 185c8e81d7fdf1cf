import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { type EnrolmentStep, enrolmentSteps } from '../../src/lib/enrolment/enrol.ts';
import { loadIdentity, readCredentials, readPending } from '../../src/lib/enrolment/index.ts';
import { isSameKey } from '../../src/lib/enrolment/store.ts';
import { runProcess } from '../process.ts';
import { isFull } from '../properties.ts';
import { failureOf, it, requestsOf, serial, startWorld, type World } from './world.ts';

const child = fileURLToPath(new URL('./enrol-child.ts', import.meta.url));

/** Enrols in another process, which is killed right after the step. */
async function killedAt(world: World, killAt: EnrolmentStep, code: string, renew = false): Promise<void> {
  const { url, identityDir, trust, device } = world.options();
  const input = JSON.stringify({ killAt, code, url, identityDir, trust, serial, device, renew });
  const ended = await runProcess(process.execPath, ['--no-warnings', child], { input });
  expect([ended.code, ended.signal], ended.stderr).toEqual([null, 'SIGKILL']);
}

/** Files of the folder with their modes. */
async function contentOf(identityDir: string): Promise<string[]> {
  expect((await stat(identityDir)).mode & 0o777).toBe(0o700);
  const names = await readdir(identityDir);
  for (const name of names) expect((await stat(join(identityDir, name))).mode & 0o777, name).toBe(0o600);
  return names.toSorted();
}

/** After an interruption: complete or absent, and resumed to its end with the same key. */
async function isResumed(world: World, step: EnrolmentStep, code: string): Promise<void> {
  const { identityDir, endpoint } = world;
  await contentOf(identityDir);
  const isDone = enrolmentSteps.indexOf(step) >= enrolmentSteps.indexOf('identity-placed');
  const between = await loadIdentity(identityDir);
  expect(between === null, step).toBe(!isDone);
  const kept = (await readPending(identityDir))?.keyPem;

  if (step === 'cleaned-up') {
    expect((await failureOf(world.enrol({ readCode: async () => code }))).code).toBe('ALREADY_ENROLLED');
  } else {
    const { identity, resumed } = await world.enrol({ readCode: async () => code });
    expect(identity.serial).toBe(serial);
    expect(resumed).toBe(enrolmentSteps.indexOf(step) >= enrolmentSteps.indexOf('key-placed'));
  }
  expect(await contentOf(identityDir)).toEqual(['identity.json']);
  const { keyPem } = await readCredentials(identityDir);
  if (kept !== undefined) expect(isSameKey(kept, keyPem)).toBe(true);
  // The same bytes in every attempt: one key, one request.
  expect(new Set(requestsOf(endpoint)).size).toBe(1);
}

type Cut = typeof killedAt;
/** What kill -9 leaves is on the disk whether a process or an enrolment in this process ends after the step. */
const failedAt: Cut = async (world, step, code, renew = false) => {
  const onStep = (done: EnrolmentStep) => {
    if (done === step) throw new Error(`cut after ${step}`);
  };
  const work = world.enrol({ readCode: async () => code, renew, onStep });
  expect((await failureOf(work)).message).toBe(`cut after ${step}`);
};
const killedSteps: readonly EnrolmentStep[] = ['identity-placed', ...(isFull ? (['key-placed', 'sent'] as const) : [])];
const cuts = enrolmentSteps.flatMap((step) => {
  const killed: [string, EnrolmentStep, Cut] = ['killed', step, killedAt];
  return [['failing', step, failedAt] as const, ...(killedSteps.includes(step) ? [killed] : [])];
});

describe('an interrupted enrolment', () => {
  it.each(cuts)(
    '%s after %s is resumed with one key and never half installed',
    { tags: 'property' },
    async (_how, step, cut) => {
      await using world = await startWorld();
      const code = world.endpoint.newCode(serial);
      await cut(world, step, code);
      await isResumed(world, step, code);
    },
  );

  it.each(cuts)(
    '%s after %s during a renewal leaves the old identity or the new one',
    { tags: 'property' },
    async (_how, step, cut) => {
      await using world = await startWorld();
      await world.enrol();
      const before = await readCredentials(world.identityDir);
      const code = world.endpoint.newCode(serial);
      await cut(world, step, code, true);
      const between = await readCredentials(world.identityDir);
      const isReplaced = enrolmentSteps.indexOf(step) >= enrolmentSteps.indexOf('identity-placed');
      expect(isSameKey(between.keyPem, before.keyPem)).toBe(!isReplaced);
      if (step !== 'cleaned-up') await world.enrol({ renew: true, readCode: async () => code });
      const after = await readCredentials(world.identityDir);
      expect(isSameKey(after.keyPem, before.keyPem)).toBe(false);
      expect(await contentOf(world.identityDir)).toEqual(['identity.json']);
      expect(new Set(requestsOf(world.endpoint)).size).toBe(2);
    },
  );

  describe('right before its clean-up', () => {
    const cutEnd = async (world: World, renew = false, code = world.endpoint.newCode(serial)) => {
      await failedAt(world, 'identity-kept', code, renew);
      expect((await readdir(world.identityDir)).toSorted()).toEqual(['identity.json', 'pending.json']);
    };
    const mustNotAsk = async (): Promise<string> => {
      throw new Error('unexpected prompt');
    };

    it('is completed without a code, and its clock was not compared', async ({ world }) => {
      await cutEnd(world);
      expect(await world.enrol({ readCode: mustNotAsk })).toMatchObject({
        resumed: true,
        replaced: false,
        clock: { verdict: 'not-checked' },
      });
      expect(await contentOf(world.identityDir)).toEqual(['identity.json']);
    });

    it('is not mistaken for a renewal that is requested now', async ({ world }) => {
      await cutEnd(world);
      const before = await readCredentials(world.identityDir);
      expect(await world.enrol({ renew: true })).toMatchObject({ resumed: false, replaced: true });
      expect(isSameKey((await readCredentials(world.identityDir)).keyPem, before.keyPem)).toBe(false);
      expect(await contentOf(world.identityDir)).toEqual(['identity.json']);
    });

    it('is a renewal if it was one, with or without --renew', async ({ world }) => {
      await world.enrol();
      for (const renew of [true, false]) {
        await cutEnd(world, true);
        expect(await world.enrol({ renew, readCode: mustNotAsk })).toMatchObject({ resumed: true, replaced: true });
      }
    });

    it('is not the identity of another chassis that the gateway was moved to', async ({ world }) => {
      const moved = { serial: 'SN-0816', readCode: async () => world.endpoint.newCode('SN-0816') };
      await cutEnd(world);
      expect(await failureOf(world.enrol({ ...moved, readCode: mustNotAsk }))).toMatchObject({
        code: 'ALREADY_ENROLLED',
        message: 'This gateway is enrolled as SN-0815; its chassis is SN-0816.',
        remedy: expect.stringContaining('--renew'),
      });
      expect(await loadIdentity(world.identityDir)).toMatchObject({ serial });
      expect(await world.enrol({ ...moved, renew: true })).toMatchObject({ resumed: false, replaced: true });
      expect(await loadIdentity(world.identityDir)).toMatchObject({ serial: 'SN-0816' });
    });

    it('is completed too when begun by a version that did not store its purpose', async ({ world }) => {
      await cutEnd(world);
      const path = join(world.identityDir, 'pending.json');
      const { renewal: _, ...older } = JSON.parse(await readFile(path, 'utf8'));
      await writeFile(path, JSON.stringify(older));
      expect(await world.enrol({ readCode: mustNotAsk })).toMatchObject({ resumed: true, replaced: false });
    });
  });

  it('obtains its certificate with the same code after a lost answer', async ({ world }) => {
    const code = world.endpoint.newCode(serial);
    world.faults.add('enrolment-answer-lost');
    expect((await failureOf(world.enrol({ readCode: async () => code }))).code).toBe('ENROLMENT_NOT_REACHABLE');
    world.faults.clear();
    expect(await world.enrol({ readCode: async () => code })).toMatchObject({ resumed: true });
    expect(new Set(requestsOf(world.endpoint)).size).toBe(1);
  });

  it('reports a renewal under way when it is run again without --renew', async ({ world }) => {
    await world.enrol();
    world.faults.add('enrolment-error');
    await failureOf(world.enrol({ renew: true }));
    const failure = await failureOf(world.enrol());
    expect(failure).toMatchObject({ code: 'ALREADY_ENROLLED', remedy: expect.stringContaining('gw enrol --renew') });
  });

  it('cancelled by its user leaves no connection open and can be run again', async ({ world }) => {
    const ending = new AbortController();
    world.faults.add('enrolment-no-answer');
    const work = world.enrol({
      signal: ending.signal,
      onStep: (step) => {
        if (step === 'sent') setImmediate(() => ending.abort(new Error('Ctrl-C')));
      },
    });
    expect((await failureOf(work)).message).toBe('Ctrl-C');
    world.faults.clear();
    expect(await world.enrol()).toMatchObject({ resumed: true });
  });
});
