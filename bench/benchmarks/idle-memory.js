import { setTimeout as sleep } from 'node:timers/promises';
import { median, residentMb, startChild } from '../measure.js';
import { startServe, startSimulator } from '../robot.js';

const bareServer = "require('node:http').createServer((q,s)=>s.end()).listen(0,'127.0.0.1',()=>console.log('ready'))";
const SETTLE_MS = 5_000;
const SAMPLES = 10;

export default {
  title: 'Idle resident memory: gw serve connected to a reporting chassis, against a bare Node http server',
  async run() {
    await using robot = await startSimulator();
    await using serve = await startServe(robot.dir);
    await using peer = await startChild(process.execPath, ['-e', bareServer], (line) => line === 'ready');
    await sleep(SETTLE_MS);
    const ours = [];
    const bare = [];
    for (let i = 0; i < SAMPLES; i += 1) {
      ours.push(residentMb(serve.pid));
      bare.push(residentMb(peer.pid));
      await sleep(500);
    }
    return {
      rows: [
        { name: 'gw serve', median: median(ours), unit: 'MB', samples: ours },
        { name: 'bare http server', median: median(bare), unit: 'MB', samples: bare },
      ],
      figures: [
        {
          name: 'gw serve idle',
          value: `${median(ours).toFixed(0)} MB`,
          target: 'at most 110 MB',
          holds: median(ours) <= 110,
        },
        {
          name: 'gw serve / bare server',
          value: `${(median(ours) / median(bare)).toFixed(2)} ×`,
          target: 'none, for scale',
          holds: true,
        },
      ],
    };
  },
};
