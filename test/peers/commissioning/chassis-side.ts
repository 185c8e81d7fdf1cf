import { startSim } from '../../../src/lib/sim/index.ts';
import { createRelay } from './relay.ts';

// The chassis in its namespace: the simulator on loopback, and its address in the robot segment.

const [dir = '', host = ''] = process.argv.slice(2);
const sim = await startSim({ dir, with: ['password'] });
await createRelay({ host, port: 8090 }, sim.chassis.port).open();
console.log('ready');
