// A process that runs one of the loads, so that its CPU time does not distort the measurement.
import { loadOf } from './loads.js';
import { serveRequests } from './worker.js';

const [name] = process.argv.slice(2);
const load = await loadOf(name);
let attack;

serveRequests({
  start({ target, options }) {
    attack = load.attack({ target, from: load.from ?? '127.0.0.3', ...options });
    return null;
  },
  read: () => attack?.counts ?? null,
  stop() {
    const { counts } = attack;
    attack.stop();
    return counts;
  },
});
