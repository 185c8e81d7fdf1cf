import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChassisRobot, ChassisSeen } from '../../../src/lib/toolkit/replace/chassis-robot.ts';
import { chassisSteps } from '../../../src/lib/toolkit/replace/chassis-steps.ts';
import {
  openReplacement,
  REPLACEMENT_FORMAT,
  type ReplacementFile,
} from '../../../src/lib/toolkit/replace/replacement-file.ts';
import { runReplacement } from '../../../src/lib/toolkit/replace/run.ts';
import { runs } from '../../properties.ts';
import {
  archiveOf,
  BEGUN,
  chassisOf,
  deviceOf,
  EARLIER,
  evidenceOf,
  gatewayOf,
  identityOf,
  NEW,
  OLD,
  recordsOf,
  SOFTWARE,
  seenOf,
  siteOf,
} from './robots.ts';

class Killed extends Error {}

/** What is in the world: on disks, in the robot, at the endpoint. A killed process leaves it as it is. */
interface World {
  file: ReplacementFile | null;
  /** Archives on the disk, by path: whose maps they hold. */
  archives: Record<string, string>;
  site: string;
  identity: string;
  /** The key of an enrolment that is under way. */
  pending: string | null;
  issued: string[];
  /** Of the running gateway; null: none. */
  gateway: string | null;
  chassis: string;
  maps: 'none' | 'half' | 'whole';
  verified: boolean;
  accepted: boolean;
}

const start = (): World => ({
  ...{ file: null, archives: {}, site: OLD, identity: OLD, pending: null, issued: [], gateway: OLD, chassis: OLD },
  ...{ maps: 'none', verified: false, accepted: false },
});

/** An identity beside the file of an enrolment that has not ended. */
const leftOf = (serial: string) => ({
  ...identityOf(serial),
  verdict: 'wrong' as const,
  findings: [
    {
      id: 'begun',
      title: 'No unfinished enrolment',
      verdict: 'wrong' as const,
      detail: 'left',
      remedy: null,
      spec: null,
    },
  ],
});

