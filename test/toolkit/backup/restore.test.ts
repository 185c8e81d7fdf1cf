import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFile } from '../../../src/lib/lifecycle/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { lookForGateway } from '../../../src/lib/toolkit/backup/running.ts';
import type { RestoreDisk } from '../../../src/lib/toolkit/gateway/restore.ts';
import { runs } from '../../properties.ts';
import { backUp, makeGateway, NOW, PASSPHRASE, put, restore, SITE, scratchFolder, tree } from './gateway.ts';

const { fresh, remove } = scratchFolder();
afterAll(remove);

let site: Site;
let archive = '';
let reference: Record<string, string> = {};
const passphrase = async () => PASSPHRASE;

beforeAll(async () => {
  site = await makeGateway(join(fresh(), 'old'));
  archive = join(fresh(), 'backup.tar.gz');
  await backUp(site, archive, { passphrase: PASSPHRASE, withMedia: true });
  const whole = join(fresh(), 'new');
  await restore(archive, whole, { passphrase });
  reference = tree(whole);
});

class Killed extends Error {}

/** A disk that is gone at its n-th change, before or after its effect. */
function dyingDisk(at: number, isAfter: boolean): RestoreDisk & { readonly changes: () => number } {
  let changes = 0;
  async function once(change: () => Promise<void>): Promise<void> {
    changes += 1;
    if (changes > at) throw new Killed();
    if (changes === at && !isAfter) throw new Killed();
    await change();
    if (changes === at) throw new Killed();
  }
  return {
    changes: () => changes,
    create: (...given) => once(() => createFile(...given)),
    rename: (from, to) => once(() => rename(from, to)),
  };
}

