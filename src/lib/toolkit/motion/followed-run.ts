import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { localOperatorAccess, type OperatorAccess, steadyOperatorAccess } from '../operator/access.ts';
import { type GatewayWay, notSignedIn } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { MAY_DRIVE_ON } from './standstill.ts';

export interface FollowOptions extends GatewayWay {
  /** How long the run is followed; after that the robot continues. */
  readonly withinMs: number;
  /** An interruption ends the command only, not the run. */
  readonly leaveRunning: boolean;
}

/** Common fields of a tour run and a single drive. */
export const followedRunSchema = z.looseObject({
  id: z.string(),
  state: z.enum(['running', 'succeeded', 'failed', 'stopped']),
  reason: z.string().nullable(),
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

/**
 * Starts a run and follows it to its end. THE ROBOT MOVES: the caller has the confirmation of a person. An interruption ends the run
 * and waits for its end, unless `leaveRunning`. Throws why the gateway refused it, OPERATOR_NOT_REACHABLE, and
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
  const session = options.password === undefined ? null : await given.signIn(options.password);
  await using _session = session;
  context.signal.throwIfAborted();
  const startedBy = await start(toolkit, kind, body, { access: session ?? given, host: options.host }, steady);
  const { operator } = startedBy;
  let { run } = startedBy;
  const read = readerOf(operator, kind, clock);
  const beganMs = clock.monotonicMs();
  while (run.state === 'running' && clock.monotonicMs() - beganMs < options.withinMs) {
    if (context.signal.aborted) {
      if (options.leaveRunning) throw leftRunning(kind, context.signal.reason);
      return { run: await endRun(operator, kind, run, read, context, clock), isInterrupted: true, operator };
    }
    context.onProgress(kind.progress(run));
    await clock.sleep(POLL_MS, context.signal).catch(() => {});
    if (!context.signal.aborted) run = await read(run);
  }
  return { run, isInterrupted: false, operator };
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
    run: (await operator.ask('POST', path, answer, body)).run as z.output<S>,
    operator,
  });
  try {
    return await order(way.access);
  } catch (error) {
    const gwError = asGwError(error);
    if (gwError.code === 'OPERATOR_NOT_REACHABLE') throw notKnown(what, gwError);
    if (gwError.code !== 'NOT_SIGNED_IN') throw error;
    const local = way.host === undefined ? await localOperatorAccess(toolkit, context) : null;
    if (local === null) throw notSignedIn(error);
    return await order(local);
  }
}

/** The request may have arrived although no answer came back. */
function notKnown(what: string, cause: GwError): GwError {
  return new GwError('OPERATOR_NOT_REACHABLE', `${cause.message} Whether the ${what} was started is unknown.`, {
    tried: cause.tried,
    remedy:
      'Check the robot. If it moves, run `gw motion stop` or press the emergency stop. Check that `gw serve` runs.',
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
      throw new GwError(gwError.code, `${gwError.message} The state of the ${what} is unknown.`, {
        tried: gwError.tried,
        remedy:
          'Check the robot. If it moves, run `gw motion stop` or press the emergency stop. Check that `gw serve` runs.',
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
      if (last.state !== 'running') return last;
      await clock.sleep(POLL_MS);
    }
  } catch (cause) {
    throw mayDriveOn(what, asGwError(cause).message, cause);
  }
  throw mayDriveOn(what, `its end was not confirmed within ${ENDING_MS / 1000} s`, undefined);
}

function mayDriveOn(what: string, why: string, cause: unknown): GwError {
  return new GwError(
    'INTERRUPTED',
    `Interrupted, and the ${what} could not be ended: THE ROBOT MAY STILL BE MOVING. ${why}`,
    {
      tried: cause === undefined ? undefined : asGwError(cause).tried,
      remedy: MAY_DRIVE_ON,
      cause,
    },
  );
}

function leftRunning({ what }: { readonly what: string }, cause: unknown): GwError {
  return new GwError('INTERRUPTED', `Interrupted; the ${what} continues because of --leave-running.`, {
    remedy: 'Stop it with `gw motion stop`, or with the stop button on the tablet.',
    cause,
  });
}
