import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import type { MapRestoreContext } from '../map/restore.ts';
import { robotNamed } from '../operator/access.ts';
import type { Toolkit } from '../toolkit.ts';
import { OLD_MAPS } from './chassis-looks.ts';
import { type ChassisGiven, chassisRobot, nameArchive } from './chassis-robot.ts';
import { chassisSteps } from './chassis-steps.ts';
import { knownRuns } from './read-robot.ts';
import type { Replacement } from './replace.result.ts';
import { openReplacement, otherReplacement, REPLACEMENT_FORMAT, type ReplacementFile } from './replacement-file.ts';
import { type Person, runReplacement } from './run.ts';
import { isUnseen } from './seen.ts';

export interface ReplaceChassisOptions extends ChassisGiven {
  /** Serial number of the new chassis; needed by the first run. */
  readonly to: string | undefined;
  /** Serial number of the old one, where the site file names the new one already. */
  readonly from: string | undefined;
  /** An earlier backup of the maps of the old chassis. */
  readonly archive: string | undefined;
  /** The maps of the old chassis are given up. */
  readonly withoutMaps: boolean;
  readonly person: Person;
  readonly command: string;
}

/**
 * Replaces the chassis of this robot, step by step: looks at every step, performs or asks the first one that does not hold,
 * and goes on. Throws USAGE, REPLACEMENT_OTHER, FILE_UNREADABLE, SITE_FILE_INVALID, ARCHIVE_FOREIGN, ARCHIVE_INVALID.
 */
export async function replaceChassis(
  toolkit: Toolkit,
  options: ReplaceChassisOptions,
  context: MapRestoreContext,
): Promise<Replacement> {
  const { site, clock } = toolkit;
  const file = await openReplacement(site.stateDir, 'chassis', async (found, path) =>
    found === null ? await begin(toolkit, options) : goOn(found, path, options, site.chassis.serial),
  );
  if (options.archive !== undefined) {
    const archive = await nameArchive(resolve(options.archive), file.current().from);
    await file.change(() => ({ archive }));
  }
  const robot = chassisRobot(toolkit, file, options, context);
  const { person } = options;
  const { seen, ...ran } = await runReplacement({
    steps: chassisSteps(robot),
    file,
    see: robot.see,
    person: options.withoutMaps ? { ...person, confirms: [OLD_MAPS, ...person.confirms] } : person,
    clock,
    signal: context.signal,
    onProgress: context.onProgress,
    command: options.command,
  });
  const { from, begunAt } = file.current();
  const simulated = !isUnseen(seen.device) && seen.device.simulated;
  return { part: 'chassis', from, to: seen.to, begunAt, file: file.path, simulated, ...ran };
}

async function begin(
  { site, clock }: Pick<Toolkit, 'site' | 'clock'>,
  { to, from: named }: Pick<ReplaceChassisOptions, 'to' | 'from'>,
): Promise<ReplacementFile> {
  const { serial, mac = null, host } = site.chassis;
  if (to === undefined) {
    throw new GwError('USAGE', 'No replacement of the chassis is under way.', {
      remedy: 'Begin it with the serial number of the new chassis: `gw replace chassis --new SERIAL`.',
    });
  }
  const from = named ?? serial;
  const bad = [from, to].find((one) => robotNamed(one) === null);
  if (bad !== undefined) {
    throw new GwError('USAGE', `'${bad.slice(0, 200)}' is no serial number.`, {
      remedy: 'It has 1 to 128 letters, digits, :, _ or -, as on the label.',
    });
  }
  if (from === to) {
    throw new GwError('USAGE', `The site file names ${to} already.`, {
      remedy: 'Name the old chassis with --old SERIAL.',
    });
  }
  if (serial !== from && serial !== to) throw otherSerial(site.path, serial, { from, to });
  const begunAt = clock.wall().toISOString();
  // Of a site file that names the new chassis already, the addresses are its own.
  const old = { mac: serial === from ? mac : null, host };
  const records = await knownRuns({ site, clock }, to);
  return { format: REPLACEMENT_FORMAT, part: 'chassis', from, to, begunAt, old, archive: null, records, words: [] };
}

function goOn(
  found: ReplacementFile,
  path: string,
  { to, from }: Pick<ReplaceChassisOptions, 'to' | 'from'>,
  serial: string,
): ReplacementFile {
  const isSame = (to ?? found.to) === found.to && (from ?? found.from) === found.from;
  if (isSame && (serial === found.from || serial === found.to)) return found;
  const meant = isSame ? `the site file names ${serial}` : `this is of ${from ?? serial} by ${to ?? 'another one'}`;
  throw otherReplacement(found, path, meant);
}

function otherSerial(
  path: string,
  serial: string,
  { from, to }: { readonly from: string; readonly to: string },
): GwError {
  return new GwError('REPLACEMENT_OTHER', `${path} names ${serial}, which is neither ${from} nor ${to}.`, {
    remedy: 'Name the site file of this robot with --site, and both serial numbers with --old and --new.',
  });
}
