import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { type OperatorAccess, steadyOperatorAccess } from '../operator/access.ts';
import { localOperatorAccess } from '../operator/local-access.ts';
import { type GatewayWay, notSignedIn } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { isBeforeOrder, notStarted } from './not-started.ts';
import { MAY_DRIVE_ON, orderOnceItStands } from './standstill.ts';

export interface FollowOptions extends GatewayWay {
  /** How long the run is followed, without the time in which a person has paused it; after that the robot continues. */
  readonly withinMs: number;
  /** An interruption ends the command only, not the run. */
  readonly leaveRunning: boolean;
  /** Alerts that the person passes for this run, by their numbers; needs a signed-in person. */
  readonly although?: readonly number[] | undefined;
  /** Called just before the order is sent: from then on a lost connection leaves a robot that may be moving. */
  readonly onOrder?: (() => void) | undefined;
}

/** Common fields of a tour run and a single drive. */
export const followedRunSchema = z.looseObject({
  id: z.string(),
  state: z.enum(['running', 'paused', 'succeeded', 'failed', 'stopped']),
  reason: z.string().nullable(),
  although: z.array(z.int()).default([]),
});
type FollowedRun = z.output<typeof followedRunSchema>;

/** One kind of run of the operator server. */
export interface RunKind<S extends z.ZodType<FollowedRun>> {
  /** Where it is started (POST), read (GET) and ended (DELETE). */
  readonly path: '/api/touren/lauf' | '/api/fahrt';
  readonly schema: S;
  /** For texts: `tour breakfast`, `drive to A`. */
  readonly what: string;
  /** One progress line. */
  readonly progress: (run: z.output<S>) => string;
}

export interface Followed<R> {
  readonly run: R;
  /** A person, a signal or a lost terminal ended it before its end. */
  readonly isInterrupted: boolean;
  readonly operator: Omit<OperatorAccess, 'signIn'>;
}

type Access = Omit<OperatorAccess, 'signIn'>;

const POLL_MS = 100;
/** Requests to the gateway are repeated for so long: one lost response says nothing about the robot. */
const SILENT_MS = 5_000;
/** How long the end of a run is awaited: longer than the gateway waits for the chassis. */
const ENDING_MS = 8_000;
/** How often a keepalive is sent; the gateway cancels the run after 3 s without. */
const KEEP_ALIVE_MS = 500;

/**
 * Starts a run and follows it to its end. THE ROBOT MOVES: the caller has the confirmation of a person. An interruption ends the run
 * and waits for its end, unless `leaveRunning`: so the gateway ends it too when this command is gone. Throws why the gateway refused it, OPERATOR_NOT_REACHABLE, and
 * INTERRUPTED where the robot may still be moving.
 */
export async function startAndFollow<S extends z.ZodType<FollowedRun>>(
  toolkit: Toolkit,
  kind: RunKind<S>,
  body: object,
  options: FollowOptions,
  context: CheckContext,
): Promise<Followed<z.output<S>>> {
  const { clock } = toolkit;
  // An interruption must not abort a request: a started run could not be ended any more.
  const steady = { ...context, signal: new AbortController().signal };
  const given = steadyOperatorAccess(toolkit, context, options.host);
  const session = options.password === undefined ? null : await given.signIn(options.password).catch(refuse);
  await using _session = session;
  context.signal.throwIfAborted();
  options.onOrder?.();
  const { although = [], leaveRunning } = options;
  const order = { ...body, ...(!leaveRunning && { keepAlive: true }), ...(although.length > 0 && { although }) };
  const startedBy = await start(toolkit, kind, order, { access: session ?? given, host: options.host }, steady);
  const { operator } = startedBy;
  let { run } = startedBy;
  using _alive = options.leaveRunning ? null : keepAlive(operator, kind, run.id, clock);
  const read = readerOf(operator, kind, clock);
  let followedMs = 0;
  while (isOpen(run) && followedMs < options.withinMs) {
    if (context.signal.aborted) {
      if (options.leaveRunning) throw leftRunning(kind, context.signal.reason);
      return { run: await endRun(operator, kind, run, read, context, clock), isInterrupted: true, operator };
    }
    context.onProgress(kind.progress(run));
    const [atMs, { state }] = [clock.monotonicMs(), run];
    await clock.sleep(POLL_MS, context.signal).catch(() => {});
    if (!context.signal.aborted) run = await read(run);
    if (state === 'running') followedMs += clock.monotonicMs() - atMs;
  }
  return { run, isInterrupted: false, operator };
}

