/** Deliveries: arrival, queue, and the movements that begin by themselves, each through the gate of motion. */

export { createDayList, type DayList } from './day-list.ts';
export { createDelivery } from './delivery.ts';
export type * from './model.ts';
