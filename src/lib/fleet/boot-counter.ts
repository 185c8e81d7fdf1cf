import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { keep, readKept } from './kept-file.ts';
import { at, MOST_UINT32 } from './wire.ts';

const FILE = 'heartbeat-boots.json';
const schema = z.strictObject({ format: z.literal('gw/heartbeat-boots/1'), boots: z.int().min(0).max(MOST_UINT32) });

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
  const before = await readKept(path, schema);
  const bootCounter = (before?.boots ?? 0) + 1;
  if (bootCounter > MOST_UINT32) throw new GwError('FILE_UNWRITABLE', `The counter of starts in ${path} is used up.`);
  await keep(path, { format: 'gw/heartbeat-boots/1', boots: bootCounter });
  return { bootCounter, instance: randomBytes(at.uptimeS - at.instance).toString('hex') };
}
