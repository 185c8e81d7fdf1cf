import { createPacedClock } from '../lifecycle/paced-clock.ts';

/** The clock of the scripted chassis and of motion: no limit of an order passes faster than both can follow. */
export const time = createPacedClock();
