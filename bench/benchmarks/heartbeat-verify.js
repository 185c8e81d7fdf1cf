import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { beatOf } from '../heartbeat.js';
import { median } from '../measure.js';

const ROBOTS = 1_000;
const ROUNDS = 1_001;
const WARM_UP_ROUNDS = 200;
/** Short turns, so that few of them are interrupted by something else on the machine. */
const TURN = 250;

export default {
  title: `heartbeats of ${ROBOTS.toLocaleString('en')} robots opened (openDatagram) against createHmac alone over their signed bytes, in turn`,
  async run() {
    const { openDatagram, packBeat } = await import('../../dist/lib/fleet/datagram.js');
    const { createKey, createKeyRing } = await import('../../dist/lib/fleet/keys.js');
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
      hmac: (round) => over(signed, round, (bytes) => createHmac('sha256', keyObject).update(bytes).digest().length),
      ...Object.fromEntries(
        Object.entries(datagrams).map(([kind, list]) => [
          kind,
          (round) => over(list, round, (bytes) => openDatagram(bytes, keys).kind.length),
        ]),
      ),
    };
    const samples = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      for (const [name, loop] of Object.entries(work)) {
        const rate = loop(round);
        if (round >= 0) samples[name].push(rate);
      }
    }

    // Pair by pair, so that a machine whose speed drifts does not decide.
    const ratio = median(samples.beat.map((rate, round) => rate / samples.hmac[round]));
    const row = (name, of) => ({ name, median: median(samples[of]), unit: '/s', samples: samples[of] });
    return {
      rows: [
        row('beats opened', 'beat'),
        row('createHmac alone', 'hmac'),
        row('refused: forged', 'forged'),
        row('refused: other key', 'other-key'),
        row('refused: malformed', 'malformed'),
        { name: 'one beat opened', median: 1e6 / median(samples.beat), unit: 'µs' },
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

/** Datagrams per second of one turn. What comes out is looked at, or the compiler might leave the work out. */
function over(list, round, open) {
  const from = ((round + WARM_UP_ROUNDS) * TURN) % list.length;
  const began = performance.now();
  let seen = 0;
  for (let i = from; i < from + TURN; i += 1) seen += open(list[i]);
  const tookMs = performance.now() - began;
  if (seen === 0) throw new Error('nothing came out');
  return (TURN * 1000) / tookMs;
}