/** One process of the command in this world, which is killed before its n-th effect. */
function processIn(world: World, killedAt: number) {
  let effects = 0;
  const effect = <T>(work: () => T): T => {
    if (effects >= killedAt) throw new Killed();
    effects += 1;
    return work();
  };
  const files = {
    read: async () => structuredClone(world.file) as never,
    write: async (_path: string, value: object) =>
      effect(() => {
        world.file = structuredClone(value) as ReplacementFile;
      }),
  };
  const see = (): ChassisSeen => {
    const { archive = null, words = [] } = world.file ?? {};
    const of = archive === null ? null : (world.archives[archive.path] ?? null);
    const isNew = world.site === NEW;
    return seenOf({
      site: siteOf(world.site, [world.site, 'SN9']),
      chassis: chassisOf(world.chassis),
      gateway: gatewayOf(world.gateway),
      identity: world.pending === null ? identityOf(world.identity) : leftOf(world.identity),
      device: deviceOf(world.verified ? evidenceOf(NEW, SOFTWARE) : [], world.chassis),
      records: recordsOf(...(world.accepted ? [{}] : [])),
      unit: { poseUnit: world.verified ? 'degrees' : 'not-decided', unitContradicted: false, unitInDoubt: false },
      archive: of === null ? null : archiveOf({ serial: of }),
      copied: isNew ? { verdict: world.maps === 'whole' ? 'nothing-to-do' : 'to-do', maps: [] } : null,
      words,
    });
  };
  const robot = (change: (to: Partial<ReplacementFile>) => Promise<void>): ChassisRobot => ({
    see: async () => see(),
    async backUp({ archive, site }) {
      if (archive !== null || site.chassis.serial !== OLD || world.chassis !== OLD) return false;
      const path = `/b/${Object.keys(world.archives).length}.tar.gz`;
      effect(() => {
        world.archives[path] = world.chassis;
      });
      await change({ archive: { path, sha256: 'a'.repeat(64) } });
      return true;
    },
    stop: async () => false,
    async editSite() {
      // Written under another name, then renamed: one effect.
      effect(() => {
        world.site = NEW;
      });
      return true;
    },
    async enrol({ site }) {
      if (site.chassis.serial !== NEW) return false;
      effect(() => {
        world.pending ??= `key-${world.issued.length}`;
      });
      effect(() => {
        if (!world.issued.includes(world.pending ?? '')) world.issued.push(world.pending ?? '');
      });
      effect(() => {
        world.identity = NEW;
      });
      effect(() => {
        world.pending = null;
      });
      return true;
    },
    start: async () => false,
    async restore() {
      effect(() => {
        world.maps = world.maps === 'whole' ? 'whole' : 'half';
      });
      effect(() => {
        world.maps = 'whole';
      });
      return true;
    },
  });
  return async () => {
    const begin = (found: ReplacementFile | null) =>
      found ??
      ({
        format: REPLACEMENT_FORMAT,
        part: 'chassis',
        from: OLD,
        to: NEW,
        begunAt: BEGUN,
        old: null,
        archive: null,
        records: [],
        words: [],
      } as const);
    const file = await openReplacement('/s', 'chassis', begin as never, files);
    const chassis = robot((to) => file.change(() => to));
    const run = (confirms: readonly string[]) =>
      runReplacement({
        ...{ steps: chassisSteps(chassis), file, see: chassis.see, person: { confirms, by: 'K. Maier' } },
        ...{ clock: { wall: () => new Date(EARLIER) }, signal: new AbortController().signal },
        ...{ onProgress: () => {}, command: 'gw replace chassis' },
      });
    const first = await run([]);
    const asks = first.steps.find(({ id }) => id === first.next)?.lines.some(({ id }) => id === 'word');
    const ran = asks && first.next !== null ? await run([first.next]) : first;
    // A killed process prints nothing: what it caught is not a result.
    if (ran.problem !== null) throw new Killed();
    return ran;
  };
}

/** What people do beside the robot, at the step where the command left it. */
function byPeople(world: World, next: string | null): void {
  if (next === 'ended') {
    world.gateway = null;
    world.chassis = NEW;
  } else if (next === 'runs') world.gateway = world.site;
  else if (next === 'unit' || next === 'trials') world.verified = true;
  else if (next === 'premises') world.accepted = true;
}

const MAX_RUNS = 80;

async function lead(kills: readonly number[]): Promise<World> {
  const world = start();
  const left = [...kills];
  for (let n = 0; n < MAX_RUNS; n += 1) {
    const before = structuredClone(world.file?.words ?? []);
    try {
      const ran = await processIn(world, left.shift() ?? Number.POSITIVE_INFINITY)();
      if (ran.verdict === 'complete') return world;
      byPeople(world, ran.next);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    // Nothing that a person said, and no backup, is lost by a kill.
    expect(world.file?.words.slice(0, before.length) ?? []).toEqual(before);
    expect(Object.values(world.archives).every((of) => of === OLD)).toBe(true);
    if (world.site === NEW) expect(world.file?.archive).not.toBeNull();
  }
  throw new Error('it never came to its end');
}

/** Without what may differ: further archives, and the order of the words. */
const ended = ({ file, archives, ...rest }: World) => ({
  ...rest,
  words: file?.words.map(({ step, frame }) => `${step} ${frame}`).sort(),
  archive: archives[file?.archive?.path ?? ''],
});

describe('a replacement whose process is killed', () => {
  it('comes to the same end, wherever it is killed, and loses no backup and no word', {
    tags: 'property',
  }, async () => {
    const undisturbed = ended(await lead([]));
    expect(undisturbed).toMatchObject({ site: NEW, identity: NEW, gateway: NEW, maps: 'whole', archive: OLD });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), async (kills) => {
        expect(ended(await lead(kills))).toEqual(undisturbed);
      }),
      { numRuns: runs(300) },
    );
  });
});
