import type { ChassisIdentity } from './model.ts';

/** Model name of a simulator. Project decision: a device that reports it is not a robot. */
const SIMULATED_MODEL = 'simulated';

/** Whether the device reports that it is a simulator. */
export function isSimulated({ model }: Pick<ChassisIdentity, 'model'>): boolean {
  return model === SIMULATED_MODEL;
}
