import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { beatOf } from '../heartbeat.js';
import { median } from '../measure.js';

const ROBOTS = 1_000;
const ROUNDS = 101;
const WARM_UP_ROUNDS = 10;
/** Each round goes over the datagrams so often: long enough for each side to pay for its own garbage. */
const TIMES = 4;

export default {
  title: `heartbeats of ${ROBOTS.toLocaleString('en')} robots opened (openDatagram) against createHmac alone over their signed bytes, in turn`,
  async run() {
    const { openDatagram, packBeat } = await import('../../src/lib/fleet/datagram.ts');
    const { createKey, createKeyRing } = await import('../../src/lib/fleet/keys.ts');
    const secret = randomBytes(32);
    const [ours, accepted, foreign] = [createKey(secret), createKey(randomBytes(32)), createKey(randomBytes(32))];
    // As while a key is changed: two are accepted.
    const keys = createKeyRing([ours, accepted]);
    const beats = Array.from({ length: ROBOTS }, (_, robot) => packBeat(beatOf(robot, robot), ours));
    const datagrams = {
      beat: beats,
      forged: beats.map((bytes) => changed(bytes, bytes.length - 1)),
      'other-key': Array.from({ length: ROBOTS }, (_, robot) => packBeat(beatOf(robot, robot), foreign)),
      malformed: beats.map(({ length }) => randomBytes(length)),
    };
    for (const [kind, list] of Object.entries(datagrams)) {
      for (const bytes of list) {
        const opened = openDatagram(bytes, keys);
        if (opened.kind !== kind) throw new Error(`a datagram that is '${kind}' was opened as '${opened.kind}'`);
      }
    }

    const keyObject = createSecretKey(secret);
    const signed = beats.map((bytes) => bytes.subarray(0, bytes.length - 32));
    const work = {
      hmac: () => over(signed, (bytes) => createHmac('sha256', keyObject).update(bytes).digest().length),
      ...Object.fromEntries(
        Object.entries(datagrams).map(([kind, list]) => [
          kind,
          () => over(list, (bytes) => openDatagram(bytes, keys).kind.length),
        ]),
      ),
    };
    const samples = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      for (const [name, loop] of Object.entries(work)) {
        const rate = loop();
        if (round >= 0) samples[name].push(rate);
      }
    }

    // Of the time of all rounds: a median would leave out the rounds in which the collector was at work.
    const tookOf = (name) => samples[name].reduce((sum, rate) => sum + 1 / rate, 0);
    const ratio = tookOf('hmac') / tookOf('beat');
    const row = (name, of) => ({ name, median: median(samples[of]), unit: '/s', samples: samples[of] });
    return {
      rows: [
        row('beats opened', 'beat'),
        row('createHmac alone', 'hmac'),
        row('refused: forged', 'forged'),
        row('refused: other key', 'other-key'),
        row('refused: malformed', 'malformed'),
        { name: 'one beat, mean of all', median: (1e6 * tookOf('beat')) / ROUNDS, unit: 'µs' },
      ],
      figures: [
        {
          name: 'openDatagram / createHmac',
          value: `${ratio.toFixed(2)} ×`,
          target: 'at least 0.6 ×',
          holds: ratio >= 0.6,
        },
      ],
    };
  },
};

function changed(bytes, at) {
  const copy = Buffer.from(bytes);
  copy[at] ^= 1;
  return copy;
}

/** Datagrams per second. What comes out is looked at, or the compiler might leave the work out. */
function over(list, open) {
  const began = performance.now();
  let seen = 0;
  for (let time = 0; time < TIMES; time += 1) for (const bytes of list) seen += open(bytes);
  const tookMs = performance.now() - began;
  if (seen === 0) throw new Error('nothing came out');
  return (TIMES * list.length * 1000) / tookMs;
}
