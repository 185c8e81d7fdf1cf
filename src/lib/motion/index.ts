/** The one door to movement: the gate, move and pose orders, tours, the stop latch. */
export type * from './model.ts';
