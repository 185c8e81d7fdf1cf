import { median } from '../measure.js';

const SAMPLES = 20_000;
/** A judge with a final verdict has less work, so each one judges six seconds, the time to a verdict. */
const SAMPLES_OF_A_JUDGE = 60;
const ROUNDS = 41;
const WARM_UP_ROUNDS = 6;
/** Limit for one sample in microseconds. */
const MAX_SAMPLE_US = 2;

export default {
  title: `Pose unit of ${SAMPLES.toLocaleString('en')} samples judged, with the verdict after each, against JSON.parse of their messages, in turn`,
  async run() {
    const { createUnitJudge } = await import('../../src/lib/chassis/unit/judge.ts');
    const kinds = {
      'turning, degrees': (rad) => ((rad * 180) / Math.PI) % 360,
      'turning, radians': (rad) => rad % (2 * Math.PI),
      'turning, radians unwrapped': (rad) => rad + 44,
    };
    const runs = Object.entries(kinds).map(([name, shown]) => [name, turning(shown)]);
    runs.push(['driving a tour', driving()]);
    const messages = runs[0][1].map(({ ori, xM, yM }) =>
      JSON.stringify({ topic: '/tracked_pose', pos: [xM, yM], ori }),
    );

    const work = {
      ...Object.fromEntries(runs.map(([name, samples]) => [name, () => judged(createUnitJudge, samples)])),
      'JSON.parse': () => parsed(messages),
    };
    const took = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      for (const [name, loop] of Object.entries(work)) {
        const us = loop();
        if (round >= 0) took[name].push(us);
      }
    }
    const slowest = Math.max(...runs.map(([name]) => median(took[name])));
    const ratio = slowest / median(took['JSON.parse']);
    return {
      rows: Object.entries(took).map(([name, samples]) => ({ name, median: median(samples), unit: 'µs', samples })),
      figures: [
        {
          name: 'slowest sample',
          value: `${slowest.toFixed(2)} µs`,
          target: `at most ${MAX_SAMPLE_US} µs`,
          holds: slowest <= MAX_SAMPLE_US,
        },
        {
          name: 'judging / JSON.parse',
          value: `${ratio.toFixed(2)} ×`,
          target: 'at most 2.0 ×',
          holds: ratio <= 2,
        },
      ],
    };
  },
};

/** Ten samples per second of a robot that is turned back and forth in place, with a little noise. */
function turning(shown) {
  let rad = 10;
  return Array.from({ length: SAMPLES }, (_, i) => {
    rad += (i % 400 < 300 ? 0.12 : -0.2) + 0.01 * Math.sin(i * 1.7);
    return { ori: shown(rad), xM: 0.01 * Math.sin(i), yM: 0.01 * Math.cos(i), atMs: i * 100 };
  });
}

/** Ten samples per second of a robot that drives legs of three metres and turns between them. */
function driving() {
  let [xM, yM, rad] = [0, 0, 0];
  return Array.from({ length: SAMPLES }, (_, i) => {
    if (i % 60 < 10) rad += 0.14;
    else {
      xM += 0.06 * Math.cos(rad);
      yM += 0.06 * Math.sin(rad);
    }
    return { ori: rad % (2 * Math.PI), xM, yM, atMs: i * 100 };
  });
}

/** Microseconds for one sample. The result is checked, so that the compiler cannot remove the work. */
function judged(createUnitJudge, samples) {
  const began = performance.now();
  let seen = 0;
  let judge = createUnitJudge();
  for (const [i, sample] of samples.entries()) {
    if (i % SAMPLES_OF_A_JUDGE === 0) judge = createUnitJudge();
    judge.add(sample);
    seen += judge.verdict().reason.length;
  }
  return perSample(began, seen, samples.length);
}

function parsed(messages) {
  const began = performance.now();
  let seen = 0;
  for (const message of messages) seen += JSON.parse(message).pos.length;
  return perSample(began, seen, messages.length);
}

function perSample(began, seen, count) {
  const tookMs = performance.now() - began;
  if (seen === 0) throw new Error('no result');
  return (tookMs * 1_000) / count;
}
