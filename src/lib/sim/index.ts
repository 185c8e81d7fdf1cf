/**
 * A robot in a box: a chassis that speaks REST and topics as the vendor describes and as the specification
 * measured, on 127.0.0.1, with neighbours that beat where they are asked for, and faults that can be switched while
 * it runs. It imports wire shapes and nothing else of the product, and does its own arithmetic, so that a mistake of
 * the client cannot hide in shared code.
 */

export { dock, stations } from './chassis/floor/floor.ts';
export { type ControlView, controlSim, defaultPointerFile } from './control/control.ts';
export { type FaultKind, type FaultName, type FaultRow, faultNames, faultTable } from './faults.ts';
export type { Sim, SimOptions, TrueState } from './model.ts';
export type { SimPart } from './parts.ts';
export { startSim } from './sim.ts';
export {
  makePackageFile,
  type PackageFileOptions,
  startTablet,
  type Tablet,
  type TabletFault,
  type TabletOptions,
  type TabletState,
} from './tablet/index.ts';
