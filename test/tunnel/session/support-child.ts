// Runs a support session until it is killed, with a program in place of the proxy.
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createSupport } from '../../../src/lib/tunnel/session/index.ts';
import { until } from '../../waiting.ts';
import { siteOf, TOKEN } from './support-site.ts';

const [dir = '', program = '[]'] = process.argv.slice(2);
const support = createSupport({
  site: siteOf(dir),
  clock: systemClock,
  log: silentLog,
  program: JSON.parse(program),
  sendRecord: async () => {},
});
await support.start({ signal: new AbortController().signal, fail() {} });
const services = ['web'];
support.offer({ clientAccessToken: TOKEN, clientMode: 'destination', region: 'eu-central-1', services }, false);
await until(
  () => support.view().running?.state,
  (state) => state === 'connected',
);
process.stdout.write('running\n');
