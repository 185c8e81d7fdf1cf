import { lstat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { isRecord } from '../chassis/maps/map-store.ts';
import { readIfThere } from '../files.ts';
import type { Sim, SimPart } from '../model.ts';

/**
 * Control of a running simulator: a server on 127.0.0.1 with a token; address and token are in `DIR/sim.json`, readable
 * only by its owner.
 */

export const CONTROL_HOST = '127.0.0.1';
export const HANDLE_FILE = 'sim.json';

/** A fault and its state; null when not checked. */
interface FaultView {
  readonly name: string;
  readonly on: boolean | null;
  readonly effect: string;
}

export interface ControlView {
  /** Folder of the simulator. */
  readonly dir: string;
  readonly chassis: Sim['chassis'];
  /** Number of neighbours that send heartbeats. */
  readonly robots: number;
  /** Simulated parts of the site beside the robot. */
  readonly parts: readonly SimPart[];
  readonly faults: readonly FaultView[];
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The folder in the pointer file, if this user owns it alone: in a shared folder other users may write one. */
export async function readPointer(path: string): Promise<string | undefined> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile() || stats.uid !== userInfo().uid || (stats.mode & 0o077) !== 0) return undefined;
    const pointer = parseObject((await readIfThere(path)) ?? '');
    return typeof pointer?.dir === 'string' ? pointer.dir : undefined;
  } catch {
    return undefined;
  }
}
