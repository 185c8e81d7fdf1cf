import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { makeFolder, readIfThere } from '../files.ts';

/** Key file of the heartbeat, relative to the site file. */
export const HEARTBEAT_KEY_FILE = 'secrets/heartbeat';
const RUNS_FILE = 'neighbours.json';
const FORMAT = 'gw/sim-neighbours/1';
const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}$/i;
/** Boot counters per run; more restarts of one neighbour would overlap with the next run. */
const STARTS_PER_RUN = 2 ** 16;
const MAX_RUNS = 2 ** 16 - 1;

export interface NeighbourFiles {
  /** Key of the heartbeats. */
  readonly secret: Uint8Array;
  /** First boot counter of every neighbour: 1 in the first run of a folder, higher in each later one. */
  readonly firstBoot: number;
}

/**
 * Writes the key of the heartbeat and the number of runs with neighbours: a gateway that received an earlier run takes
 * lower boot counters for replays. An existing key is kept, so that a gateway with that key still accepts them. Throws
 * FILE_EXISTS, FILE_UNREADABLE, FILE_UNWRITABLE.
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
  if (typeof runs === 'number' && Number.isSafeInteger(runs) && runs >= 0 && runs < MAX_RUNS) return runs;
  throw new GwError('FILE_EXISTS', `${path} contains no valid number of runs.`, {
    remedy:
      'Name another folder with --dir, or delete the file; a running gateway then takes the heartbeats for replays.',
  });
}
