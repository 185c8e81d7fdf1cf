import { z } from 'zod';
import { type CloudView, topicsOf } from '../../cloud/index.ts';
import { GwError } from '../../error/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { type OperatorAccess, operatorAccess } from '../operator/access.ts';
import { type CheckContext, poll, type Toolkit } from '../toolkit.ts';
import type { CloudStopCheck } from './cloud.result.ts';
import { readCloudStatus } from './status.ts';

export interface StopRehearsalOptions {
  /** The device password, with which the person on site clears the stop. */
  readonly password: string;
  /** How long to wait for the stop, in milliseconds. */
  readonly withinMs: number;
  /** For the disk to answer, in milliseconds; `saved` is pending until then. */
  readonly settledWithinMs?: number;
  /** Plays the person at the cloud account; without it one follows the progress. */
  readonly sendStop?: () => Promise<unknown>;
}

const POLL_MS = 250;
const SAVED_WITHIN_MS = 5_000;
/**
 * For a link that is being made: `gw network check` beside this step moves it to the other path and back. Project
 * decision.
 */
const CONNECTED_WITHIN_MS = 20_000;
const STOP_PATH = '/api/stopp';

const latchSchema = z.looseObject({
  stop: z.looseObject({
    latched: z.boolean(),
    saved: z.union([z.boolean(), z.literal('pending')]),
    by: z.string().nullable(),
    reason: z.string().nullable(),
    /** `by` has the first 16 names only. */
    repeated: z.looseObject({ by: z.array(z.string()), last: z.looseObject({ by: z.string() }) }).nullable(),
  }),
});
type Latch = z.infer<typeof latchSchema>['stop'];

/** How the wait for a stop from the cloud ended. */
type Wait =
  /** `isDistinct`: its content was not that of an earlier stop. `unknown`: why the earlier stops are not known. */
  | { readonly kind: 'received'; readonly isDistinct: boolean; readonly unknown: string | null }
  /** `discarded`: why a message on the stop topic was discarded meanwhile; null: none was. */
  | { readonly kind: 'timeout'; readonly discarded: string | null }
  | { readonly kind: 'restarted' }
  | { readonly kind: 'other-stop'; readonly by: string };

/**
 * Waits for a stop that arrives from the cloud during this call, and clears it as the signed-in person on site. A stop
 * from before or from another place does not count and is not cleared; nor is that of the cloud where a person stopped
 * the robot as well. After an interruption the robot stays stopped. Throws OPERATOR_NOT_REACHABLE, CLOUD_NOT_CONNECTED,
 * MOTION_STOPPED, the error of the sign-in.
 */
export async function rehearseCloudStop(
  toolkit: Toolkit,
  { password, withinMs, settledWithinMs = SAVED_WITHIN_MS, sendStop }: StopRehearsalOptions,
  context: CheckContext,
): Promise<CloudStopCheck> {
  const { clock, site } = toolkit;
  const { serial } = site.chassis;
  const operator = operatorAccess(toolkit, context);
  // Before the robot is stopped: with a wrong password the stop could not be cleared.
  await (await operator.signIn(password)).signOut();
  // Before the latch: a stop that arrives between the two is found there.
  const before = await connectedStatus(toolkit, Math.min(CONNECTED_WITHIN_MS, withinMs), context);
  if ((await readLatch(operator)).latched) {
    throw new GwError('MOTION_STOPPED', 'The robot is stopped already, so a stop from the cloud cannot be rehearsed.', {
      remedy: 'Find out the reason of the stop, clear it with `gw motion clear`, then run this again.',
    });
  }
  if (before.status !== 'connected' || before.received === null) {
    throw new GwError('CLOUD_NOT_CONNECTED', `No stop can arrive: ${before.detail}`, {
      remedy: before.remedy ?? 'See `gw cloud status`.',
    });
  }
  context.onProgress(`Send a stop to ${serial} from the cloud account now`);
  const beganMs = clock.monotonicMs();
  await sendStop?.();
  const wait = await waitForStop(toolkit, { operator, before, untilMs: beganMs + withinMs }, context);
  const waitedMs = Math.round(clock.monotonicMs() - beganMs);
  const latch =
    wait.kind === 'received'
      ? await settledLatch(toolkit, operator, settledWithinMs, context)
      : await readLatch(operator);
  return {
    serial,
    by: latch.latched ? latch.by : null,
    reason: latch.latched ? latch.reason : null,
    waitedMs,
    findings: [
      receivedFinding(wait, latch, waitedMs),
      distinctFinding(wait),
      latchedFinding(wait, latch),
      await clearedFinding(operator, { wait, latch, password }),
    ],
  };
}

