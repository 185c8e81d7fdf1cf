import { resolve } from 'node:path';
import { asGwError, type GwError } from '../../error/index.ts';
import { countingRecords, readEvidenceFile } from '../../evidence/index.ts';
import { directDialer } from '../../net/index.ts';
import { readOpenSockets } from '../../net/probe/index.ts';
import { pageStateSchema } from '../../pages/index.ts';
import { openClaim, otherRobots, READ_ONLY_PORT, type Site } from '../../site/index.ts';
import { findChassis } from '../chassis/address.ts';
import { keptRecords } from '../checklist/kept-records.ts';
import { runSystemProgram } from '../child-process.ts';
import { propertiesOf } from '../doctor/unit.ts';
import { readEnrolStatus } from '../enrol/status.ts';
import { askDevice } from '../evidence/site.ts';
import { readGatewayState } from '../gateway/state.ts';
import { operatorAccess } from '../operator/access.ts';
import { gatewayAccess, localOperatorAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { ReplacementFile } from './replacement-file.ts';
import type { Unit } from './robot-looks.ts';
import type { Device, GatewaySeen, RobotSeen, Seen } from './seen.ts';

const PROGRAM_MS = 5_000;

/** Reads what every replacement looks at, anew. */
export async function readRobot(
  toolkit: Toolkit,
  { begunAt, records: known }: Pick<ReplacementFile, 'begunAt' | 'records'>,
  context: CheckContext,
): Promise<RobotSeen & { readonly unit: Seen<Unit> }> {
  const { site } = toolkit;
  const [chassis, gateway, identity, device, records, unit] = await Promise.all([
    attempt(findChassis(toolkit, { mac: true }, context), context),
    readGateway(toolkit, context),
    site.enrolment === undefined ? null : attempt(readEnrolStatus(toolkit), context),
    attempt(readDevice(toolkit, context), context),
    attempt(keptRecords(toolkit), context),
    attempt(readGatewayState(toolkit, context), context),
  ]);
  return { begunAt, known, site, chassis, gateway, identity, device, records, unit };
}

/** The result, or why there is none. Throws INTERRUPTED. */
export async function attempt<T>(work: Promise<T>, { signal }: Pick<CheckContext, 'signal'>): Promise<Seen<T>> {
  return await work.catch((error: unknown): GwError => {
    signal.throwIfAborted();
    return asGwError(error);
  });
}

/** Ids of the runs of this robot whose records are there now. */
export async function knownRuns(toolkit: Pick<Toolkit, 'site' | 'clock'>, serial: string): Promise<string[]> {
  const { records } = await keptRecords(toolkit, serial);
  return records.map(({ record }) => record.id);
}

async function readDevice(toolkit: Toolkit, context: CheckContext): Promise<Device> {
  const { evidenceFile } = toolkit.site;
  const lines = await readEvidenceFile(evidenceFile);
  const records = await countingRecords(evidenceFile, lines);
  return { ...(await askDevice(toolkit, context)), records, lines };
}

async function readGateway(toolkit: Toolkit, context: CheckContext): Promise<GatewaySeen> {
  const { site } = toolkit;
  const [{ robots, silent, problem }, unit, live, claim, others] = await Promise.all([
    runningGateways(toolkit, context),
    unitState(site.path),
    attempt(readLive(toolkit, context), context),
    attempt(openClaim(site), context),
    otherRobots(site).catch(() => []),
  ]);
  return { robots, silent, problem, unit, live, claim, others: others.map(({ serial }) => serial) };
}

async function readLive(toolkit: Toolkit, context: CheckContext) {
  const access = await gatewayAccess(toolkit, context);
  return await access.askEvent('/api/events', 'state', pageStateSchema);
}

/**
 * What answers at the places of a gateway of this machine, whatever its robot: the socket for local commands, the port of the
 * site file, and that of the read-only socket, which is the same for every gateway.
 */
async function runningGateways(
  { site, clock }: Toolkit,
  context: CheckContext,
): Promise<Pick<GatewaySeen, 'robots' | 'silent' | 'problem'>> {
  const sockets = await readOpenSockets().catch((error: unknown) => asGwError(error));
  const ports = [...new Set([site.operator.port, READ_ONLY_PORT])];
  const robots: { place: string; serial: string | null }[] = [];
  const silent: string[] = [];
  const here = { dialer: directDialer, clock };
  // Without a serial number, so that any robot answers.
  const local = await localOperatorAccess({ site: { stateDir: site.stateDir } as Site, clock }, context);
  if (local !== null) {
    const serial = await attempt(local.robot(), context);
    if (!(serial instanceof Error)) robots.push({ place: `the state folder ${site.stateDir}`, serial });
  }
  for (const port of ports) {
    const isHeld = sockets instanceof Error || sockets.some((one) => one.protocol === 'tcp' && one.port === port);
    if (!isHeld) continue;
    const serial = await attempt(operatorAccess({ site: { operator: { port } }, ...here }, context).robot(), context);
    if (!(serial instanceof Error)) robots.push({ place: `port ${port}`, serial });
    else if (!(sockets instanceof Error)) silent.push(`port ${port}`);
  }
  const problem = sockets instanceof Error && robots.length === 0 ? sockets.message : null;
  return { robots, silent, problem };
}

const UNIT_PROPERTIES = ['LoadState', 'ActiveState', 'Environment', 'ExecStart'];

/** Unit `gw` of systemd on this machine; 'not-known' also where it does not name this site file: it is of another robot. */
async function unitState(sitePath: string): Promise<GatewaySeen['unit']> {
  const args = ['show', 'gw', ...UNIT_PROPERTIES.map((name) => `--property=${name}`)];
  const shown = await runSystemProgram('systemctl', args, PROGRAM_MS).catch((error: NodeJS.ErrnoException) => error);
  if (shown instanceof Error) return shown.code === 'ENOENT' ? 'none' : 'not-known';
  return unitOf(shown, sitePath);
}

/** The same from the output of `systemctl show`. */
export function unitOf(shown: string, sitePath: string): GatewaySeen['unit'] {
  const { LoadState, ActiveState, Environment = '', ExecStart = '' } = propertiesOf(shown);
  if (LoadState === 'not-found') return 'none';
  const words = `${Environment} ${ExecStart}`.split(/[\s="';]+/);
  if (LoadState !== 'loaded' || !words.includes(resolve(sitePath))) return 'not-known';
  if (ActiveState === 'active') return 'active';
  return ActiveState === 'inactive' || ActiveState === 'failed' ? 'inactive' : 'not-known';
}

/** Long enough for an orderly end of the gateway. Project decision. */
const SERVICE_MS = 120_000;

/** Starts or stops the unit; false where this user may not, so that a person does it. */
export async function orderUnit(order: 'start' | 'stop'): Promise<boolean> {
  return await runSystemProgram('systemctl', ['--no-ask-password', order, 'gw'], SERVICE_MS).then(
    () => true,
    () => false,
  );
}
