/**
 * A simulated robot on 127.0.0.1: a chassis with REST and topics as the vendor describes and the specification measured
 * them, optional parts of its site, and faults that can be switched at run time. It shares wire types with the client
 * and no code, so that a mistake of the client cannot hide in shared code.
 */

export { dock, stations } from './chassis/floor/floor.ts';
export { controlSim, defaultPointerFile } from './control/request.ts';
export { type FaultName, faultNames, faultTable } from './faults.ts';
export type { Sim, SimOptions } from './model.ts';

export { startSim } from './sim.ts';
export {
  makePackageFile,
  startTablet,
  type Tablet,
} from './tablet/index.ts';
