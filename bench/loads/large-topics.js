const BYTES = 15 * 1024 * 1024;

/** Topic messages of nearly the maximum size, each with five million empty objects. */
export default {
  name: 'large-topics',
  title: 'the chassis sends topic messages of 15 MiB, as fast as possible',
  chassis: {
    frames() {
      const objects = Math.floor(BYTES / 3);
      const text = Buffer.from(`{"topic":"/tracked_pose","pos":[1,2],"ori":0,"x":[${'{},'.repeat(objects - 1)}{}]}`);
      const head = Buffer.alloc(10);
      head[0] = 0x81;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(text.length), 2);
      return Buffer.concat([head, text]);
    },
  },
  // The attack comes from the chassis.
  attack: () => ({ counts: {}, stop() {} }),
};
