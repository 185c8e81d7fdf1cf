/** Speeds in metres per second, and poses per second. */
const SPEEDS = [0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.35, 0.5, 0.7, 1];
const RATES = [1, 10];
const TRIALS = 100;
/** Of robots that drive on: fewer, since each drives to its goal. */
const DISHONEST = 10;
/** From when the way is no noise, to the alarm. */
const [NOISE_M, ALARM_MS] = [0.05, 3_000];
const MIN_VERIFIED = 0.95;

export default {
  title:
    'Stop trials of generated robots with noise of 1 cm, judged from their poses, against the earlier rule of the same poses: 0.8 s within 3 cm of their median',
  async run() {
    const { conductStopTrial } = await import('../../test/motion/trial/generated-robot.ts');
    const table = ['speed   poses   stops: verified   drives on: verified, alarm within   earlier rule verified'];
    const total = { stopped: 0, verified: 0, worst: 1, alarms: 0, lies: 0, believed: 0, alarmed: 0, earlier: 0 };
    for (const hz of RATES) {
      for (const speedMS of SPEEDS) {
        // At one pose per second a fast robot needs a longer way.
        const robot = { speedMS, hz, distanceM: hz === 1 && speedMS > 0.5 ? 2 : 1 };
        let [verified, believed, earlier, slowestMs] = [0, 0, 0, 0];
        for (let seed = 0; seed < TRIALS; seed += 1) {
          const { ended, alarm } = await conductStopTrial({ ...robot, deed: 'obeys', seed });
          if (ended.outcome === 'verified') verified += 1;
          if (alarm !== null) total.alarms += 1;
        }
        for (let seed = 0; seed < DISHONEST; seed += 1) {
          for (const deed of ['ignores', 'lies']) {
            const conducted = await conductStopTrial({ ...robot, deed, seed });
            const afterMs = (conducted.alarm?.atMs ?? Number.POSITIVE_INFINITY) - conducted.exceededAtMs(NOISE_M);
            slowestMs = Math.max(slowestMs, afterMs);
            if (afterMs <= ALARM_MS) total.alarmed += 1;
            if (conducted.ended.outcome === 'verified') believed += 1;
            if (earlierRule(conducted)) earlier += 1;
          }
        }
        total.stopped += TRIALS;
        total.verified += verified;
        total.worst = Math.min(total.worst, verified / TRIALS);
        total.lies += 2 * DISHONEST;
        total.believed += believed;
        total.earlier += earlier;
        const of = 2 * DISHONEST;
        table.push(
          `${speedMS.toFixed(2)}    ${String(hz).padStart(3)}/s   ${`${verified} of ${TRIALS}`.padStart(10)}        ${`${believed} of ${of}`.padStart(8)}  ${(slowestMs / 1_000).toFixed(1).padStart(5)} s            ${`${earlier} of ${of}`.padStart(8)}`,
        );
      }
    }
    const ratio = total.earlier === 0 ? 0 : total.believed / total.earlier;
    return {
      table,
      rows: [],
      figures: [
        {
          name: 'robots that stop, verified',
          value: `${total.verified} of ${total.stopped}`,
          target: `at least ${MIN_VERIFIED * 100} of 100 at each speed`,
          holds: total.worst >= MIN_VERIFIED,
        },
        {
          name: 'robots that stop, alarms',
          value: `${total.alarms} of ${total.stopped}`,
          target: 'at most 1 %',
          holds: total.alarms <= total.stopped / 100,
        },
        {
          name: 'robots that drive on, alarms',
          value: `${total.alarmed} of ${total.lies}`,
          target: `all within ${ALARM_MS / 1_000} s`,
          holds: total.alarmed === total.lies,
        },
        {
          name: 'believed / by the earlier rule',
          value: `${ratio.toFixed(2)} × (${total.believed} / ${total.earlier})`,
          target: '0 ×, the earlier rule believes some',
          holds: total.believed === 0 && total.earlier > 0,
        },
      ],
    };
  },
};

/** Whether the earlier rule finds a robot at rest within 3 s of its cancel, no more than 0.3 m on, short of its goal. */
function earlierRule({ report, cancelAtMs }) {
  const { xM: goalX, yM: goalY } = report.order.goal.value;
  const poses = report.samples.poses.filter(({ atMs }) => atMs >= cancelAtMs);
  for (const [at, from] of poses.entries()) {
    if (from.atMs - cancelAtMs > 3_000) return false;
    const next = poses.findIndex(({ atMs }) => atMs >= from.atMs + 800);
    if (next < 0) return false;
    // Three poses at least, however seldom they arrive.
    const window = poses.slice(at, Math.max(next + 1, at + 3));
    const middle = { xM: median(window.map(({ xM }) => xM)), yM: median(window.map(({ yM }) => yM)) };
    const drift = Math.max(...window.map(({ xM, yM }) => Math.hypot(xM - middle.xM, yM - middle.yM)));
    const wayM = Math.hypot(middle.xM - poses[0].xM, middle.yM - poses[0].yM);
    if (drift <= 0.03) return wayM <= 0.3 && Math.hypot(middle.xM - goalX, middle.yM - goalY) >= 0.2;
  }
  return false;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
