import { z } from 'zod';
import { gatewayAccess } from '../operator/local-access.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MotionClear } from './motion.result.ts';

const stopSchema = z.looseObject({
  stop: z.looseObject({
    latched: z.boolean(),
    reason: z.string().nullable(),
    by: z.string().nullable(),
    since: z.string().nullable(),
    disobeyed: z.string().nullish(),
  }),
});
const gateSchema = z.looseObject({ gate: z.looseObject({ open: z.boolean(), reasons: z.array(z.string()) }) });

/**
 * Clears the latched stop as a signed-in person: with the device password, or by the socket for commands on the gateway
 * itself. Returns who stopped the robot, and why. Throws NOT_SIGNED_IN, SIGN_IN_FAILED, OPERATOR_NOT_REACHABLE, and
 * FILE_UNWRITABLE where the release cannot be saved: then the stop stays latched.
 */
export async function clearStop(toolkit: Toolkit, way: GatewayWay, context: CheckContext): Promise<MotionClear> {
  const steady = { ...context, signal: new AbortController().signal };
  const before = (await (await gatewayAccess(toolkit, steady, way.host)).ask('GET', '/api/stopp', stopSchema)).stop;
  await using access = await signedInAccess(toolkit, way, context);
  const after = before.latched ? (await access.ask('DELETE', '/api/stopp', stopSchema)).stop : before;
  const { gate } = await access.ask('GET', '/api/touren', gateSchema);
  return {
    cleared: !after.latched,
    wasLatched: before.latched,
    reason: before.latched ? before.reason : null,
    by: before.latched ? before.by : null,
    since: before.latched ? before.since : null,
    disobeyed: before.disobeyed ?? null,
    gate: { open: gate.open, reasons: gate.reasons },
  };
}
