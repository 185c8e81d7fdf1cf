// The stop latch and the cloud module of a robot, until it is killed. With `full` its state folder is a full file system
// of its own. Each line of input is a person on site who clears the stop.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createCloud } from '../../src/lib/cloud/cloud.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';
import { createStopLatch } from '../../src/lib/motion/latch/stop-latch.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';

const [stateDir = '', port = '', identityFile = '', disk = ''] = process.argv.slice(2);
const identity = JSON.parse(readFileSync(identityFile, 'utf8'));
if (disk === 'full') {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', stateDir]);
  try {
    for (let file = 0; ; file += 1) writeFileSync(`${stateDir}/filler-${file}`, 'x'.repeat(4_096));
  } catch {
    // It is full now.
  }
}

const { cloud, ...site } = parseSite(
  `name: Lobby
chassis: { host: 127.0.0.1, serial: ${identity.serial} }
cloud: { mqtt: { host: 127.0.0.1, port: ${port}, fallbackPort: 1, alpn: x-mqtt-ca } }
`,
  `${stateDir}/site.yaml`,
);
if (cloud === undefined) throw new Error('no cloud');
const latch = createStopLatch({ stateDir, clock: systemClock, log: silentLog, onChange() {} });
await latch.load();
latch.watch();
const module = createCloud({
  site: { ...site, stateDir, cloud },
  readIdentity: async () => identity,
  dialer: directDialer,
  clock: systemClock,
  log: silentLog,
  version: '1.2.3',
  launched: null,
  onStop({ id }) {
    void latch.set(id ?? 'no id', 'cloud');
    process.stdout.write(`stopped ${id}\n`);
    return latch.untilSaved();
  },
  onTunnelNotification() {},
  telemetry: () => ({}),
  faults: () => ({ present: [], unchecked: [] }),
  shadow: () => ({}),
  isMoving: () => false,
  releaseHealth: () => ({ isHealthy: true, missing: null }),
  restart() {},
});
await module.start({ signal: new AbortController().signal, fail() {} });
process.stdin.on('data', () => {
  void latch.clear().then(({ latched }) => process.stdout.write(`latched: ${latched}\n`));
});
setInterval(() => {
  const { status, received } = module.view();
  process.stdout.write(`${status}, ${received?.unsavedStops} not saved, ${received?.discarded.duplicate} repeated\n`);
}, 100);
