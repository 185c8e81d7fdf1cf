import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { keep, readKept } from './kept-file.ts';
import { at, MOST_UINT32 } from './wire.ts';

const FILE = 'heartbeat-boots.json';
const FORMAT = 'gw/heartbeat-boots/1';
const schema = z.strictObject({ format: z.literal(FORMAT), boots: z.int().min(0).max(MOST_UINT32) });
const REMEDY =
  `Look at it. When its number is lost, write {"format":"${FORMAT}","boots":N} there, with an N above every number of ` +
  'starts that this robot ever had: its neighbours refuse beats with a lower one as recordings.';

/** Who this gateway is between two of its starts. */
export interface Life {
  readonly bootCounter: number;
  readonly instance: string;
}

/**
 * Counts a start, and has it on the disk before it resolves: no two lives of a robot ever share a counter, also when
 * the power fails. Throws FILE_UNWRITABLE.
 */
export async function beginLife(stateDir: string): Promise<Life> {
  const path = join(stateDir, FILE);
  const before = await readKept(path, schema, REMEDY);
  const bootCounter = (before?.boots ?? 0) + 1;
  if (bootCounter > MOST_UINT32) {
    throw new GwError('FILE_UNWRITABLE', `The counter of starts in ${path} is used up.`, {
      remedy:
        'No robot starts so often: the number was written by hand. Write the true one; if neighbours heard this one, move their heartbeat-heard.json away.',
    });
  }
  await keep(path, { format: FORMAT, boots: bootCounter });
  return { bootCounter, instance: randomBytes(at.uptimeS - at.instance).toString('hex') };
}
