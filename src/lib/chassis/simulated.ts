import type { ChassisIdentity } from './model.ts';

/** The model by which a simulator names itself. Project decision: a device that says so is no robot. */
const SIMULATED_MODEL = 'simulated';

/** Whether the device says of itself that it is a simulator. */
export function isSimulated({ model }: Pick<ChassisIdentity, 'model'>): boolean {
  return model === SIMULATED_MODEL;
}
