import { execFileSync } from 'node:child_process';
import { startTablet } from '../../../src/lib/sim/index.ts';
import { createRelay } from './relay.ts';

// The tablet in its namespace; its address in the robot segment refuses while its own port is closed. On SIGUSR2
// debugging over TCP is switched on at the tablet; it prints how often the port was opened again. While it
// restarts its WLAN is disconnected, as on a real one.

const [host = '', range = '', serial] = process.argv.slice(2);
const tablet = await startTablet({
  port: 5555,
  ...(serial !== undefined && { identity: { serial } }),
  rebootMs: 600,
  wlan: { address: `${host}/${range}`, ssid: 'gw-robots' },
  onPort: (port) => void moved(port),
});
const relay = createRelay({ host, port: 5555 }, tablet.port);
await relay.open();
process.on('SIGUSR2', () => void tablet.openPort());
// A tablet with a closed port is still reachable.
setInterval(() => {}, 60_000);
let opened = 0;
let isAway = false;
console.log('ready');

async function moved(port: number | null): Promise<void> {
  if (port === null) {
    relay.close();
    if (tablet.state().phase === 'restarting') loseWlan();
    return;
  }
  await relay.open();
  opened += 1;
  console.log(`opened ${opened}`);
}

/** Some time after the order, so that its answer is still received. */
function loseWlan(): void {
  if (isAway) return;
  isAway = true;
  const link = (state: 'up' | 'down') => execFileSync('ip', ['link', 'set', 'eth0', state]);
  setTimeout(() => link('down'), 300);
  setTimeout(() => {
    link('up');
    isAway = false;
  }, 4_000);
}
