import { median, startChild } from '../measure.js';
import { startServe, startSimulator } from '../robot.js';

const bareServer = "require('node:http').createServer((q,s)=>s.end()).listen(0,'127.0.0.1',()=>console.log('ready'))";

export default {
  title: 'From spawn to `ready`: gw serve against a bare node http server',
  async run() {
    await using robot = await startSimulator();
    const ours = [];
    const bare = [];
    for (let run = -1; run < 9; run += 1) {
      {
        await using serve = await startServe(robot.dir);
        if (run >= 0) ours.push(serve.readyMs);
      }
      await using peer = await startChild(process.execPath, ['-e', bareServer], (line) => line === 'ready');
      if (run >= 0) bare.push(peer.readyMs);
    }
    return {
      rows: [
        { name: 'gw serve', median: median(ours), unit: 'ms', samples: ours },
        { name: 'bare http server', median: median(bare), unit: 'ms', samples: bare },
      ],
      figures: [
        {
          name: 'gw serve ready',
          value: `${(median(ours) / 1000).toFixed(2)} s`,
          target: 'within 1.0 s',
          holds: median(ours) <= 1000,
        },
        {
          name: 'gw serve / bare server',
          value: `${(median(ours) / median(bare)).toFixed(1)} ×`,
          target: 'none, for scale',
          holds: true,
        },
      ],
    };
  },
};
