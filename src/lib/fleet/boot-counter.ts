import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { readStateFile, writeStateFile } from './state-file.ts';
import { at, MAX_UINT32 } from './wire.ts';

const FILE = 'heartbeat-boots.json';
const FORMAT = 'gw/heartbeat-boots/1';
const schema = z.strictObject({ format: z.literal(FORMAT), boots: z.int().min(0).max(MAX_UINT32) });
const REMEDY =
  `Inspect the file. If its number is lost, write {"format":"${FORMAT}","boots":N} to it, with an N above every earlier ` +
  'boot counter of this robot: its neighbours reject heartbeats with a lower one as replays.';

/** The identity of one start of the heartbeat. */
export interface Boot {
  readonly bootCounter: number;
  readonly instance: string;
}

/**
 * Increments the boot counter, durably before it resolves: no two boots of a robot share a counter, not even after a power
 * failure. Throws FILE_UNREADABLE, FILE_UNWRITABLE.
 */
export async function startBoot(stateDir: string): Promise<Boot> {
  const path = join(stateDir, FILE);
  const before = await readStateFile(path, schema, REMEDY);
  const bootCounter = (before?.boots ?? 0) + 1;
  if (bootCounter > MAX_UINT32) {
    throw new GwError('FILE_UNWRITABLE', `The boot counter in ${path} is exhausted.`, {
      remedy:
        'The number was edited by hand. Write the real one; if neighbours received this one, move their heartbeat-received.json away.',
    });
  }
  await writeStateFile(path, { format: FORMAT, boots: bootCounter });
  return { bootCounter, instance: randomBytes(at.uptimeS - at.instance).toString('hex') };
}
