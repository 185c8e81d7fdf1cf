import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { writeStateFile } from '../../src/lib/json/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import type { Site } from '../../src/lib/site/index.ts';
import { type ClaimDisk, claimState, openClaim, otherRobots, stateOwners } from '../../src/lib/site/robot-state.ts';
import { runs } from '../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-robot-state-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const fresh = () => mkdtempSync(join(scratch, 's-'));
const siteOf = (stateDir: string, serial: string) => ({ stateDir, chassis: { serial } as Site['chassis'] });
const claim = (stateDir: string, serial: string, disk?: ClaimDisk) =>
  claimState(siteOf(stateDir, serial), silentLog, disk);

const ofRobot = Object.keys(stateOwners).filter((name) => stateOwners[name] === 'robot');
const others = Object.keys(stateOwners).filter((name) => stateOwners[name] === 'closes-the-gate');

/** One entry of the state, by the robot `serial`. */
function leave(stateDir: string, name: string, serial: string): void {
  const path = join(stateDir, name);
  if (name.endsWith('.json')) writeFileSync(path, serial);
  else {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'of'), serial);
  }
}

/** Which robot has made this entry; null: it is not there. */
function madeBy(path: string): string | null {
  try {
    return readFileSync(statSync(path).isDirectory() ? join(path, 'of') : path, 'utf8');
  } catch {
    return null;
  }
}

describe('the state of a gateway whose chassis was replaced', () => {
  it('is set aside, is there again when its robot comes back, and keeps the gate closed for any robot', async () => {
    const dir = fresh();
    await claim(dir, 'SN1');
    for (const name of [...ofRobot, ...others]) leave(dir, name, 'SN1');
    await claim(dir, 'SN1');
    expect(ofRobot.map((name) => madeBy(join(dir, name)))).toEqual(ofRobot.map(() => 'SN1'));
    expect(await otherRobots(siteOf(dir, 'SN1'))).toEqual([]);

    await claim(dir, 'SN2');
    expect(ofRobot.map((name) => madeBy(join(dir, name)))).toEqual(ofRobot.map(() => null));
    expect(others.map((name) => madeBy(join(dir, name)))).toEqual(others.map(() => 'SN1'));
    expect(await otherRobots(siteOf(dir, 'SN2'))).toEqual([{ serial: 'SN1', folder: join(dir, 'robots', 'SN1') }]);
    leave(dir, 'incidents', 'SN2');

    await claim(dir, 'SN1');
    expect(ofRobot.map((name) => madeBy(join(dir, name)))).toEqual(ofRobot.map(() => 'SN1'));
    expect(await otherRobots(siteOf(dir, 'SN1'))).toEqual([{ serial: 'SN2', folder: join(dir, 'robots', 'SN2') }]);
  });

  it.each([
    ['failed-drive.json', '{"format":"gw/failed-drive/1","serial":"SN1","failed":null}'],
    ['support/sessions.jsonl', '{"format":"gw/support-session/1","seq":1,"serial":"SN1"}\n{"seq":2}\n'],
    ['incidents/incident-1.jsonl', '{"format":"gw/incident/1","serial":"SN1"}\n{}\n'],
  ])('of a version before the mark is that of the robot that %s names', async (name, content) => {
    const dir = fresh();
    mkdirSync(join(dir, 'cloud'));
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), content);
    await claim(dir, 'SN2');
    expect(readdirSync(join(dir, 'robots', 'SN1')).sort()).toEqual(['cloud', name.split('/')[0]].sort());
  });

  it('of a version before the mark that names no robot, or none that can be one, is taken over', async () => {
    for (const content of ['', 'x', '{"serial":"../../etc"}', '{"serial":7}', '[]']) {
      const dir = fresh();
      mkdirSync(join(dir, 'cloud'));
      writeFileSync(join(dir, 'failed-drive.json'), content);
      await claim(dir, 'SN2');
      expect(readdirSync(dir).sort()).toEqual(['cloud', 'failed-drive.json', 'robot.json']);
    }
  });

  it('a mark that cannot be read moves nothing', async () => {
    const dir = fresh();
    leave(dir, 'cloud', 'SN1');
    writeFileSync(join(dir, 'robot.json'), '{"format":"gw/state-of-robot/9"}');
    await expect(claim(dir, 'SN2')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(madeBy(join(dir, 'cloud'))).toBe('SN1');
  });

  it('is not called sorted where it is of another robot, or of an unknown one, or lies apart', async () => {
    const dir = fresh();
    const open = (serial: string) => openClaim(siteOf(dir, serial));
    expect(await open('SN1')).toBeNull();
    await claim(dir, 'SN1');
    leave(dir, 'cloud', 'SN1');
    leave(dir, 'incidents', 'SN1');
    expect(await open('SN1')).toBeNull();
    expect(await open('SN2')).toContain('that of SN1, and was not set aside yet');

    let left = 2;
    const disk: ClaimDisk = {
      async rename(from, to) {
        left -= 1;
        if (left < 1) throw new Error('the disk does not answer');
        await rename(from, to);
      },
      write: writeStateFile,
    };
    await expect(claim(dir, 'SN2', disk)).rejects.toThrow('does not answer');
    // The gateway goes on, and keeps messages of SN2.
    leave(dir, 'cloud', 'SN2');
    expect(await open('SN2')).toContain('that of SN1');
    await claim(dir, 'SN2');
    await claim(dir, 'SN1');
    expect(await open('SN1')).toContain(join(dir, 'robots', 'SN1', 'cloud~2'));

    writeFileSync(join(dir, 'robot.json'), '{');
    expect(await open('SN1')).toContain('whose state the folder holds is not known');
  });

  it('is never used by another robot, and none of it is lost, wherever a claim is interrupted', {
    tags: 'property',
  }, async () => {
    const step = fc.record({
      serial: fc.constantFrom('SN1', 'SN2', 'SN3'),
      // Changes of the disk after which it ends; the last ones end no claim.
      endsAfter: fc.nat(24),
      makes: fc.subarray(ofRobot),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const dir = fresh();
        await claim(dir, 'SN1');
        const made: string[] = [];
        for (const { serial, endsAfter, makes } of steps) {
          let left = endsAfter;
          const spend = () => {
            left -= 1;
            if (left < 0) throw new Error('killed');
          };
          const disk: ClaimDisk = {
            async rename(from, to) {
              spend();
              await rename(from, to);
            },
            async write(path, value) {
              spend();
              await writeStateFile(path, value);
            },
          };
          const isClaimed = await claim(dir, serial, disk).then(
            () => true,
            () => false,
          );
          if (!isClaimed) continue;
          for (const name of ofRobot) expect([null, serial]).toContain(madeBy(join(dir, name)));
          for (const name of makes) {
            if (madeBy(join(dir, name)) !== null) continue;
            leave(dir, name, serial);
            made.push(`${serial} ${name}`);
          }
        }
        const folders = [dir, ...robotsIn(dir)];
        const left = folders.flatMap((folder) =>
          readdirSync(folder).map((name) => `${madeBy(join(folder, name))} ${name.replace(/~\d+$/, '')}`),
        );
        for (const one of made) expect(left).toContain(one);
      }),
      { numRuns: runs(200) },
    );
  });
});

function robotsIn(dir: string): string[] {
  try {
    return readdirSync(join(dir, 'robots')).map((name) => join(dir, 'robots', name));
  } catch {
    return [];
  }
}