/** The state of the link once it is connected, or at the end of the time. */
async function connectedStatus(toolkit: Toolkit, withinMs: number, context: CheckContext): Promise<CloudView> {
  const { value } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => {
      const status = await readCloudStatus(toolkit, {}, context);
      if (status.status === 'not-connected') context.onProgress(`Waits for the link to the cloud. ${status.detail}`);
      return status;
    },
    ({ status }) => status !== 'not-connected',
  );
  return value;
}

async function readLatch(operator: Pick<OperatorAccess, 'ask'>): Promise<Latch> {
  return (await operator.ask('GET', STOP_PATH, latchSchema)).stop;
}

/** Until it is known whether the stop is on the disk. */
async function settledLatch(
  toolkit: Toolkit,
  operator: OperatorAccess,
  withinMs: number,
  context: CheckContext,
): Promise<Latch> {
  const limits = { everyMs: POLL_MS, withinMs };
  return (
    await poll(
      toolkit,
      context,
      limits,
      () => readLatch(operator),
      ({ saved }) => saved !== 'pending',
    )
  ).value;
}

interface Waiting {
  readonly operator: OperatorAccess;
  readonly before: CloudView;
  readonly untilMs: number;
}

async function waitForStop(
  toolkit: Toolkit,
  { operator, before, untilMs }: Waiting,
  context: CheckContext,
): Promise<Wait> {
  const { clock } = toolkit;
  const stopsBefore = before.received?.stops ?? 0;
  const knownBefore = before.received?.stopsOfKnownContent ?? 0;
  const seen = new Set(discardedStops(toolkit, before).map(({ key }) => key));
  for (;;) {
    const now = await readCloudStatus(toolkit, {}, context);
    const stops = now.received?.stops ?? 0;
    if (stops > stopsBefore) {
      const known = now.received?.stopsOfKnownContent ?? 0;
      // The account may send a stop twice, and then only the first is distinct.
      const isDistinct = known - knownBefore < stops - stopsBefore;
      return { kind: 'received', isDistinct, unknown: unknownStops(now) };
    }
    // The counts begin again at the start of gw, so a stop could be missed.
    if (stops < stopsBefore) return { kind: 'restarted' };
    const latch = await readLatch(operator);
    if (latch.latched && !isFromCloud(latch.by)) return { kind: 'other-stop', by: latch.by ?? 'unknown' };
    if (clock.monotonicMs() >= untilMs) {
      const discarded = discardedStops(toolkit, now).find(({ key }) => !seen.has(key));
      return { kind: 'timeout', discarded: discarded?.reason ?? null };
    }
    if (now.status !== 'connected') context.onProgress(now.detail);
    await clock.sleep(POLL_MS, context.signal);
  }
}

/** Why the gateway does not know which stops it received before; null: it does. */
function unknownStops({ seen }: CloudView): string | null {
  const isKnown = seen?.status === 'saved' || seen?.status === 'saving';
  return isKnown ? null : (seen?.detail ?? 'the gateway does not say');
}

function discardedStops({ site }: Toolkit, { received }: CloudView) {
  const topic = site.cloud === undefined ? null : topicsOf(site.cloud.topics, site.chassis.serial).stop;
  return (received?.lastDiscarded ?? [])
    .filter((message) => message.topic === topic)
    .map(({ at, reason, bytes }) => ({ reason, key: `${at} ${reason} ${bytes}` }));
}

/** The gateway itself names the place of a stop first. */
function isFromCloud(by: string | null): boolean {
  return by !== null && /^cloud(?:,|$)/.test(by);
}

const SEND_AGAIN = 'Send the stop as docs/cloud.md, "Stop", describes it, then run this step again.';

