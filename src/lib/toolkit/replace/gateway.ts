import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { readWhole } from '../../lifecycle/index.ts';
import type { Doctor } from '../doctor/doctor.result.ts';
import { enrolDevice } from '../enrol/enrol.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import { checkSite } from '../site/check.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { gatewaySteps, type NewGatewaySeen } from './gateway-steps.ts';
import { attempt, knownRuns, orderUnit, readRobot } from './read-robot.ts';
import type { Replacement } from './replace.result.ts';
import { openReplacement, otherReplacement, REPLACEMENT_FORMAT } from './replacement-file.ts';
import { type Person, runReplacement } from './run.ts';
import { isUnseen } from './seen.ts';

export interface ReplaceGatewayOptions {
  /** The installation on this machine. */
  readonly examine: () => Promise<Doctor>;
  /** Absent: no one-time code can be had. */
  readonly readCode: (() => Promise<string>) | undefined;
  readonly person: Person;
  readonly command: string;
}

/**
 * Puts this machine in the place of the gateway of this robot, step by step; its files are restored or made anew before.
 * Throws REPLACEMENT_OTHER, FILE_UNREADABLE, SITE_FILE_INVALID, USAGE.
 */
export async function replaceGateway(
  toolkit: Toolkit,
  { examine, readCode, person, command }: ReplaceGatewayOptions,
  context: CheckContext,
): Promise<Replacement> {
  const { site, clock } = toolkit;
  const { serial } = site.chassis;
  const machine = await machineId();
  const file = await openReplacement(site.stateDir, 'gateway', async (found, path) => {
    // The state of a backup may hold that of an earlier replacement, by another machine.
    if (found !== null && (found.from !== serial || found.to !== machine)) {
      throw otherReplacement(found, path, `this is machine ${machine} of ${serial}`);
    }
    if (found !== null) return found;
    const begunAt = clock.wall().toISOString();
    const start = { from: serial, to: machine, begunAt, records: await knownRuns(toolkit, serial) };
    return { format: REPLACEMENT_FORMAT, part: 'gateway', ...start, old: null, archive: null, words: [] };
  });
  const { begunAt } = file.current();
  const see = async (): Promise<NewGatewaySeen> => {
    const [robot, files, doctor, ownFrom] = await Promise.all([
      readRobot(toolkit, file.current(), context),
      attempt(checkSite(site.path, clock), context),
      attempt(examine(), context),
      attempt(readOwnSerialFrom(toolkit, context), context),
    ]);
    return { ...robot, files, doctor, ownFrom };
  };
  const acts = {
    async enrol({ identity }: NewGatewaySeen) {
      if (readCode === undefined || identity === null) return false;
      const isThere = isUnseen(identity) || identity.state === 'broken' || identity.identity !== null;
      await enrolDevice(toolkit, { renew: isThere, readCode }, context);
      return true;
    },
    start: ({ gateway }: NewGatewaySeen) => (gateway.unit === 'inactive' ? orderUnit('start') : Promise.resolve(false)),
  };
  const { signal, onProgress } = context;
  const steps = gatewaySteps(acts);
  const { seen, ...ran } = await runReplacement({ steps, file, see, person, clock, signal, onProgress, command });
  const simulated = !isUnseen(seen.device) && seen.device.simulated;
  return { part: 'gateway', from: serial, to: machine, begunAt, file: file.path, simulated, ...ran };
}

const MACHINE_ID = '/etc/machine-id';
const MAX_BYTES = 256;

/** The id of this installation of the operating system. @source machine-id(5) */
async function machineId(): Promise<string> {
  const text = await readWhole(MACHINE_ID, MAX_BYTES).then(
    (bytes) => Buffer.from(bytes).toString('utf8').trim(),
    () => '',
  );
  if (/^[0-9a-f]{32}$/.test(text)) return text;
  throw new GwError('FILE_UNREADABLE', `${MACHINE_ID} has no id of this machine.`, {
    remedy: 'Make one with `sudo systemd-machine-id-setup`.',
  });
}

const neighboursSchema = z.looseObject({ ownSerialFrom: z.string().nullable() });

/** Address from which another device sends heartbeats with the serial number of this robot; null: none. */
async function readOwnSerialFrom(toolkit: Toolkit, context: CheckContext): Promise<string | null> {
  const access = await gatewayAccess(toolkit, context);
  return (await access.ask('GET', '/api/nachbarn', neighboursSchema)).ownSerialFrom;
}