describe('an interrupted restore', () => {
  it('goes on with the same command, loses nothing that was there, and has its site file last', {
    tags: 'property',
  }, async () => {
    const old = { 'site.yaml': SITE.replace('Lobby', 'Before'), 'state/tablet.json': 'before', 'kiosk.yaml': 'before' };
    const kills = fc.array(fc.record({ at: fc.integer({ min: 1, max: 40 }), isAfter: fc.boolean() }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(kills, fc.boolean(), async (deaths, isOccupied) => {
        const into = join(fresh(), 'new');
        if (isOccupied) for (const [path, text] of Object.entries(old)) put(into, path, text);
        const again = (disk?: RestoreDisk) => restore(archive, into, { passphrase, moveAside: true }, disk);
        for (const { at, isAfter } of deaths) {
          const disk = dyingDisk(at, isAfter);
          await again(disk).catch((error: unknown) => {
            expect(error).toBeInstanceOf(Killed);
          });
          // What a killed process leaves of a file that it has begun.
          writeFileSync(join(into, `.kiosk.yaml.${crypto.randomUUID()}`), 'half');
          const names = tree(into);
          const isThere = names['site.yaml'] === reference['site.yaml'];
          if (isThere) expect(Object.keys(reference).filter((path) => !(path in names))).toEqual([]);
        }
        expect((await again()).state).toBe('restored');
        const left = tree(into);
        expect(Object.keys(reference).filter((path) => left[path] !== reference[path])).toEqual([]);
        const further = Object.keys(left).filter((path) => !(path in reference));
        const aside = further.filter((path) => path.includes('.before-restore-')).map((path) => left[path]);
        expect(aside.toSorted()).toEqual(isOccupied ? Object.values(old).toSorted() : []);
        expect(further.filter((path) => !path.includes('.before-restore-') && !path.startsWith('.kiosk'))).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });

  it('removes what it had begun', async () => {
    const into = join(fresh(), 'new');
    await restore(archive, into, { passphrase });
    const draft = join(into, `.kiosk.yaml.${crypto.randomUUID()}`);
    const ofOthers = join(into, `.other.${crypto.randomUUID()}`);
    for (const path of [draft, ofOthers]) writeFileSync(path, 'half');
    const again = await restore(archive, into, { passphrase });
    expect(again.files.every(({ action }) => action === 'same')).toBe(true);
    expect([existsSync(draft), existsSync(ofOthers)]).toEqual([false, true]);
  });
});

describe('a restore', () => {
  it('writes nothing in a dry run', async () => {
    const into = join(fresh(), 'new');
    const dry = await restore(archive, into, { passphrase, write: false });
    expect([dry.state, dry.files.every(({ action }) => action === 'write'), existsSync(into)]).toEqual([
      'dry-run',
      true,
      false,
    ]);
    expect(dry.files.map(({ path }) => path.slice(into.length + 1)).toSorted()).toEqual(
      Object.keys(reference).toSorted(),
    );
  });

  it.each([
    ['another site file', 'site.yaml', 'other'],
    ['state', 'state/of-someone', 'other'],
    ['evidence', 'evidence.jsonl', 'other'],
    ['an identity', 'identity/other.pem', 'other'],
    ['a report of a trial', 'evidence.trials/two.json', '{}'],
    ['a password', 'secrets/password', 'other'],
  ])('is refused where there is %s, and changes nothing', async (_, path, text) => {
    const into = fresh();
    put(into, path, text);
    const before = tree(into);
    const refused = await restore(archive, into, { passphrase });
    expect([refused.state, refused.verdict]).toEqual(['refused', 'wrong']);
    expect(refused.findings.find(({ id }) => id === 'place')?.detail).toContain(path);
    expect(tree(into)).toEqual(before);
  });

  it('leaves the identity that is there where it restores no secrets', async () => {
    const into = fresh();
    put(into, 'identity/key.pem', 'made anew');
    put(into, 'secrets/password', 'made anew');
    const done = await restore(archive, into);
    expect([done.state, done.movedAside]).toEqual(['restored', []]);
    const left = tree(into);
    expect([left['identity/key.pem'], left['secrets/password'], left['identity/identity.json']]).toEqual([
      'made anew',
      'made anew',
      undefined,
    ]);
    expect(done.findings.find(({ id }) => id === 'secrets')?.verdict).toBe('not-checked');
  });

  it.each([
    ['stop-latch.json', '{"format":"gw/stop-latch/1","latched":true,"reason":null,"by":null,"since":null}'],
    ['stop-latch.json', 'damaged'],
    ['pose-alarm.json', '[]'],
  ])('never lifts what closes the gate there: %s %s', async (name, text) => {
    const into = fresh();
    put(into, `state/${name}`, text);
    const refused = await restore(archive, into, { passphrase, moveAside: true });
    expect([refused.state, tree(into)]).toEqual(['refused', { [`state/${name}`]: text }]);
  });

  it.each([
    ['whose state lies in another folder', `${SITE}stateDir: elsewhere\n`],
    ['that cannot be read', 'name: 3\n'],
  ])('never moves a site file %s while a stop may be latched there', async (_what, text) => {
    const into = fresh();
    put(into, 'site.yaml', text);
    put(into, 'elsewhere/stop-latch.json', '{"format":"gw/stop-latch/1","latched":true}');
    const before = tree(into);
    const refused = await restore(archive, into, { passphrase, moveAside: true });
    expect([refused.state, tree(into)]).toEqual(['refused', before]);
  });

  it('is refused while a gateway of the site file runs that is there, whatever its robot and state folder', async () => {
    const into = fresh();
    put(into, 'site.yaml', `${SITE.replace('SN-7', 'SN-8')}stateDir: elsewhere\n`);
    const look = async ({ chassis }: Pick<Site, 'chassis'>) => (chassis.serial === 'SN-8' ? 'it runs' : null);
    const refused = await restore(archive, into, { passphrase, moveAside: true, look });
    expect(refused.findings.find(({ id }) => id === 'gateway')?.verdict).toBe('wrong');
    expect(Object.keys(tree(into))).toEqual(['site.yaml']);
  });

  it('says of a stop that it is latched only where it is', async () => {
    const latched = '{"format":"gw/stop-latch/1","latched":true,"reason":"x","by":null,"since":null}\n';
    const stopped = await makeGateway(join(fresh(), 'old'), { 'state/stop-latch.json': latched });
    const out = join(fresh(), 'b.tar.gz');
    await backUp(stopped, out);
    const line = async (path: string) => {
      const { findings } = await restore(path, join(fresh(), 'new'), { write: false });
      return findings.find(({ id }) => id === 'stop')?.verdict;
    };
    expect([await line(out), await line(archive)]).toEqual(['ok', 'not-checked']);
  });

  it('raises the boot counter above every one that was used since, and again no further', async () => {
    const into = join(fresh(), 'new');
    const now = new Date(NOW.getTime() + 1_000_000);
    const done = await restore(archive, into, { passphrase, now });
    const counter = () => readFileSync(join(into, 'state/heartbeat-boots.json'), 'utf8');
    expect(counter()).toBe(`{"format":"gw/heartbeat-boots/1","boots":${41 + 1_000 + 86_400}}\n`);
    expect(done.findings.find(({ id }) => id === 'boots')?.verdict).toBe('ok');
    const before = counter();
    await restore(archive, into, { passphrase, now: new Date(now.getTime() + 1_000_000) });
    expect(counter()).toBe(before);
    const without = await makeGateway(join(fresh(), 'old'));
    rmSync(join(without.stateDir, 'heartbeat-boots.json'));
    const out = join(fresh(), 'b.tar.gz');
    await backUp(without, out);
    const lines = (await restore(out, join(fresh(), 'new'), { write: false })).findings;
    expect(lines.find(({ id }) => id === 'boots')?.verdict).toBe('not-checked');
    const early = { passphrase, write: false, now: new Date(NOW.getTime() - 1_000) };
    const { findings } = await restore(archive, join(fresh(), 'new'), early);
    expect(findings.find(({ id }) => id === 'boots')?.verdict).toBe('not-checked');
  });

  it('is never ok before a person has looked whether the old gateway is off', async () => {
    const done = await restore(archive, join(fresh(), 'new'), { passphrase });
    expect([done.verdict, done.findings.find(({ id }) => id === 'old-gateway')?.verdict]).toEqual([
      'not-checked',
      'not-checked',
    ]);
  });

  it('is refused while a gateway works on the state folder, or where that cannot be seen', async () => {
    const into = fresh();
    const state = { stateDir: join(into, 'state'), chassis: { serial: 'SN-7' } as Site['chassis'] };
    expect(await lookForGateway(state)).toBeNull();
    mkdirSync(join(into, 'state/local'), { recursive: true });
    const path = join(into, 'state/local/gw.sock');
    const server = createServer();
    await new Promise<void>((done) => server.listen(path, done));
    expect(await lookForGateway(state)).toContain('works on');
    const refused = await restore(archive, into, { passphrase, look: lookForGateway });
    expect([refused.state, Object.keys(tree(into))]).toEqual(['refused', []]);
    await new Promise((done) => server.close(done));
    rmSync(path, { force: true });
    writeFileSync(path, 'no socket');
    expect(await lookForGateway(state)).toBeNull();
    rmSync(path);
    mkdirSync(path);
    expect(await lookForGateway(state)).toBeNull();
  });

  it('is wrong when a gateway was started meanwhile', async () => {
    let looks = 0;
    const look = async () => (++looks === 1 ? null : 'gw serve runs');
    const done = await restore(archive, join(fresh(), 'new'), { passphrase, look });
    expect([done.state, done.verdict]).toEqual(['restored', 'wrong']);
  });

  it.each(['state', 'state/support'])('writes nothing through a link in place of %s', async (path) => {
    const [into, elsewhere] = [fresh(), fresh()];
    mkdirSync(join(into, path, '..'), { recursive: true });
    symlinkSync(elsewhere, join(into, path));
    const refused = await restore(archive, into, { passphrase });
    expect([refused.state, readdirSync(elsewhere)]).toEqual(['refused', []]);
  });

  it('writes outside of the folder of the site file only where a person names the folder', async () => {
    const [dir, elsewhere] = [join(fresh(), 'old'), fresh()];
    const text = SITE.replace('tablet: {', `tablet: { profileFile: ${elsewhere}/kiosk.yaml,`);
    put(elsewhere, 'kiosk.yaml', 'kiosk');
    const other = await makeGateway(dir, { 'site.yaml': text });
    const out = join(fresh(), 'b.tar.gz');
    await backUp(other, out);
    rmSync(join(elsewhere, 'kiosk.yaml'));
    const into = join(fresh(), 'new');
    const refused = await restore(out, into);
    expect(refused.state).toBe('refused');
    expect(refused.findings.find(({ id }) => id === 'outside')?.remedy).toBe(`Allow it: --also-in ${elsewhere}`);
    expect(existsSync(into)).toBe(false);
    expect((await restore(out, into, { alsoIn: [elsewhere] })).state).toBe('restored');
    expect(readFileSync(join(elsewhere, 'kiosk.yaml'), 'utf8')).toBe('kiosk');
  });

  it('goes to the same folder where the site file names that by its whole path', async () => {
    const dir = join(fresh(), 'old');
    const other = await makeGateway(dir, { 'site.yaml': `${SITE}stateDir: ${dir}/state\n` });
    const out = join(fresh(), 'b.tar.gz');
    await backUp(other, out);
    await expect(restore(out, join(fresh(), 'new'))).rejects.toMatchObject({ code: 'USAGE' });
    rmSync(dir, { recursive: true });
    expect((await restore(out, dir)).state).toBe('restored');
  });

  it('writes no site file where the archive was changed after it was verified', async () => {
    const [own, into] = [join(fresh(), 'b.tar.gz'), join(fresh(), 'new')];
    copyFileSync(archive, own);
    const other = await makeGateway(join(fresh(), 'old'), { 'kiosk.yaml': 'other' });
    const second = join(fresh(), 'c.tar.gz');
    await backUp(other, second, { passphrase: PASSPHRASE, withMedia: true });
    let creations = 0;
    const disk: RestoreDisk = {
      rename,
      async create(...given) {
        creations += 1;
        await createFile(...given);
      },
    };
    const change = async () => {
      copyFileSync(second, own);
      return null;
    };
    await expect(restore(own, into, { passphrase, look: change }, disk)).rejects.toMatchObject({
      code: 'ARCHIVE_INVALID',
    });
    expect(creations).toBeGreaterThan(0);
    expect(existsSync(join(into, 'site.yaml'))).toBe(false);
  });
});

describe('the folder of a restore', () => {
  it('is refused where others may write to it, also in a dry run', async () => {
    const into = fresh();
    chmodSync(into, 0o777);
    for (const write of [false, true]) {
      await expect(restore(archive, into, { passphrase, write })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    }
    expect(tree(into)).toEqual({});
  });
});
