// A process that attacks the gateway with one of the loads, so that its own slowness is not that of who measures.
import { answerAll } from './asked.js';

const [name] = process.argv.slice(2);
const { default: load } = await import(`./loads/${name}.js`);
let attack;

answerAll({
  start({ target, options }) {
    attack = load.attack({ target, from: load.from ?? '127.0.0.3', ...options });
    return null;
  },
  look: () => attack?.counts ?? null,
  stop() {
    const { counts } = attack;
    attack.stop();
    return counts;
  },
});
