import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { makeFolder, readIfThere } from '../files.ts';

/** The key of the heartbeat as the site file names it. */
export const HEARTBEAT_KEY_FILE = 'secrets/heartbeat';
const RUNS_FILE = 'neighbours.json';
const FORMAT = 'gw/sim-neighbours/1';
const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}$/i;
/** So many starts of one neighbour find room in one run before its counter reaches into the next run's. */
const STARTS_PER_RUN = 2 ** 16;
const MOST_RUNS = 2 ** 16 - 1;

export interface NeighbourFiles {
  /** What signs the beats. */
  readonly secret: Uint8Array;
  /** The boot counter with which every neighbour begins: 1 in the first run of a folder, higher in each later one. */
  readonly firstBoot: number;
}

/**
 * Writes the key of the heartbeat, and how often this folder had neighbours: who heard them in an earlier run takes
 * them for recordings unless their boot counters have grown. A key that is there is kept, so that a gateway that has
 * read it goes on hearing them. Throws FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function writeNeighbourFiles(dir: string): Promise<NeighbourFiles> {
  const runsPath = join(dir, RUNS_FILE);
  const runs = readRuns(await readIfThere(runsPath), runsPath);
  await makeFolder(join(dir, 'secrets'), 0o700);
  const keyPath = join(dir, HEARTBEAT_KEY_FILE);
  const kept = (await readIfThere(keyPath))?.trim() ?? '';
  const secret = KEY_TEXT.test(kept) ? Buffer.from(kept, 'hex') : randomBytes(KEY_BYTES);
  await replaceFile(keyPath, `${secret.toString('hex')}\n`, { mode: 0o600 });
  await replaceFile(runsPath, `${JSON.stringify({ format: FORMAT, runs: runs + 1 })}\n`);
  return { secret, firstBoot: runs * STARTS_PER_RUN + 1 };
}

function readRuns(text: string | undefined, path: string): number {
  if (text === undefined) return 0;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const runs = isRecord(value) && value.format === FORMAT ? value.runs : undefined;
  if (typeof runs === 'number' && Number.isSafeInteger(runs) && runs >= 0 && runs < MOST_RUNS) return runs;
  throw new GwError('FILE_EXISTS', `${path} does not say how often this folder had neighbours.`, {
    remedy: 'Name another folder with --dir, or move the file away; a gateway then takes their beats for recordings.',
  });
}
