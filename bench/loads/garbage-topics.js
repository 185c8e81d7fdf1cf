const garbage = [
  'topic=/tracked_pose;ori=90',
  '{"topic":"/tracked_pose","pos":[1,2],"ori":',
  '{"topic":"/tracked_pose","pos":["1","2"],"ori":"x"}',
  `{"topic":"/${'n'.repeat(60)}"}`,
  'null',
];
const CHUNK_BYTES = 256 * 1024;

/** Text frames that are not topic messages, of the kinds that take longest to reject. */
export default {
  name: 'garbage-topics',
  title: 'the chassis sends text that is not a topic message, as fast as possible',
  chassis: {
    frames() {
      const frames = [];
      for (let bytes = 0; bytes < CHUNK_BYTES; ) {
        const text = Buffer.from(garbage[frames.length % garbage.length]);
        const frame = Buffer.concat([Buffer.from([0x81, text.length]), text]);
        frames.push(frame);
        bytes += frame.length;
      }
      return Buffer.concat(frames);
    },
  },
  // The attack comes from the chassis.
  attack: () => ({ counts: {}, stop() {} }),
};
