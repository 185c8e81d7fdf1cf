import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { loadSite } from '../../../src/lib/site/index.ts';
import { stateOwners } from '../../../src/lib/site/robot-state.ts';
import { siteSchema } from '../../../src/lib/site/schema.ts';
import { fileKeys, sourcesOf, stateKinds } from '../../../src/lib/toolkit/backup/parts.ts';
import { backUpGateway } from '../../../src/lib/toolkit/gateway/backup.ts';
import { verifyGatewayBackup } from '../../../src/lib/toolkit/gateway/verify.ts';
import {
  append,
  backUp,
  context,
  makeGateway,
  NOW,
  openOutbox,
  PASSPHRASE,
  put,
  restore,
  SITE,
  scratchFolder,
  tree,
} from './gateway.ts';

const { fresh, remove } = scratchFolder();
afterAll(remove);
const newFile = () => join(fresh(), 'backup.tar.gz');

/** Keys of the site file whose values are paths, as its schema says. */
function pathKeys(schema: z.ZodType, at = ''): string[] {
  const { innerType, element, shape } = schema.def as unknown as {
    readonly innerType?: z.ZodType;
    readonly element?: z.ZodType;
    readonly shape?: Readonly<Record<string, z.ZodType>>;
  };
  if (schema.meta()?.type === 'path') return [at];
  if (innerType !== undefined) return pathKeys(innerType, at);
  if (element !== undefined) return pathKeys(element, at);
  return Object.entries(shape ?? {}).flatMap(([key, value]) => pathKeys(value, at === '' ? key : `${at}.${key}`));
}

describe('what a gateway is', () => {
  it('has an entry for every key of the site file that names a file, and for no other', () => {
    const keys = pathKeys(siteSchema);
    expect(keys).toContain('fleet.acceptedKeyFiles');
    expect(keys.toSorted()).toEqual(Object.keys(fileKeys).toSorted());
  });

  it('finds the value of every one of them', async () => {
    const dir = fresh();
    put(dir, 'site.yaml', `${SITE}checklists: { programs: [/bin/true] }\n`);
    const keys = sourcesOf(await loadSite(join(dir, 'site.yaml'))).map(({ key }) => key);
    expect(new Set(keys)).toEqual(new Set(Object.keys(fileKeys)));
  });

  it('has a kind for every entry of the state folder', () => {
    expect(Object.keys(stateKinds).toSorted()).toEqual(Object.keys(stateOwners).toSorted());
  });
});

