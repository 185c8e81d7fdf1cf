/**
 * A robot in a box: a chassis that speaks REST and topics as the vendor describes and as the specification
 * measured, on 127.0.0.1, with neighbours that beat where they are asked for, and faults that can be switched while
 * it runs. It imports wire shapes and nothing else of the product, and does its own arithmetic, so that a mistake of
 * the client cannot hide in shared code.
 */

export { dock, stations } from './chassis/floor/floor.ts';
export { controlSim, defaultPointerFile } from './control/control.ts';
export { type FaultName, faultNames, faultTable } from './faults.ts';
export type { Sim, SimOptions } from './model.ts';

export { startSim } from './sim.ts';
export {
  makePackageFile,
  startTablet,
  type Tablet,
} from './tablet/index.ts';
