import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const word = z.string().max(300);

/**
 * When something was seen, and on which device. `at` is the wall clock and for people only: a site may have no time
 * server. The age is measured by the uptime of this machine as long as it has not restarted.
 */
export const sightingSchema = z.strictObject({
  at: z.iso.datetime().describe('Wall clock of this machine, for people.'),
  machine: z
    .strictObject({ bootId: word.nullable(), uptimeS: z.number().nonnegative().nullable() })
    .describe('Boot of the machine that ran gw, and its uptime in seconds then.'),
  serial: word.nullable().describe('Serial number that the tablet reported (ro.serialno); null: it was not asked.'),
  bootId: word.nullable().describe('Boot of the tablet (/proc/sys/kernel/random/boot_id); null: not reported.'),
  androidId: word.nullable().describe('Made anew by a reset to factory settings; null: not reported.'),
  mac: word.nullable().describe('Hardware address that answered at the address; null: not known.'),
});
export type Sighting = z.infer<typeof sightingSchema>;

/** The boot of this machine and the time since then; null where the system does not report it. */
export interface MachineTime {
  readonly bootId: string | null;
  readonly uptimeS: number | null;
}

/** Reads /proc of this machine. Never throws. */
export async function readMachineTime(folder = '/proc'): Promise<MachineTime> {
  const read = (path: string) => readFile(`${folder}/${path}`, 'utf8').catch(() => '');
  const uptime = /^(\d{1,12}(?:\.\d{1,9})?)\s/.exec(await read('uptime'))?.[1];
  return {
    bootId: readBootId(await read('sys/kernel/random/boot_id')),
    uptimeS: uptime === undefined ? null : Number(uptime),
  };
}

/** A boot id as Linux prints it; null for any other text. */
export function readBootId(text: string): string | null {
  return /^\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/.exec(text)?.[1] ?? null;
}

/** How old a sighting is, and what measured it. */
export interface Age {
  /** Whole seconds; null: not known, because a clock went back. */
  readonly ageS: number | null;
  /** `uptime`: exact, whatever the wall clock did. `wall-clock`: this machine has restarted since. */
  readonly ageBy: 'uptime' | 'wall-clock' | null;
}

export function ageOf(
  { at, machine }: Pick<Sighting, 'at' | 'machine'>,
  now: { readonly wall: Date; readonly machine: MachineTime },
): Age {
  const isSameBoot = machine.bootId !== null && machine.bootId === now.machine.bootId;
  const measured = isSameBoot && machine.uptimeS !== null && now.machine.uptimeS !== null;
  const ageS = measured
    ? (now.machine.uptimeS ?? 0) - (machine.uptimeS ?? 0)
    : (now.wall.getTime() - Date.parse(at)) / 1000;
  if (!(ageS >= 0)) return { ageS: null, ageBy: null };
  return { ageS: Math.floor(ageS), ageBy: measured ? 'uptime' : 'wall-clock' };
}

/**
 * What a line rests on. `read-now`: read while the command ran. `remembered`: read earlier, at the time and on the
 * device named here. `none`: never read from this machine.
 */
export const knowledgeSchema = z.strictObject({
  basis: z
    .enum(['read-now', 'remembered', 'none'])
    .describe('read-now: read by this command. remembered: read earlier, on the device named here. none: never.'),
  at: z.iso.datetime().nullable().describe('When it was read: wall clock, for people.'),
  ageS: z.int().nullable().describe('Age in seconds; null: not known, or never read.'),
  ageBy: z
    .enum(['uptime', 'wall-clock'])
    .nullable()
    .describe('uptime: exact. wall-clock: the machine that ran gw has restarted since, so its clock is believed.'),
  serial: z.string().nullable().describe('Serial number of the tablet that it was read on; null: not known.'),
  bootId: z.string().nullable().describe('Boot of the tablet that it was read in; null: not known.'),
});
export type Knowledge = z.infer<typeof knowledgeSchema>;

export const NO_KNOWLEDGE: Knowledge = {
  basis: 'none',
  at: null,
  ageS: null,
  ageBy: null,
  serial: null,
  bootId: null,
};

export function knowledgeOf(
  seen: Sighting,
  basis: 'read-now' | 'remembered',
  now: { readonly wall: Date; readonly machine: MachineTime },
): Knowledge {
  const { at, serial, bootId } = seen;
  const age = basis === 'read-now' ? { ageS: 0, ageBy: 'uptime' as const } : ageOf(seen, now);
  return { basis, at, ...age, serial, bootId };
}
