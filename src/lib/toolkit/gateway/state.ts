import { z } from 'zod';
import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { onlyPose } from './live-robot.ts';

const POLL_MS = 50;

const stateSchema = z.looseObject({
  summary: z.string(),
  link: z.looseObject({
    kind: z.string(),
    tried: z.looseObject({ address: z.string(), port: z.int().optional() }),
  }),
  identity: z.looseObject({ serial: z.string() }).nullable(),
  values: z.looseObject({
    pose: z.looseObject({
      status: z.string(),
      ageMs: z.number().optional(),
      value: z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).optional(),
    }),
  }),
  poseUnit: z.looseObject({ verdict: z.string(), doubt: z.string().nullable() }),
  unitContradicted: z.boolean(),
});

/**
 * The chassis state of the running gateway on this machine, reduced to the fields that checks use. Throws
 * OPERATOR_NOT_REACHABLE.
 */
export async function readGatewayState(toolkit: Toolkit, context: CheckContext) {
  const state = await operatorAccess(toolkit, context).ask('GET', '/api/chassis/state', stateSchema);
  const { summary, link, identity, values, poseUnit, unitContradicted } = state;
  const { value, ageMs } = values.pose;
  return {
    /** Between gateway and chassis: `connected`, `not-connected`, `booting`, `connecting`. */
    link: link.kind,
    /** One line for people, such as 'not connected: nothing answered'. */
    summary,
    /** The address that the gateway tries. */
    tried: { address: link.tried.address, port: link.tried.port ?? null },
    serial: identity?.serial ?? null,
    /** null when none was received, or the gateway is not connected. */
    pose: value === undefined || ageMs === undefined ? null : { ...onlyPose(value), ageMs: Math.round(ageMs) },
    poseUnit: poseUnit.verdict,
    unitContradicted,
    /** The pose may be in radians; the gate is closed until degrees are verified. */
    unitInDoubt: poseUnit.doubt !== null,
    /** Time until the awaited state, in milliseconds; 0 when none was awaited. */
    afterMs: 0,
  };
}

/** Polls until the link has the awaited state; after `withinMs` returns the last state. Counts from `sinceMs` (monotonic) or now. */
export async function waitForGatewayState(
  toolkit: Toolkit,
  { link, withinMs, sinceMs }: { readonly link: string; readonly withinMs: number; readonly sinceMs?: number },
  context: CheckContext,
) {
  const { clock } = toolkit;
  const began = sinceMs ?? clock.monotonicMs();
  for (;;) {
    const state = await readGatewayState(toolkit, context);
    const afterMs = Math.round(clock.monotonicMs() - began);
    if (state.link === link || afterMs >= withinMs) return { ...state, afterMs };
    await clock.sleep(POLL_MS, context.signal);
  }
}
