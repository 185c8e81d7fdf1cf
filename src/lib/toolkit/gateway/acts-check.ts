import { asGwError, type GwError } from '../../error/index.ts';
import { isLoopback } from '../../net/index.ts';
import { type IncidentList, incidentListSchema } from '../../pages/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, finding, notChecked, ok } from '../finding.ts';
import { signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { type ActsCheck, type GatewayLog, gatewayLogSchema } from './gateway.result.ts';

type Entry = GatewayLog['audit'][number];

/** One event of the running gateway that an act leaves. */
interface Trace {
  readonly title: string;
  readonly message: string;
  readonly has?: Readonly<Record<string, string>>;
  /** Made at the tablet: gw does the same itself in other steps, which is no act of a person. */
  readonly isByHand?: true;
}

/** Acts of people that the gateway sees, with what each leaves in its log. */
const acts = {
  tour: [
    { title: 'A tour was started', message: 'tour started', isByHand: true },
    { title: 'A tour reached its end', message: 'the tour has ended', has: { state: 'succeeded' } },
  ],
  stop: [
    { title: 'The robot was stopped', message: 'stop requested', isByHand: true },
    { title: 'A signed-in person cleared a stop', message: 'stop cleared' },
  ],
  'cloud-stop': [
    { title: 'A stop arrived from the cloud', message: 'stop received from the cloud' },
    { title: 'A signed-in person cleared a stop', message: 'stop cleared' },
  ],
  'sign-in': [
    {
      title: 'A wrong password was refused',
      message: 'sign-in refused',
      has: { code: 'SIGN_IN_FAILED' },
      isByHand: true,
    },
    { title: 'A person signed in', message: 'signed in', isByHand: true },
  ],
  media: [{ title: 'A media file was stored', message: 'media file stored' }],
  support: [
    { title: 'A support session was started', message: 'support session started' },
    { title: 'It was ended on site', message: 'end of remote support requested' },
  ],
} as const satisfies Readonly<Record<string, readonly Trace[]>>;

export const actNames = [...(Object.keys(acts) as (keyof typeof acts)[]), 'lost-link'] as const;
export type ActName = (typeof actNames)[number];

/**
 * Whether the running gateway saw an act within the last minutes: without it, a person's word for it is no proof. The
 * log is in memory, so after a restart of the gateway nothing is known. Changes nothing. Throws OPERATOR_NOT_REACHABLE.
 */
export async function checkActs(
  toolkit: Toolkit,
  { of, withinMin }: { readonly of: ActName; readonly withinMin: number },
  context: CheckContext,
): Promise<ActsCheck> {
  const findings = await seen(toolkit, of, withinMin, context).catch((error: unknown) => [
    unreadable(of, asGwError(error), context),
  ]);
  return { verdict: conclude(findings), findings };
}

async function seen(toolkit: Toolkit, of: ActName, withinMin: number, context: CheckContext): Promise<Finding[]> {
  await using access = await signedInAccess(toolkit, {}, context);
  if (of === 'lost-link') return [lostLink(await access.ask('GET', '/api/vorfaelle', incidentListSchema), withinMin)];
  const { entries, audit } = await access.ask('GET', '/api/protokolle', gatewayLogSchema);
  // Beside a simulator on this machine the tablet has an address of this machine too.
  const mayBeHere = isLoopback(toolkit.site.chassis.host);
  const all = [...audit, ...entries];
  return acts[of].map((trace: Trace, index) => {
    const fits = (entry: Entry) => mayBeHere || trace.isByHand !== true || !isOfGateway(entry);
    return traceFinding(`${of}-${index + 1}`, trace, all.filter(fits), withinMin);
  });
}

/** By gw on the gateway, or through SSH: at its socket for commands, or at an address of its own. */
function isOfGateway({ fields, lastFields }: Entry): boolean {
  // An entry of several events has the fields of the first and the last.
  return [fields, lastFields ?? fields].every(
    ({ address }) => typeof address === 'string' && (address === 'a command on the gateway' || isLoopback(address)),
  );
}

const AGAIN = 'Do it now, while `gw serve` runs, then repeat this step.';

function traceFinding(id: string, trace: Trace, entries: readonly Entry[], withinMin: number): Finding {
  const start: FindingStart = { id, title: trace.title, spec: null };
  const fits = ({ message, fields }: Entry) =>
    message === trace.message && Object.entries(trace.has ?? {}).every(([key, value]) => fields[key] === value);
  const found = newestOf(entries.filter(fits));
  const none = `the log of the gateway has none${trace.isByHand ? ' from another machine' : ''}`;
  return judge(start, found, withinMin, none, (entry) => {
    const { address } = entry.fields;
    return `${entry.lastTime} by the clock of the gateway${typeof address === 'string' ? `, from ${address}` : ''}`;
  });
}

function lostLink({ incidents }: IncidentList, withinMin: number): Finding {
  const start: FindingStart = { id: 'lost-link', title: 'The gateway lost its link to the chassis', spec: null };
  const lost = newestOf(incidents.filter(({ causes }) => causes.some(({ code }) => code === 'link-lost')));
  return judge(start, lost, withinMin, 'the gateway keeps no such incident', ({ at }) => {
    return `${at} by the clock of the gateway`;
  });
}

interface Aged {
  readonly ageMs?: number | null;
}

/** The one of the least age; one without an age only where none has one. */
function newestOf<T extends Aged>(all: readonly T[]): T | undefined {
  const ageOf = ({ ageMs }: Aged) => ageMs ?? Number.POSITIVE_INFINITY;
  return all.toSorted((a, b) => ageOf(a) - ageOf(b))[0];
}

/**
 * The age comes from the gateway, by its monotonic clock: the wall clocks of two machines are not compared, since over one
 * that is behind an old act would count as a new one.
 */
function judge<T extends Aged>(
  start: FindingStart,
  found: T | undefined,
  withinMin: number,
  none: string,
  shown: (one: T) => string,
): Finding {
  const missing = `${none} in the last ${withinMin} min`;
  if (found === undefined) return notChecked(start, missing, AGAIN);
  const { ageMs } = found;
  if (ageMs === undefined) {
    const remedy = 'Update gw on the gateway, restart `gw serve`, and do it again.';
    return notChecked(start, `at ${shown(found)}; that gateway reports no age, and its clock may be another`, remedy);
  }
  if (ageMs === null) return notChecked(start, `${missing}; the newest is of an earlier start, ${shown(found)}`, AGAIN);
  if (ageMs > withinMin * 60_000) return notChecked(start, missing, AGAIN);
  return ok(start, `${Math.floor(ageMs / 60_000)} min ago, at ${shown(found)}`);
}

/** Without a way to sign in, or in a gateway of another version, nothing was looked at. */
function unreadable(of: ActName, error: GwError, { signal }: CheckContext): Finding {
  signal.throwIfAborted();
  if (error.code === 'OPERATOR_NOT_REACHABLE' || error.code === 'INTERNAL') throw error;
  return finding(of, 'The log of the gateway', 'not-checked', error.message, error.remedy);
}
