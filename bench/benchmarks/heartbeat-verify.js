import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { heartbeatOf } from '../heartbeat.js';
import { median } from '../measure.js';

const ROBOTS = 1_000;
const ROUNDS = 101;
const WARM_UP_ROUNDS = 10;
/** Repetitions per round, enough for each side to include its garbage collection. */
const TIMES = 4;

export default {
  title: `heartbeats of ${ROBOTS.toLocaleString('en')} robots decoded (decodeHeartbeat) against createHmac alone over their signed bytes, in turn`,
  async run() {
    const { decodeHeartbeat, encodeHeartbeat } = await import('../../src/lib/fleet/datagram.ts');
    const { createKey, createKeyRing } = await import('../../src/lib/fleet/keys.ts');
    const secret = randomBytes(32);
    const [ours, accepted, foreign] = [createKey(secret), createKey(randomBytes(32)), createKey(randomBytes(32))];
    // Two accepted keys, as during a key rotation.
    const keys = createKeyRing([ours, accepted]);
    const encoded = Array.from({ length: ROBOTS }, (_, robot) => encodeHeartbeat(heartbeatOf(robot, robot), ours));
    const datagrams = {
      heartbeat: encoded,
      forged: encoded.map((bytes) => changed(bytes, bytes.length - 1)),
      'other-key': Array.from({ length: ROBOTS }, (_, robot) => encodeHeartbeat(heartbeatOf(robot, robot), foreign)),
      malformed: encoded.map(({ length }) => randomBytes(length)),
    };
    for (const [kind, list] of Object.entries(datagrams)) {
      for (const bytes of list) {
        const opened = decodeHeartbeat(bytes, keys);
        if (opened.kind !== kind) throw new Error(`a datagram that is '${kind}' was opened as '${opened.kind}'`);
      }
    }

    const keyObject = createSecretKey(secret);
    const signed = encoded.map((bytes) => bytes.subarray(0, bytes.length - 32));
    const work = {
      hmac: () => over(signed, (bytes) => createHmac('sha256', keyObject).update(bytes).digest().length),
      ...Object.fromEntries(
        Object.entries(datagrams).map(([kind, list]) => [
          kind,
          () => over(list, (bytes) => decodeHeartbeat(bytes, keys).kind.length),
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

    // Total time: a median would exclude the rounds with garbage collection.
    const tookOf = (name) => samples[name].reduce((sum, rate) => sum + 1 / rate, 0);
    const ratio = tookOf('hmac') / tookOf('heartbeat');
    const row = (name, of) => ({ name, median: median(samples[of]), unit: '/s', samples: samples[of] });
    return {
      rows: [
        row('heartbeats decoded', 'heartbeat'),
        row('createHmac alone', 'hmac'),
        row('refused: forged', 'forged'),
        row('refused: other key', 'other-key'),
        row('refused: malformed', 'malformed'),
        { name: 'one heartbeat, mean of all', median: (1e6 * tookOf('heartbeat')) / ROUNDS, unit: 'µs' },
      ],
      figures: [
        {
          name: 'decodeHeartbeat / createHmac',
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

/** Datagrams per second. The result is checked, so that the compiler cannot remove the work. */
function over(list, open) {
  const began = performance.now();
  let seen = 0;
  for (let time = 0; time < TIMES; time += 1) for (const bytes of list) seen += open(bytes);
  const tookMs = performance.now() - began;
  if (seen === 0) throw new Error('no result');
  return (TIMES * list.length * 1000) / tookMs;
}
