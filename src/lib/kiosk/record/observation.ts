import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const shortText = z.string().max(300);

/**
 * When something was observed, and on which device. `at` is wall clock time for display only, since a site may have no
 * time server. The age is measured by the uptime of this machine until it restarts.
 */
export const observationSchema = z.strictObject({
  at: z.iso.datetime().describe('Wall clock of this machine, for display.'),
  machine: z
    .strictObject({ bootId: shortText.nullable(), uptimeS: z.number().nonnegative().nullable() })
    .describe('Boot id of the machine that ran gw, and its uptime in seconds at that time.'),
  serial: shortText.nullable().describe('Serial number reported by the tablet (ro.serialno); null: not queried.'),
  bootId: shortText.nullable().describe('Boot id of the tablet (/proc/sys/kernel/random/boot_id); null: not reported.'),
  androidId: shortText.nullable().describe('Renewed by a factory reset; null: not reported.'),
  mac: shortText.nullable().describe('MAC address that answered at the IP address; null: unknown.'),
});
export type Observation = z.infer<typeof observationSchema>;

/** Boot id and uptime of this machine; null where the system does not report them. */
export interface MachineTime {
  readonly bootId: string | null;
  readonly uptimeS: number | null;
}

/** Reads /proc of this machine. Never throws. */
export async function readMachineTime(folder = '/proc'): Promise<MachineTime> {
  const read = (path: string) => readFile(`${folder}/${path}`, 'utf8').catch(() => '');
  const uptime = /^(\d{1,12}(?:\.\d{1,9})?)\s/.exec(await read('uptime'))?.[1];
  return {
    bootId: parseBootId(await read('sys/kernel/random/boot_id')),
    uptimeS: uptime === undefined ? null : Number(uptime),
  };
}

/** Parses a boot id as printed by Linux; null for any other text. */
export function parseBootId(text: string): string | null {
  return /^\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/.exec(text)?.[1] ?? null;
}

/** Age of an observation, and the clock that measured it. */
export interface Age {
  /** Whole seconds; null: unknown, because a clock was set back. */
  readonly ageS: number | null;
  /** `uptime`: independent of the wall clock. `wall-clock`: this machine has restarted since. */
  readonly ageBy: 'uptime' | 'wall-clock' | null;
}

export function ageOf(
  { at, machine }: Pick<Observation, 'at' | 'machine'>,
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
 * Provenance of a value. `read-now`: read while the command ran. `remembered`: read earlier, at the time and on the
 * device named here. `none`: never read by this machine.
 */
export const provenanceSchema = z.strictObject({
  basis: z
    .enum(['read-now', 'remembered', 'none'])
    .describe('read-now: read by this command. remembered: read earlier, on the device named here. none: never.'),
  at: z.iso.datetime().nullable().describe('Time of the reading: wall clock, for display.'),
  ageS: z.int().nullable().describe('Age in seconds; null: unknown, or never read.'),
  ageBy: z
    .enum(['uptime', 'wall-clock'])
    .nullable()
    .describe(
      'uptime: exact. wall-clock: the machine that ran gw has restarted since, so the age comes from its wall clock.',
    ),
  serial: z.string().nullable().describe('Serial number of the tablet that was read; null: unknown.'),
  bootId: z.string().nullable().describe('Boot id of the tablet at that time; null: unknown.'),
});
export type Provenance = z.infer<typeof provenanceSchema>;

export const NO_PROVENANCE: Provenance = {
  basis: 'none',
  at: null,
  ageS: null,
  ageBy: null,
  serial: null,
  bootId: null,
};

export function provenanceOf(
  observed: Observation,
  basis: 'read-now' | 'remembered',
  now: { readonly wall: Date; readonly machine: MachineTime },
): Provenance {
  const { at, serial, bootId } = observed;
  const age = basis === 'read-now' ? { ageS: 0, ageBy: 'uptime' as const } : ageOf(observed, now);
  return { basis, at, ...age, serial, bootId };
}
