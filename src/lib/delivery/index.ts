/** Deliveries: arrival, queue, and the movements that begin by themselves, each through the gate of motion. */
export { createDelivery } from './delivery.ts';
export type * from './model.ts';
