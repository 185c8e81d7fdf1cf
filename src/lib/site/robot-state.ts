import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asGwError } from '../error/index.ts';
import { isRecord, readJsonBytes, readStateFile, writeStateFile } from '../json/index.ts';
import { type Clock, ensureFolder, type Log, orAfter, readWhole, syncFolder } from '../lifecycle/index.ts';
import { type Site, serialSchema } from './schema.ts';

const MARK = 'robot.json';
const FORMAT = 'gw/state-of-robot/1';
const OTHERS = 'robots';
/** Above a file of session records, which is the largest that names its robot in its first line. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Whose each file and folder in `stateDir` is. What belongs to a robot is set aside when its chassis is replaced. The rest
 * stays: what keeps the gate closed, since no robot may drive because another one came; and what is of the gateway.
 * Project decision.
 */
export const stateOwners: Readonly<Record<string, 'robot' | 'gateway' | 'closes-the-gate'>> = {
  cloud: 'robot',
  'cloud-faults.json': 'robot',
  'cloud-link.json': 'robot',
  'cloud-seen.json': 'robot',
  'cloud-shadow.json': 'robot',
  deliveries: 'robot',
  'failed-drive.json': 'robot',
  incidents: 'robot',
  support: 'robot',
  'pose-alarm.json': 'closes-the-gate',
  'stop-latch.json': 'closes-the-gate',
  // They name their robot themselves.
  ...{ 'checklist-runs': 'gateway', 'map-backups': 'gateway', records: 'gateway' },
  ...{ adb: 'gateway', 'heartbeat-boots.json': 'gateway', 'heartbeat-received.json': 'gateway', local: 'gateway' },
  ...{
    'replacement-chassis.json': 'gateway',
    'replacement-gateway.json': 'gateway',
    'replacement-tablet.json': 'gateway',
  },
  ...{ 'tablet.json': 'gateway', [MARK]: 'gateway', [OTHERS]: 'gateway' },
};
const ofRobot = Object.keys(stateOwners).filter((name) => stateOwners[name] === 'robot');

const markFile = z.object({
  format: z.literal(FORMAT),
  serial: serialSchema,
  /** false: what was set aside of this robot, from an earlier time, is not all back yet. */
  isWhole: z.boolean(),
});

/** What changes the disk. */
export interface ClaimDisk {
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly write: typeof writeStateFile;
}

/** State of another robot, set aside. */
export interface OtherRobot {
  readonly serial: string;
  readonly folder: string;
}

/**
 * Makes the state in `stateDir` that of the robot of the site file: what belongs to another one is moved to a folder of its
 * own, and what an earlier time of this one has left there is moved back. Each move is one renaming, and an interrupted
 * claim goes on with the next one. Nothing may use the state meanwhile. Throws FILE_UNREADABLE, FILE_UNWRITABLE, and the
 * error of the system.
 */
export async function claimState(
  { stateDir, chassis: { serial } }: Pick<Site, 'stateDir' | 'chassis'>,
  log: Log,
  disk: ClaimDisk = { rename, write: writeStateFile },
): Promise<void> {
  const mark = await readStateFile(join(stateDir, MARK), markFile);
  const before = mark?.serial ?? (await namedIn(stateDir)) ?? serial;
  const put = (owner: string, isWhole: boolean) =>
    disk.write(join(stateDir, MARK), { format: FORMAT, serial: owner, isWhole });
  if (before !== serial) {
    // Without it the next claim would take what is left for that of this robot.
    if (mark === null || mark.isWhole) await put(before, false);
    const folder = folderOf(stateDir, before);
    await ensureFolder(folder, 0o700);
    const moved = await moveAll(stateDir, folder, disk);
    log.warn({ audit: true, before, serial, folder, moved }, 'the state of another robot was set aside');
  } else if (mark?.isWhole === true) return;
  await put(serial, false);
  const moved = await moveAll(folderOf(stateDir, serial), stateDir, disk);
  if (moved.length > 0) log.warn({ audit: true, serial, moved }, 'the state of this robot was put back');
  await put(serial, true);
}

/**
 * The same for at most `ms`, and never rejects: a disk that does not answer keeps no gateway from answering a stop. Nothing
 * is moved later; what is not done by then is done at the next start.
 */
