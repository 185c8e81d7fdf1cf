import { startSim } from '../../../src/lib/sim/index.ts';
import { createRelay } from './relay.ts';

// The chassis in its namespace: the simulator on loopback, and its address in the robot segment.

const [dir = '', host = ''] = process.argv.slice(2);
const sim = await startSim({ dir, with: ['password'] });
await createRelay({ host, port: 8090 }, sim.chassis.port).open();
// A technician turns the robot by hand, as the checklists ask, and steps back when it begins to drive.
sim.setFault('turned-by-hand', true);
const watching = setInterval(() => {
  if (!sim.state().moving) return;
  sim.setFault('turned-by-hand', false);
  clearInterval(watching);
}, 20);
console.log('ready');
