// Random faults of the simulated robot, through its control interface.
import { setTimeout as sleep } from 'node:timers/promises';
import { controlSim } from '../../src/lib/sim/control/request.ts';
import { faultTable } from '../../src/lib/sim/faults.ts';
import { seededRandom } from '../figures.ts';

/** Kinds of faults that affect a running gateway. */
const KINDS = new Set(['network', 'answers', 'robot', 'fleet']);
/**
 * Faults with intended lasting effects: a contradicted unit keeps the gate closed, a wheel error needs a reset. Used in
 * the last part only, since no tour starts after them.
 */
const LASTING = new Set(['radians', 'radians-0-2pi', 'radians-unwrapped', 'wheel-error']);
const LAST_PART_FROM = 0.8;

/**
 * Switches faults on and off until `untilMs` (performance.now), at most two at a time; all are off at the end.
 * @returns {Promise<{switched: number, failed: number, names: string[]}>}
 */
export async function runFaults({ dir, seed, beganMs, untilMs, signal }) {
  const all = Object.keys(faultTable).filter((name) => KINDS.has(faultTable[name].kind));
  const passing = all.filter((name) => !LASTING.has(name));
  const lasting = all.filter((name) => LASTING.has(name));
  const random = seededRandom(seed);
  const on = new Set();
  const used = new Set();
  let failed = 0;
  const set = async (name, isOn) => {
    try {
      await controlSim(dir, { set: { name, on: isOn } });
    } catch {
      failed += 1;
    }
  };
  const pause = (ms) =>
    sleep(Math.max(0, Math.min(ms, untilMs - performance.now())), undefined, { signal }).catch(() => {});
  const isOver = () => signal.aborted || performance.now() >= untilMs;

  async function loop() {
    while (!isOver()) {
      await pause(2_000 + random() * 8_000);
      if (isOver()) return;
      const isLast = performance.now() - beganMs > LAST_PART_FROM * (untilMs - beganMs);
      const list = isLast && random() < 0.3 ? lasting : passing;
      const name = list[Math.floor(random() * list.length)];
      if (on.has(name)) continue;
      on.add(name);
      used.add(name);
      await set(name, true);
      await pause(3_000 + random() * 17_000);
      await set(name, false);
      on.delete(name);
    }
  }

  await Promise.all([loop(), loop()]);
  return { switched: used.size, failed, names: [...used] };
}