export async function claimStateWithin(
  ms: number,
  site: Pick<Site, 'stateDir' | 'chassis'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const late = new AbortController();
  const claimed = claimState(site, log, {
    async rename(from, to) {
      late.signal.throwIfAborted();
      await rename(from, to);
    },
    async write(path, value) {
      late.signal.throwIfAborted();
      await writeStateFile(path, value);
    },
  }).catch((error: unknown) =>
    log.error({ audit: true, error: asGwError(error).message }, 'whose state the folder holds is not known'),
  );
  await orAfter(clock, ms, claimed);
  late.abort();
}

/** Robots whose state was set aside in this folder. Rejects with the error of the system. */
export async function otherRobots({ stateDir, chassis }: Pick<Site, 'stateDir' | 'chassis'>): Promise<OtherRobot[]> {
  const names = await readdir(join(stateDir, OTHERS)).catch(noneIfMissing);
  const found: OtherRobot[] = [];
  for (const name of names.sort()) {
    const folder = join(stateDir, OTHERS, name);
    const kept = await readdir(folder).catch(noneIfMissing);
    if (!kept.some(isOfRobot)) continue;
    if (name !== chassis.serial) found.push({ serial: name, folder });
  }
  return found;
}

/**
 * Why what the gateway uses in this folder may not be all, and only, that of the robot of the site file; a sentence without
 * full stop, null where it is. Rejects with the error of the system.
 */
export async function openClaim({
  stateDir,
  chassis: { serial },
}: Pick<Site, 'stateDir' | 'chassis'>): Promise<string | null> {
  let mark: z.infer<typeof markFile> | null;
  try {
    mark = await readStateFile(join(stateDir, MARK), markFile);
  } catch (error) {
    return `whose state the folder holds is not known: ${asGwError(error).message.replace(/\.$/, '')}`;
  }
  const owner = mark?.serial ?? (await namedIn(stateDir));
  if (owner !== null && owner !== serial)
    return `the state in ${stateDir} is that of ${owner}, and was not set aside yet`;
  const own = folderOf(stateDir, serial);
  const apart = [
    ...(await readdir(own).catch(noneIfMissing)).filter(isOfRobot).map((name) => join(own, name)),
    ...(await readdir(stateDir).catch(noneIfMissing))
      .filter((name) => COPY.test(name) && isOfRobot(name))
      .map((name) => join(stateDir, name)),
  ];
  return apart.length === 0 ? null : `of ${serial} itself, nothing of this is used or sent: ${apart.sort().join(', ')}`;
}

const folderOf = (stateDir: string, serial: string) => join(stateDir, OTHERS, serial);

/** Of an entry that was there already: both are kept. */
const COPY = /~\d+$/;
const isOfRobot = (name: string) => ofRobot.includes(name.replace(COPY, ''));

async function moveAll(from: string, to: string, disk: Pick<ClaimDisk, 'rename'>): Promise<string[]> {
  const present = new Set(await readdir(from).catch(noneIfMissing));
  const taken = new Set(await readdir(to).catch(noneIfMissing));
  const moved = ofRobot.filter((name) => present.has(name));
  for (const name of moved) await disk.rename(join(from, name), join(to, freeName(name, taken)));
  if (moved.length > 0) {
    await syncFolder(to);
    await syncFolder(from);
  }
  return moved;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}~${number}`;
    if (!taken.has(free)) return free;
  }
}

/** The robot that state without a mark names: a version before the mark has written it. null: it names none. */
async function namedIn(stateDir: string): Promise<string | null> {
  const incidents = join(stateDir, 'incidents');
  const [incident] = (await readdir(incidents).catch(noneIfMissing)).filter((name) => name.endsWith('.jsonl'));
  const files = [
    join(stateDir, 'failed-drive.json'),
    join(stateDir, 'support', 'sessions.jsonl'),
    ...(incident === undefined ? [] : [join(incidents, incident)]),
  ];
  for (const path of files) {
    const named = await serialIn(path);
    if (named !== null) return named;
  }
  return null;
}

async function serialIn(path: string): Promise<string | null> {
  try {
    const bytes = Buffer.from(await readWhole(path, MAX_BYTES));
    const end = bytes.indexOf('\n');
    const read = readJsonBytes(end === -1 ? bytes : bytes.subarray(0, end), 'file');
    const named = serialSchema.safeParse(read.ok && isRecord(read.value) ? read.value.serial : undefined);
    return named.success ? named.data : null;
  } catch {
    // Whoever uses the file says what is wrong with it.
    return null;
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
