import { startSim } from '../../../src/lib/sim/index.ts';
import { createRelay } from './relay.ts';

// The chassis in its namespace: the simulator on loopback, and its address in the robot segment.

const [dir = '', host = ''] = process.argv.slice(2);
// New to its site: no fact was verified on it.
const sim = await startSim({ dir, with: ['password'], evidence: false });
await createRelay({ host, port: 8090 }, sim.chassis.port).open();
// A technician turns the robot by hand, as the checklists require, and steps back before it is to drive.
process.on('SIGUSR2', () => {
  sim.setFault('turned-by-hand', true);
  console.log('turned');
});
process.on('SIGUSR1', () => {
  sim.setFault('turned-by-hand', false);
  // It is turned back to its heading, and is then at rest.
  let before = Number.NaN;
  const hold = setInterval(() => {
    const { yawRad } = sim.state();
    if (yawRad === before) {
      clearInterval(hold);
      console.log('let go');
    }
    before = yawRad;
  }, 300);
});
console.log('ready');