/** A paused tour has not ended: its gateway awaits the keepalive of this command as before. */
const isOpen = ({ state }: FollowedRun) => state === 'running' || state === 'paused';

/**
 * Without it the gateway ends the run after 3 s. A failed one is not reported: the next one follows, and what became of the
 * run is read from the gateway.
 */
function keepAlive(operator: Access, { path }: { readonly path: string }, id: string, clock: Clock): Disposable {
  let isSending = false;
  return clock.every(KEEP_ALIVE_MS, () => {
    if (isSending) return;
    isSending = true;
    void operator
      .answerTo('POST', `${path}/lebenszeichen`, { id })
      .catch(() => {})
      .finally(() => {
        isSending = false;
      });
  });
}

/** Where sign-in is required, a command on the gateway itself uses the local socket. */
async function start<S extends z.ZodType<FollowedRun>>(
  toolkit: Toolkit,
  { path, schema, what }: RunKind<S>,
  body: object,
  way: { readonly access: Access; readonly host: string | undefined },
  context: CheckContext,
): Promise<{ readonly run: z.output<S>; readonly operator: Access }> {
  const answer = z.looseObject({ run: schema });
  const order = async (operator: Access) => ({
    run: (await orderOnceItStands(() => operator.ask('POST', path, answer, body), operator, toolkit, context))
      .run as z.output<S>,
    operator,
  });
  try {
    return await order(way.access);
  } catch (error) {
    const gwError = asGwError(error);
    if (gwError.code !== 'NOT_SIGNED_IN') throw refusal(what, gwError);
    const local = way.host === undefined ? await localOperatorAccess(toolkit, context) : null;
    if (local === null) throw notStarted(notSignedIn(toolkit, error));
    return await order(local).catch((cause: unknown) => {
      throw refusal(what, asGwError(cause));
    });
  }
}

/** Of the sign-in, before any order. */
function refuse(error: unknown): never {
  throw notStarted(asGwError(error));
}

function refusal(what: string, error: GwError): GwError {
  if (isBeforeOrder(error, 'run')) return notStarted(error);
  const isAnswered = error.details?.status !== undefined && error.code !== 'OPERATOR_NOT_REACHABLE';
  return isAnswered ? error : notKnown(what, error);
}

/** The request may have arrived although no answer came back. */
function notKnown(what: string, cause: GwError): GwError {
  return new GwError(cause.code, `${cause.message} Whether the ${what} was started is unknown. ${MAY_BE_MOVING}.`, {
    tried: cause.tried,
    remedy: MAY_DRIVE_ON,
    cause,
  });
}

function readerOf<S extends z.ZodType<FollowedRun>>(
  operator: Access,
  { path, schema, what }: RunKind<S>,
  clock: Clock,
) {
  const answer = z.looseObject({ run: schema.nullable() });
  let answeredMs = clock.monotonicMs();
  /** The present run; the last known one while the gateway does not answer. */
  return async (last: z.output<S>): Promise<z.output<S>> => {
    let now: z.output<S> | null;
    try {
      now = (await operator.ask('GET', path, answer)).run as z.output<S> | null;
    } catch (error) {
      const gwError = asGwError(error);
      const silentMs = clock.monotonicMs() - answeredMs;
      if (gwError.code === 'OPERATOR_NOT_REACHABLE' && silentMs < SILENT_MS) return last;
      throw new GwError(gwError.code, `${gwError.message} The state of the ${what} is unknown. ${MAY_BE_MOVING}.`, {
        tried: gwError.tried,
        remedy: MAY_DRIVE_ON,
        cause: error,
      });
    }
    answeredMs = clock.monotonicMs();
    if (now?.id === last.id) return now;
    // Another run, or none: the gateway was restarted and no longer follows this run.
    return { ...last, state: 'failed', reason: 'The gateway no longer knows this run.' };
  };
}