describe('a backup of a gateway', () => {
  it('is the gateway itself again, except for what it says, with each file for its owner alone', async () => {
    const dir = fresh();
    const site = await makeGateway(dir);
    const out = newFile();
    const made = await backUp(site, out, { passphrase: PASSPHRASE, withMedia: true });
    expect(made).toMatchObject({ verdict: 'ok', leftOut: [], serial: 'SN-7', host: 'old-gateway' });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(out, '..'))).toEqual(['backup.tar.gz']);
    const to = join(fresh(), 'new');
    const done = await restore(out, to, { passphrase: async () => PASSPHRASE });
    expect(done.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    const [before, after] = [tree(dir), tree(to)];
    const differing = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
    expect(differing.toSorted()).toEqual([
      'notes.yaml',
      'releases/1.2.3/gw',
      'state/cloud/outbox/outbox.db',
      'state/heartbeat-boots.json',
      'state/incidents/one.jsonl',
      'state/local/left',
    ]);
    expect(after['state/incidents/one.jsonl']).toBe('{"incident":1}\n');
    const modes = Object.keys(after).map((path) => statSync(join(to, path)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(statSync(join(to, 'identity')).mode & 0o777).toBe(0o700);
    const outbox = openOutbox(join(to, 'state/cloud/outbox/outbox.db'));
    expect([outbox.state().kept.record, outbox.lastSeqs()]).toEqual([3, [3, 0, 0, 0]]);
    outbox.close();
  });

  it('has no secret in the clear, also where a folder that is kept in the clear holds it', async () => {
    const dir = fresh();
    await makeGateway(dir, { 'site.yaml': SITE.replace('operator: {', 'operator: { mediaDir: ., ') });
    const site = await loadSite(join(dir, 'site.yaml'));
    const out = newFile();
    await backUp(site, out, { passphrase: PASSPHRASE, withMedia: true });
    const content = gunzipSync(readFileSync(out)).toString('latin1');
    expect(content).toContain('a release');
    // The media library was made of everything, and so holds what a person has left there.
    expect([...content.matchAll(/secret-[\w-]+/g)].map(([found]) => found)).toEqual(['secret-of-a-person']);
  });

  it('lists each secret that was left out for want of a passphrase, and how it is made anew', async () => {
    const site = await makeGateway(fresh());
    const out = newFile();
    const made = await backUp(site, out);
    expect(made.verdict).toBe('not-checked');
    expect(gunzipSync(readFileSync(out)).toString('latin1')).not.toMatch(/secret-/);
    const left = made.leftOut.map(({ path }) => path);
    const keys = ['secrets/heartbeat', 'secrets/heartbeat-next'];
    const secret = ['secrets/chassis', 'secrets/password', 'secrets/password.former', ...keys];
    const folders = ['identity/identity.json', 'identity/key.pem', 'state/adb/adbkey', 'media'];
    expect(left.toSorted()).toEqual([...secret, ...folders].toSorted());
    expect(made.leftOut.filter(({ anew }) => anew === '')).toEqual([]);
    const done = await restore(out, join(fresh(), 'new'));
    const line = done.findings.find(({ id }) => id === 'left-out');
    expect([line?.verdict, line?.remedy]).toEqual(['not-checked', expect.stringContaining('gw enrol --renew')]);
    expect(done.verdict).toBe('not-checked');
  });

  it('says that what it could not read is wrong', async () => {
    const dir = fresh();
    const site = await makeGateway(dir, { 'state/of-a-later-gw.json': '{}' });
    symlinkSync('/etc/hostname', join(dir, 'state/records/link.json'));
    mkdirSync(join(dir, 'state/cloud-link.json'));
    writeFileSync(join(dir, 'state/cloud/outbox/outbox.db.new'), '');
    const out = newFile();
    const made = await backUp(site, out);
    const wrong = ['records/link.json', 'of-a-later-gw.json', 'cloud/outbox/outbox.db.new'];
    expect(made.leftOut.map(({ path }) => path)).toEqual(expect.arrayContaining(wrong.map((path) => `state/${path}`)));
    expect(made.findings.find(({ id }) => id === 'left-out')?.verdict).toBe('wrong');
    expect(made.verdict).toBe('wrong');
    // What was wrong when it was made is so when it is looked at.
    expect((await verifyGatewayBackup(out, async () => null)).verdict).toBe('wrong');
  });

  it('says that a file is missing which the site file names', async () => {
    const dir = fresh();
    put(dir, 'site.yaml', SITE);
    const made = await backUp(await loadSite(join(dir, 'site.yaml')), newFile(), { passphrase: PASSPHRASE });
    expect(made.leftOut.map(({ holds }) => holds)).toContain('CA of the broker');
    expect(made.verdict).toBe('wrong');
  });

  it('keeps the last line of evidence that a person has left without its end', async () => {
    const dir = fresh();
    const site = await makeGateway(dir, { 'evidence.jsonl': '{"fact":1}\n{"fact":2}' });
    const [out, to] = [newFile(), join(fresh(), 'new')];
    await backUp(site, out);
    await restore(out, to);
    expect(readFileSync(join(to, 'evidence.jsonl'), 'utf8')).toBe('{"fact":1}\n{"fact":2}');
  });

  it('never replaces a file, and leaves nothing behind where it fails', async () => {
    const site = await makeGateway(fresh());
    const out = newFile();
    writeFileSync(out, 'mine');
    await expect(backUp(site, out)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await expect(backUp(site, join(out, 'x'))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await expect(backUp(site, newFile(), { passphrase: 'short' })).rejects.toMatchObject({ code: 'USAGE' });
    const ended = { ...context, signal: AbortSignal.abort(new Error('ended')) };
    const options = {
      ...{ site, out: `${out}2`, passphrase: null, withMedia: false },
      gwVersion: '1',
      host: 'h',
      now: NOW,
    };
    await expect(backUpGateway(options, ended)).rejects.toThrow('ended');
    expect(readdirSync(join(out, '..'))).toEqual(['backup.tar.gz']);
    expect(readFileSync(out, 'utf8')).toBe('mine');
  });

  it('takes the outbox of a running gateway, which goes on undisturbed', async () => {
    const dir = fresh();
    const site = await makeGateway(dir);
    const path = join(dir, 'state/cloud/outbox/outbox.db');
    const store = openOutbox(path);
    append(store, 5);
    const [out, to] = [newFile(), join(fresh(), 'new')];
    const made = await backUp(site, out);
    expect(made.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    append(store, 1);
    expect(store.state().kept.record).toBe(9);
    store.close();
    await restore(out, to);
    const copy = openOutbox(join(to, 'state/cloud/outbox/outbox.db'));
    expect(copy.state().kept.record).toBe(8);
    copy.close();
  });
});

describe('gw gateway verify', () => {
  it('is ok only for secrets that this passphrase has opened', async () => {
    const site = await makeGateway(fresh());
    const out = newFile();
    await backUp(site, out, { passphrase: PASSPHRASE, withMedia: true });
    expect((await verifyGatewayBackup(out, async () => PASSPHRASE)).verdict).toBe('ok');
    expect((await verifyGatewayBackup(out, async () => null)).verdict).toBe('not-checked');
    const wrong = verifyGatewayBackup(out, async () => `${PASSPHRASE}!`);
    await expect(wrong).rejects.toMatchObject({ code: 'PASSPHRASE_WRONG' });
  });
});
