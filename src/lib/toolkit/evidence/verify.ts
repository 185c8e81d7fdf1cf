import { asGwError, type ErrorCode, GwError } from '../../error/index.ts';
import { factsDecidedBy, type TrialRequest, trialAnswerSchema } from '../../motion/index.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { type GatewayWay, type SignedInAccess, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { EvidenceVerified } from './evidence.result.ts';

export interface VerifyOptions extends GatewayWay, TrialRequest {}

export interface VerifyContext extends CheckContext {
  /** Alarm for the person beside the robot. */
  readonly onAlarm: (text: string) => void;
}

type TrialView = EvidenceVerified['trial'];

/** Keepalive interval, well within the 3 s after which the gateway cancels. */
const KEEPALIVE_MS = 300;
/** Without keepalives for longer the gateway has already cancelled. */
const SILENT_MS = 4_000;
/** How long the end of a cancelled trial is awaited: longer than the gateway repeats its cancels. */
const ENDING_MS = 60_000;

/** Refusals for which the gateway also writes a trial report. */
const refusals: readonly ErrorCode[] = [
  'MOTION_REFUSED',
  'MOTION_STOPPED',
  'CHASSIS_NOT_CONNECTED',
  'CHASSIS_BOOTING',
  'CHASSIS_WRONG_DEVICE',
];

/**
 * Verifies facts by a supervised trial on the running gateway, which judges and records. THE ROBOT MOVES: the caller
 * has the confirmation of a person. An interruption cancels the trial and waits for its end; without keepalives of this
 * process the gateway cancels it after 3 s. Throws NOT_SIGNED_IN, OPERATOR_NOT_REACHABLE, USAGE, SITE_FILE_INVALID, TOUR_RUNNING,
 * MOTION_REFUSED beside another trial, and INTERRUPTED before the start.
 */
export async function verifyEvidence(
  toolkit: Toolkit,
  { host, password, kind, who, conditions, towardsDeg, distanceM }: VerifyOptions,
  context: VerifyContext,
): Promise<EvidenceVerified> {
  const { clock } = toolkit;
  const beganMs = clock.monotonicMs();
  // An interruption must not abort a request: a started trial could not be cancelled any more.
  const steady = { ...context, signal: new AbortController().signal };
  await using gateway = await signedInAccess(toolkit, { host, password }, steady);
  context.signal.throwIfAborted();
  const body = {
    ...{ kind, who, conditions },
    ...(towardsDeg !== undefined && { towardsDeg }),
    ...(distanceM !== undefined && { distanceM }),
  };
  const begun = await start(gateway, body);
  const trial = begun.state === 'running' ? await follow(toolkit, gateway, begun, context) : begun;
  return {
    trial,
    verdict: trial.outcome ?? 'not-decided',
    interrupted: context.signal.aborted,
    findings: findingsOf(trial),
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/** The trial, which has ended already where the gate refused it. */
async function start(gateway: SignedInAccess, body: object): Promise<TrialView> {
  try {
    const { trial } = await gateway.ask('POST', '/api/versuch', trialAnswerSchema, body);
    if (trial !== null) return trial;
  } catch (error) {
    const gwError = asGwError(error);
    if (!refusals.includes(gwError.code)) throw error;
    const { trial } = await gateway.ask('GET', '/api/versuch', trialAnswerSchema);
    // Another trial may be running, or the refusal did not come from the gate.
    if (trial?.outcome !== 'refused' || !gwError.message.includes(trial.refusals[0] ?? '\0')) throw error;
    return trial;
  }
  throw new GwError('OPERATOR_NOT_REACHABLE', 'The operator server did not return the started trial.');
}

async function follow(
  { clock }: Toolkit,
  gateway: SignedInAccess,
  begun: TrialView,
  { signal, onProgress, onAlarm }: VerifyContext,
): Promise<TrialView> {
  let trial = begun;
  let answeredMs = clock.monotonicMs();
  let endingSinceMs: number | null = null;
  let alarm: string | null = null;
  const read = async (method: 'POST' | 'DELETE', path: string, body?: object) => {
    try {
      const answer = await gateway.ask(method, path, trialAnswerSchema, body);
      if (answer.trial?.id === begun.id) trial = answer.trial;
      answeredMs = clock.monotonicMs();
    } catch (error) {
      if (clock.monotonicMs() - answeredMs < SILENT_MS) return;
      throw new GwError('INTERRUPTED', 'The gateway no longer answers; it cancels a trial by itself within 3 s.', {
        remedy: 'Press the emergency stop if the robot moves, then check the gateway.',
        cause: error,
      });
    }
  };
  for (;;) {
    if (trial.alarm !== alarm && trial.alarm !== null) onAlarm(trial.alarm);
    alarm = trial.alarm;
    if (trial.state === 'ended') return trial;
    onProgress(trial.phase);
    const nowMs = clock.monotonicMs();
    if (signal.aborted && endingSinceMs === null) {
      endingSinceMs = nowMs;
      await read('DELETE', '/api/versuch');
      continue;
    }
    if (endingSinceMs !== null && nowMs - endingSinceMs > ENDING_MS) {
      throw new GwError('INTERRUPTED', 'The trial was cancelled and has not ended.', {
        remedy: 'Press the emergency stop if the robot moves.',
      });
    }
    await clock.sleep(KEEPALIVE_MS, endingSinceMs === null ? signal : undefined).catch(() => {});
    if (!signal.aborted || endingSinceMs !== null) await read('POST', '/api/versuch/lebenszeichen', { id: begun.id });
  }
}

const remedies = {
  differs: 'Do not drive this robot with gw until the cause is known; no order relies on this fact now.',
  open: 'Resolve the reason, and run the trial again.',
} as const;

/** Every fact that this kind of trial decides, also those without an observation. */
function findingsOf({ kind, facts, outcome, reason }: TrialView): Finding[] {
  const ids = [...new Set<string>([...factsDecidedBy[kind], ...facts.map(({ fact }) => fact)])];
  return ids.map((id) => {
    const start = { id, title: `${id} holds on this chassis`, spec: 'Evidence marks' };
    const found = facts.find(({ fact }) => fact === id);
    if (found === undefined) return notChecked(start, reason ?? outcome ?? 'no observation', remedies.open);
    if (found.verdict === 'differs') return wrong(start, found.why, remedies.differs);
    // In an invalid trial the gateway has already set every 'holds' to 'not-decided'.
    if (found.verdict === 'holds') return ok(start, found.why);
    return notChecked(start, found.why, remedies.open);
  });
}
