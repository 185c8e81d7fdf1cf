import { chmod, cp, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as render from '../../src/cli/render/release.ts';
import { readReleaseKeys } from '../../src/lib/cloud/release/keys.ts';
import { carryOutRollback, planRollback } from '../../src/lib/cloud/release/on-site.ts';
import { type ReleaseState, readState, writeState } from '../../src/lib/cloud/release/state.ts';
import { unpackPackage } from '../../src/lib/cloud/release/unpack.ts';
import type { Site } from '../../src/lib/site/index.ts';
import { inspectRelease } from '../../src/lib/toolkit/release/inspect.ts';
import { rollBackRelease } from '../../src/lib/toolkit/release/rollback.ts';
import { readReleaseStatus } from '../../src/lib/toolkit/release/status.ts';
import { verifyRelease } from '../../src/lib/toolkit/release/verify.ts';
import { makeKeys, makePackage, scratch } from '../cloud/release/packages.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { firstLine, plain } from './shown.ts';

const { renderReleaseInspect: inspected, renderReleaseRollback: rolledBack } = render;
const { renderReleaseStatus: stated, renderReleaseVerify: verified } = render;
const at0 = '2026-01-31T12:00:00.000Z';
const run: NonNullable<ReleaseState['run']> = {
  ...{ jobId: 'job-7', executionNumber: 1, phase: 'confirmed', package: null, allowDowngrade: false, stage: 2 },
  from: { folder: '1.0.0', version: '1.0.0' },
  to: { folder: '2.0.0', version: '2.0.0' },
  ...{ documentParameters: '{"site":"A"}', since: at0, detail: null, starts: 1, healthWithinS: 180, failure: null },
  ...{ outcome: 'SUCCEEDED', isReported: true, hasJobEnded: false },
};
/** It has not ended. */
const pending = (phase: typeof run.phase) => ({ ...run, phase, outcome: null, isReported: false });
const switched = pending('switched');
const base = { folder: null, version: '0.1.0' };
const { signal } = new AbortController();
const invalid = { code: 'RELEASE_INVALID' };
const refused = { code: 'RELEASE_REFUSED' };

const keys = makeKeys();
const template = scratch();
beforeAll(async () => {
  for (const version of ['1.0.0', '2.0.0']) {
    const { path } = await makePackage(template.dir, keys.privateKey, { version });
    await mkdir(join(template.dir, 'releases'), { recursive: true, mode: 0o700 });
    const dir = join(template.dir, 'releases');
    await unpackPackage(path, { keys: [keys.publicKey], dir, folder: version, signal });
  }
});
afterAll(() => template[Symbol.asyncDispose]());

/** A release folder with 1.0.0 and 2.0.0, of which 2.0.0 is current, and a base installation 0.1.0 before them. */
async function createFolder(change: Partial<ReleaseState> = {}) {
  const folder = scratch();
  const dir = join(folder.dir, 'releases');
  const keyFile = join(folder.dir, 'key.pem');
  await writeFile(keyFile, keys.publicPem);
  await cp(join(template.dir, 'releases'), dir, { recursive: true });
  await symlink('2.0.0', join(dir, 'current'));
  const previous = { folder: '1.0.0', version: '1.0.0' };
  await writeState(dir, { schema: 'gw/release-state/1', previous, run, onSite: null, ...change });
  const site = { path: 'site.yaml', cloud: { release: { dir, keyFile, healthWithinS: 180 } } } as unknown as Site;
  const clock = createFakeClock();
  return {
    ...folder,
    ...{ dir, keyFile },
    ofVersion3: (more: object = {}) => makePackage(dir, keys.privateKey, { version: '3.0.0', ...more }),
    status: () => readReleaseStatus({ site }),
    rollBack: (isConfirmed: boolean, toBase = false) =>
      rollBackRelease({ site, clock }, { isConfirmed, toBase, gwVersion: '0.1.0' }),
    current: () => readlink(join(dir, 'current')).catch(() => null),
  };
}

describe('gw release verify', () => {
  it('states the verdict, the version and the key', async () => {
    await using at = await createFolder();
    const { path, sha256 } = await at.ofVersion3({ minimumVersion: '1.0.0' });
    const options = { path, keyFile: at.keyFile, sitePath: 'none.yaml', signal };
    const data = await verifyRelease(options);
    expect(firstLine(verified(data))).toBe(`ok: release 3.0.0, signature and 5 files verified. ${path}`);
    const text = plain(verified(data));
    for (const shown of [sha256, '1.0.0 or newer', at.keyFile]) expect(text).toContain(shown);
    expect(text).toMatch(/key sha-256 +([0-9A-F]{2}:){31}[0-9A-F]{2}$/m);
    await writeFile(at.keyFile, makeKeys().publicPem);
    await expect(verifyRelease(options)).rejects.toMatchObject(invalid);
    const keyless = verifyRelease({ ...options, keyFile: undefined });
    await expect(keyless).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
  });
});

describe('gw release inspect', () => {
  const origin = { kind: 'release', commit: 'abc123', sourceTime: '2026-01-31T12:00:00.000Z' };

  it('shows what is in a package, and is not green without a key', async () => {
    await using at = await createFolder();
    const files = { 'origin.json': JSON.stringify(origin) };
    const { path } = await at.ofVersion3({ files });
    const unchecked = await inspectRelease({ path, keyFile: undefined, signal });
    const of = { commit: 'abc123', sourceTime: origin.sourceTime };
    expect(unchecked).toMatchObject({ verdict: 'not-checked', version: '3.0.0', origin: of, key: null });
    expect(unchecked.parts).toContainEqual({ path: 'bin/', files: 1, bytes: expect.any(Number) });
    expect(unchecked.parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(unchecked.unpackedBytes);
    expect(firstLine(inspected(unchecked))).toMatch(/^Not verified: release 3\.0\.0, 6 files .* not checked\./);
    const checked = await inspectRelease({ path, keyFile: at.keyFile, signal });
    expect(checked.verdict).toBe('ok');
    expect(firstLine(inspected(checked))).toMatch(/^ok: release 3\.0\.0, .*signature verified/);
    expect(plain(inspected(checked))).toMatch(/built from +commit abc123 of 2026-01-31T12:00:00\.000Z/);
    await writeFile(at.keyFile, makeKeys().publicPem);
    await expect(inspectRelease({ path, keyFile: at.keyFile, signal })).rejects.toMatchObject(invalid);
  });

  it.each([
    ['none', {}],
    ['no JSON', { 'origin.json': '{' }],
    ['other fields', { 'origin.json': '{"commit":1}' }],
    ['too large', { 'origin.json': JSON.stringify({ ...origin, text: 'x'.repeat(5_000) }) }],
  ])('says that the origin is not stated: %s', async (_what, files) => {
    await using at = await createFolder();
    const { path } = await at.ofVersion3({ files });
    const data = await inspectRelease({ path, keyFile: at.keyFile, signal });
    expect(data.origin).toBeNull();
    expect(plain(inspected(data))).toMatch(/built from +not stated/);
  });

  it('refuses a package whose file differs from the manifest, also without a key', async () => {
    await using at = await createFolder();
    const { path } = await at.ofVersion3();
    const bytes = (await readFile(path)).toString('latin1').replace("console.log('3.0.0')", "console.log('4.0.0')");
    await writeFile(path, bytes, 'latin1');
    await expect(inspectRelease({ path, keyFile: undefined, signal })).rejects.toMatchObject({
      ...{ ...invalid, message: expect.stringContaining('"bin/run.js": SHA-256 differs') },
    });
  });
});

describe('gw release status', () => {
  it('names during a change of key which key each installed version needs', async () => {
    await using at = await createFolder();
    const next = makeKeys();
    await writeFile(at.keyFile, `${next.publicPem}${keys.publicPem}`);
    const { path } = await makePackage(at.dir, next.privateKey, { version: '3.0.0' });
    const both = await readReleaseKeys(at.keyFile);
    await unpackPackage(path, { keys: both, dir: at.dir, folder: '3.0.0', signal });
    const data = await at.status();
    expect(data.keys).toHaveLength(2);
    const signed = data.installed.map(({ folder, signedBy }) => `${folder} ${data.keys.indexOf(signedBy ?? '')}`);
    expect(signed).toEqual(['1.0.0 1', '2.0.0 1', '3.0.0 0']);
    const text = plain(stated(data));
    expect(text).toMatch(/both keys are accepted: .* signed 3\.0\.0; .* signed 1\.0\.0, 2\.0\.0/);
    await rm(join(at.dir, '3.0.0'), { recursive: true });
    expect(plain(stated(await at.status()))).toContain('signed none of the installed versions');
  });

  it('verifies the current version and the rollback target', async () => {
    await using at = await createFolder();
    const data = await at.status();
    expect(firstLine(stated(data))).toBe('ok: current version 2.0.0.');
    const text = plain(stated(data));
    for (const shown of [
      'ok   The current version is complete: 2.0.0: signature and every file verified',
      'ok   A rollback is possible: to 1.0.0: signature and every file verified',
      'ok   The last release was installed: 1.0.0 to 2.0.0, job job-7: confirmed',
      'ok   The cloud knows how it ended: the cloud has acknowledged its final status',
      'rollout stage  2',
      'parameters     {"site":"A"}',
    ])
      expect(text).toContain(shown);
  });

  it.each<[string, (at: Awaited<ReturnType<typeof createFolder>>) => Promise<void>, string | RegExp]>([
    ['a changed file', (at) => writeFile(join(at.dir, '2.0.0/dist/empty.js'), 'x'), /FAILED: .*Current version: 2.0.0/],
    ['a missing rollback target', (at) => rm(join(at.dir, '1.0.0'), { recursive: true }), /FAILED: a check failed/],
    ['a missing key', (at) => rm(at.keyFile), /FAILED: the release folder .* cannot be read/],
    ['a damaged state', (at) => writeFile(join(at.dir, 'state.json'), '{'), /FAILED: the release folder/],
    ['a folder open to others', (at) => chmod(at.dir, 0o755), /FAILED: a check failed/],
    [
      'another key, which signed nothing',
      (at) => writeFile(at.keyFile, makeKeys().publicPem),
      /FAILED: a check failed/,
    ],
  ])('fails for %s', async (_what, change, line) => {
    await using at = await createFolder();
    await change(at);
    const data = await at.status();
    expect(data.verdict).toBe('wrong');
    expect(firstLine(stated(data))).toMatch(line);
  });

  it.each([
    ['downloading', '2.0.0', 'the package is downloaded'],
    ['ready', '2.0.0', 'waits until the robot stands'],
    ['switched', '2.0.0', 'not confirmed yet.*started 1 of 3 times'],
    // The link still names 2.0.0; the launcher starts 1.0.0 nevertheless.
    ['rolling-back', '1.0.0', 'waits for a restart'],
  ] as const)('is not green in the phase %s', async (phase, current, detail) => {
    await using at = await createFolder({ run: pending(phase) });
    const text = plain(stated(await at.status()));
    expect(firstLine(text)).toBe(`Release 2.0.0 in progress (${phase}). Current version: ${current}.`);
    expect(text).toMatch(new RegExp(`--   The last release was installed: .*${detail}`));
    expect(text).toContain('--   The cloud knows how it ended: it has not ended yet');
  });

  it('shows what starts next, and no rollback to the version that is being rolled back', async () => {
    const onSite = { at: at0, from: run.to, to: run.from };
    await using at = await createFolder({ run: pending('rolling-back'), previous: base, onSite });
    const data = await at.status();
    expect(data).toMatchObject({ current: { folder: '1.0.0', version: '1.0.0' }, previous: { folder: null } });
    expect(plain(stated(data))).toContain('--   A rollback is possible: not while release 2.0.0 is in pro');
    await writeState(at.dir, { ...(await readState(at.dir)), previous: null });
    expect(await at.status()).toMatchObject({ current: { folder: '1.0.0' }, previous: null });
  });

  it('fails after a rollback, and shows a report that is not acknowledged', async () => {
    const failed = { ...run, phase: 'rolled-back' as const, detail: 'It was not healthy.', isReported: false };
    await using at = await createFolder({ run: failed });
    const text = plain(stated(await at.status()));
    expect(text).toMatch(/FAIL The last release was installed: .*, job job-7: rolled-back\. It was not healthy\./);
    expect(text).toContain('--   The cloud knows how it ended: its final status was not acknowledged yet');
  });

  it.each([
    ['confirmed', 'SUCCEEDED'],
    ['rejected', 'CANCELED'],
  ] as const)('is not green for a job that had ended in the cloud before (%s)', async (phase, outcome) => {
    await using at = await createFolder({ run: { ...run, phase, outcome, hasJobEnded: true } });
    const data = await at.status();
    expect(data.run).toMatchObject({ isReported: false, hasJobEnded: true });
    expect(plain(stated(data))).toContain('--   The cloud knows how it ended: the job had ended');
  });

  it('shows no release as not checked, never as ok', async () => {
    await using at = await createFolder({ run: null, previous: null });
    await rm(at.dir, { recursive: true });
    const data = await at.status();
    expect(firstLine(stated(data))).toBe('Current version: base installation; no release is in use.');
    expect(data.findings.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id)).toEqual(['key']);
  });
});

describe('gw release rollback', () => {
  it('shows what it would do, and does it only when confirmed', async () => {
    await using at = await createFolder();
    const planned = await at.rollBack(false);
    expect(firstLine(rolledBack(planned))).toMatch(/^Dry run, nothing changed: .* from 2\.0\.0 to 1\.0\.0\.$/);
    expect(await at.current()).toBe('2.0.0');
    const done = await at.rollBack(true);
    expect(firstLine(rolledBack(done))).toMatch(/^Switched from 2\.0\.0 to 1\.0\.0; the running gw is unchanged/);
    expect(plain(rolledBack(done))).toContain('sudo systemctl restart gw');
    expect(await at.current()).toBe('1.0.0');
    expect(await readState(at.dir)).toMatchObject({
      previous: { version: '2.0.0' },
      onSite: { at: at0, from: { version: '2.0.0' }, to: { version: '1.0.0' } },
      run: { phase: 'confirmed' },
    });
    expect(plain(stated(await at.status()))).toContain('rolled back from 2.0.0 to 1.0.0 at 2026-01-31');
    // And forth again.
    expect(await at.rollBack(true)).toMatchObject({ from: '1.0.0', to: '2.0.0' });
  });

  it('goes back to the base installation', async () => {
    await using at = await createFolder();
    const done = await at.rollBack(true, true);
    expect(firstLine(rolledBack(done))).toMatch(/^Switched from 2\.0\.0 to 0\.1\.0 \(base inst/);
    expect(await at.current()).toBeNull();
    await expect(at.rollBack(true, true)).rejects.toMatchObject(refused);
    expect(await at.rollBack(true)).toMatchObject({ from: '0.1.0', to: '2.0.0' });
  });

  it('names the base installation by its present version, and not by that before its update', async () => {
    await using at = await createFolder({ previous: { folder: null, version: '0.0.9' } });
    const shown = plain(stated(await at.status()));
    expect(shown).toMatch(/rollback to +base installation$/m);
    expect(shown).not.toContain('0.0.9');
    expect(await at.rollBack(true)).toMatchObject({ to: '0.1.0', toBase: true });
    expect(await readState(at.dir)).toMatchObject({ onSite: { to: { folder: null, version: '0.1.0' } } });
  });

  it('completes a rollback that was interrupted between record and switch', async () => {
    await using at = await createFolder();
    await at.rollBack(true);
    await rm(join(at.dir, 'current'));
    await symlink('2.0.0', join(at.dir, 'current'));
    expect(await at.rollBack(true)).toMatchObject({ from: '2.0.0', to: '1.0.0' });
    expect(await at.current()).toBe('1.0.0');
  });

  it('ends an unconfirmed release, whose job is then reported as failed', async () => {
    await using at = await createFolder({ run: switched, previous: null });
    const done = await at.rollBack(true);
    expect(plain(rolledBack(done))).toContain('reported as failed');
    const failure = { reason: expect.stringContaining('on site') };
    expect(await readState(at.dir)).toMatchObject({ run: { phase: 'rolling-back', failure, isReported: false } });
    await expect(at.rollBack(true)).rejects.toMatchObject({ remedy: expect.stringContaining('restart gw') });
  });

  it('back to the base installation keeps the last confirmed version, when the current one was never confirmed', async () => {
    await using at = await createFolder({ run: switched, previous: base });
    await at.rollBack(true, true);
    const state = await readState(at.dir);
    expect(state).toMatchObject({ previous: { folder: '1.0.0', version: '1.0.0' }, run: { phase: 'rolling-back' } });
    // When the agent has recorded its end:
    await writeState(at.dir, { ...state, run: { ...run, from: base, phase: 'rolled-back' } });
    expect(await at.rollBack(true)).toMatchObject({ from: '0.1.0', to: '1.0.0' });
  });

  it.each<[string, ReleaseState['run'], ReleaseState['run']]>([
    ['a release began', run, { ...pending('downloading'), jobId: 'job-8' }],
    ['the release was confirmed', switched, { ...run, isReported: false }],
    ['the release was rolled back', switched, pending('rolling-back')],
  ])('is refused when %s while the files were verified', async (_what, before, after) => {
    await using at = await createFolder({ run: before });
    const wish = { toBase: false, baseVersion: '0.1.0' };
    const plan = await planRollback(at.dir, { ...wish, keys: [keys.publicKey] });
    const changed = { ...(await readState(at.dir)), run: after };
    await writeState(at.dir, changed);
    await expect(carryOutRollback(at.dir, plan, { ...wish, at: at0 })).rejects.toMatchObject(refused);
    expect(await readState(at.dir)).toEqual(changed);
    expect(await at.current()).toBe('2.0.0');
  });

  it.each(['downloading', 'unpacking', 'ready'] as const)('is refused in the phase %s', async (phase) => {
    await using at = await createFolder({ run: { ...run, phase, outcome: null } });
    await expect(at.rollBack(true)).rejects.toMatchObject({ ...refused, exitCode: 4 });
    expect(await at.current()).toBe('2.0.0');
  });

  it('is refused for a version whose files were changed, and in a folder that others may write to', async () => {
    await using at = await createFolder();
    await writeFile(join(at.dir, '1.0.0/added.js'), '');
    await expect(at.rollBack(true)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('"added.js" is not in the manifest'),
      remedy: expect.stringContaining('--base'),
    });
    await chmod(at.dir, 0o777);
    await expect(at.rollBack(true, true)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(await at.current()).toBe('2.0.0');
  });
});