function receivedFinding(wait: Wait, { by, reason }: Latch, waitedMs: number): Finding {
  const start: FindingStart = { id: 'received', title: 'A stop from the cloud arrives', spec: 'Core network rule' };
  switch (wait.kind) {
    case 'received':
      return ok(start, `received ${waitedMs} ms after it was asked for: '${by}', ${reason}`);
    case 'other-stop':
      return notChecked(
        start,
        `the robot was stopped from another place meanwhile: ${wait.by}`,
        'Find out the reason of that stop, clear it with `gw motion clear`, then run this step again.',
      );
    case 'restarted':
      return notChecked(start, '`gw serve` was restarted meanwhile', 'Clear any stop, then run this step again.');
    case 'timeout': {
      const within = `within ${Math.round(waitedMs / 1_000)} s`;
      if (wait.discarded === null) return notChecked(start, `no stop arrived ${within}`, SEND_AGAIN);
      const detail = `no new stop arrived ${within}, and one was discarded: ${wait.discarded}`;
      return wrong(start, detail, `${SEND_AGAIN} See \`gw cloud discarded\`.`);
    }
  }
}

/** A new message stops whatever its content; a retained one with that of an earlier stop would be missed. */
function distinctFinding(wait: Wait): Finding {
  const start: FindingStart = { id: 'distinct', title: 'Its content differs from earlier stops', spec: null };
  if (wait.kind !== 'received') return notChecked(start, 'no stop from the cloud was received');
  if (!wait.isDistinct) {
    return wrong(
      start,
      'it has the content of an earlier stop: retained while the gateway is away, it could be mistaken for that and missed',
      'Have the cloud account send another `id` with every stop, and do not publish stops as retained messages.',
    );
  }
  if (wait.unknown !== null) return notChecked(start, `earlier stops are not known: ${wait.unknown}`);
  return ok(start, 'no stop that the gateway remembers has this content');
}

function latchedFinding({ kind }: Wait, { latched, saved, by }: Latch): Finding {
  const start: FindingStart = { id: 'latched', title: 'It stops the robot and is latched', spec: 'Events' };
  const remedy = 'Do not hand the robot over; see the log of `gw serve`.';
  if (kind !== 'received') return notChecked(start, 'no stop from the cloud was received');
  if (!latched) return wrong(start, 'received, and the robot is not stopped', remedy);
  if (!isFromCloud(by)) return notChecked(start, `the robot was stopped before by ${by}`, 'Run this step again.');
  if (saved === false) return wrong(start, 'NOT saved: a restart of gw would forget it', remedy);
  if (saved === 'pending') return notChecked(start, 'the disk has not saved it yet', 'Check the disk of this machine.');
  return ok(start, `latched by '${by}', saved`);
}

interface Clearing {
  readonly wait: Wait;
  readonly latch: Latch;
  readonly password: string;
}

const CLEARED: FindingStart = { id: 'cleared', title: 'Only a signed-in person on site clears it', spec: null };
const SEE_LOG = 'See the log of `gw serve`; do not hand the robot over.';

async function clearedFinding(operator: OperatorAccess, { wait, latch, password }: Clearing): Promise<Finding> {
  if (wait.kind !== 'received' || !latch.latched) return notChecked(CLEARED, 'no stop from the cloud was latched');
  // Before the latch is read again, because it takes a while.
  await using session = await operator.signIn(password);
  const atFirst = noClearing(await readLatch(operator));
  if (atFirst !== null) return atFirst;
  const stranger = await operator.answerTo('DELETE', STOP_PATH);
  const held = await readLatch(operator);
  const without = `without a session ${stranger.status}`;
  const isDenied = stranger.status === 401;
  if (!isDenied && !held.latched) return wrong(CLEARED, `${without}; cleared`, SEE_LOG);
  const late = noClearing(held);
  if (late !== null) return late;
  const cleared = await session.answerTo('DELETE', STOP_PATH);
  const { latched } = await readLatch(operator);
  const detail = `${without}, with one ${cleared.status}; ${latched ? 'still latched' : 'cleared'}`;
  return isDenied && cleared.status === 200 && !latched ? ok(CLEARED, detail) : wrong(CLEARED, detail, SEE_LOG);
}

/**
 * Why the stop must not be cleared by this step; null while the robot is stopped by the cloud alone. The stop of a
 * person who may have seen a danger is theirs to judge.
 */
function noClearing({ latched, by, repeated }: Latch): Finding | null {
  if (!latched) return notChecked(CLEARED, 'cleared from another place meanwhile', 'Run this step again.');
  const all = [by ?? 'unknown', ...(repeated === null ? [] : [...repeated.by, repeated.last.by])];
  const others = new Set(all.filter((each) => !isFromCloud(each)));
  if (others.size === 0) return null;
  const remedy = 'Ask for the reason of that stop, clear it with `gw motion clear`, then run this step again.';
  return notChecked(CLEARED, `not cleared: also stopped by ${[...others].join(', ')}`, remedy);
}
