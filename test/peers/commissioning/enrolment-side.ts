import { createHash } from 'node:crypto';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { restoreCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { startEnrolment } from '../../../src/lib/sim/cloud/enrolment.ts';
import { createRelay } from './relay.ts';

// The enrolment endpoint of the operator in its namespace. Prints its one-time codes, and after every connection the
// number of distinct keys so far.

let text = '';
for await (const chunk of process.stdin) text += String(chunk);
const { host, authority, broker, serial, codes } = JSON.parse(text);
const endpoint = await startEnrolment({
  ca: restoreCa(authority),
  clock: systemClock,
  faults: { is: () => false },
  broker,
  region: 'eu-central-1',
  names: [host],
});
const relay = createRelay({ host, port: 443 }, Number(new URL(endpoint.url).port), () => {
  const posts = endpoint.requests().filter(({ method }) => method === 'POST');
  const requests = posts.map(({ body }) => String(JSON.parse(body).certificateRequest));
  const keys = new Set(requests.map((request) => createHash('sha256').update(request).digest('hex')));
  console.log(`asked ${requests.length} times with ${keys.size} keys`);
});
await relay.open();
console.log(`codes ${Array.from({ length: codes }, () => endpoint.newCode(serial)).join(' ')}`);
console.log('ready');
