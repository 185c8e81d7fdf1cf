import { createPacedClock } from '../lifecycle/paced-clock.ts';

/** The time of the scripted chassis and of motion against it: no limit of an order passes faster than both can follow. */
export const time = createPacedClock();