/** Ends this run, and waits until the gateway reports its end. Throws INTERRUPTED when that failed. */
async function endRun<S extends z.ZodType<FollowedRun>>(
  operator: Access,
  { path, what }: RunKind<S>,
  run: z.output<S>,
  read: (last: z.output<S>) => Promise<z.output<S>>,
  context: CheckContext,
  clock: Clock,
): Promise<z.output<S>> {
  context.onProgress(`Interrupted: ending the ${what}`);
  const untilMs = clock.monotonicMs() + ENDING_MS;
  let last = run;
  try {
    let isAsked = false;
    while (clock.monotonicMs() < untilMs) {
      // Repeated until it is answered, then only polled.
      if (!isAsked) {
        isAsked = (await operator.answerTo('DELETE', path, { id: run.id }).catch(() => null))?.status === 200;
      }
      last = await read(last);
      if (!isOpen(last)) return last;
      await clock.sleep(POLL_MS);
    }
  } catch (cause) {
    throw mayDriveOn(what, asGwError(cause).message, cause);
  }
  throw mayDriveOn(what, `its end was not confirmed within ${ENDING_MS / 1000} s`, undefined);
}

const MAY_BE_MOVING = 'THE ROBOT MAY STILL BE MOVING';

function mayDriveOn(what: string, why: string, cause: unknown): GwError {
  return new GwError('INTERRUPTED', `Interrupted, and the ${what} could not be ended: ${MAY_BE_MOVING}. ${why}`, {
    tried: cause === undefined ? undefined : asGwError(cause).tried,
    remedy: MAY_DRIVE_ON,
    cause,
  });
}

/** What a lost SSH connection means for a command that drives; never that it should be run again. */
export function lossOfDrive(
  lost: GwError,
  {
    what,
    isOrdered,
    leaveRunning,
  }: { readonly what: string; readonly isOrdered: boolean; readonly leaveRunning: boolean },
): GwError {
  const { tried } = lost;
  if (!isOrdered) {
    return new GwError('SSH_LOST', `${lost.message} No order was sent: this command did not start the ${what}.`, {
      tried,
      remedy: 'Check radio and cable, and the robot, before you order it again.',
      cause: lost,
    });
  }
  const then = leaveRunning
    ? 'It continues without this command (--leave-running).'
    : 'The gateway cancels it after 3 s without this command.';
  const message = `${lost.message} ${MAY_BE_MOVING}: the end of the ${what} is not confirmed. ${then}`;
  return new GwError('SSH_LOST', message, { tried, remedy: MAY_DRIVE_ON, cause: lost });
}

function leftRunning({ what }: { readonly what: string }, cause: unknown): GwError {
  return new GwError('INTERRUPTED', `Interrupted; the ${what} continues because of --leave-running.`, {
    remedy: 'Stop it with `gw motion stop`, or with the stop button on the tablet.',
    cause,
  });
}

const after = (lost: GwError, means: string, remedy: string) =>
  new GwError('SSH_LOST', `${lost.message} ${means}`, { tried: lost.tried, remedy, cause: lost });

/** A lost SSH connection during a trial, of whatever kind. */
export const lossOfTrial = (lost: GwError) =>
  after(lost, `${MAY_BE_MOVING}. The gateway cancels a trial after 3 s without this command.`, MAY_DRIVE_ON);

export const lossOfPose = (lost: GwError) =>
  after(
    lost,
    'Whether the pose was set is unknown.',
    'Do not let the robot drive before its pose on the page of the gateway is the one where it stands; otherwise set it again.',
  );

export const lossOfClear = (lost: GwError) =>
  after(
    lost,
    'Whether the stop was cleared is unknown: orders may pass.',
    'Stop it again with `gw motion stop` where that is not safe; the page of the gateway shows whether it is stopped.',
  );
