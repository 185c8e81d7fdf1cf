import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gw, median, residentMb, startChild } from '../measure.js';
import { startServe, startSimulator } from '../robot.js';

const bareServer = "require('node:http').createServer((q,s)=>s.end()).listen(0,'127.0.0.1',()=>console.log('ready'))";
/** By then it has done what it does each minute. */
const SETTLE_MS = 70_000;
const SAMPLES = 10;
const CONNECTED_WITHIN_MS = 15_000;

/** An enrolled robot with its simulated cloud, and a gateway that is connected to it. */
async function startLinked() {
  await using undo = new AsyncDisposableStack();
  const robot = undo.use(await startSimulator(['--with', 'enrolment,cloud']));
  const site = join(robot.dir, 'site.yaml');
  // The default interval: the simulator writes a shorter one.
  writeFileSync(site, readFileSync(site, 'utf8').replace('telemetryS: 1', 'telemetryS: 10'));
  const code = join(robot.dir, 'secrets', 'enrolment-code.txt');
  execFileSync(process.execPath, [gw, 'enrol', '--site', site, '--code-file', code], { stdio: 'ignore' });
  const serve = undo.use(await startServe(robot.dir));
  const began = performance.now();
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${robot.operatorPort}/api/cloud`);
    if ((await answer.json()).status === 'connected') break;
    if (performance.now() - began > CONNECTED_WITHIN_MS) throw new Error('the gateway is not connected to the cloud');
    await sleep(100);
  }
  const running = undo.move();
  return { pid: serve.pid, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function samplesOf(...pids) {
  await sleep(SETTLE_MS);
  const samples = pids.map(() => []);
  for (let i = 0; i < SAMPLES; i += 1) {
    for (const [index, pid] of pids.entries()) samples[index].push(residentMb(pid));
    await sleep(500);
  }
  return samples;
}

export default {
  title:
    'Idle resident memory: gw serve connected to a reporting chassis, and to the cloud as well, against a bare Node http server',
  async run() {
    const measured = {};
    {
      await using robot = await startSimulator();
      await using serve = await startServe(robot.dir);
      await using peer = await startChild(process.execPath, ['-e', bareServer], (line) => line === 'ready');
      [measured.ours, measured.bare] = await samplesOf(serve.pid, peer.pid);
    }
    {
      await using linked = await startLinked();
      [measured.linked] = await samplesOf(linked.pid);
    }
    const { ours, bare, linked } = measured;
    const atMost = (name, samples, mb) => ({
      name,
      value: `${median(samples).toFixed(0)} MB`,
      target: `at most ${mb} MB`,
      holds: median(samples) <= mb,
    });
    return {
      rows: [
        { name: 'gw serve', median: median(ours), unit: 'MB', samples: ours },
        { name: 'gw serve with the cloud link', median: median(linked), unit: 'MB', samples: linked },
        { name: 'bare http server', median: median(bare), unit: 'MB', samples: bare },
      ],
      figures: [
        atMost('gw serve idle', ours, 110),
        atMost('gw serve idle with the cloud link', linked, 130),
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
