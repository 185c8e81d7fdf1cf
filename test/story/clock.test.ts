import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { listening } from '../listening.ts';
import { type Story, startStory } from './story.ts';

interface Health {
  readonly status: string;
  readonly clock: { readonly status: string; readonly behindMs: number | null; readonly jumps: number };
}
interface Tours {
  readonly gate: { readonly open: boolean };
}

let story: Story;
let servers = new AsyncDisposableStack();
afterEach(async () => {
  await story?.[Symbol.asyncDispose]();
  await servers.disposeAsync();
  servers = new AsyncDisposableStack();
});

const clock = async () => ((await story.operator('/api/health')) as Health).clock;
const isGateOpen = async () => ((await story.operator('/api/touren')) as Tours).gate.open;

/** An https server that knows the time, whatever the clock of the gateway says. */
async function timeServer(authority: Awaited<ReturnType<typeof createCa>>, host: string, now: () => Date) {
  const { keyPem: key, certificatePem: cert } = await authority.issueServer({ names: [host] });
  const server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nDate: ${now().toUTCString()}\r\n\r\n`));
  });
  const { port } = servers.use(await listening(server, 0, host));
  return `https://${host}:${port}`;
}

test('a gateway whose clock is wrong says so by two endpoints, may drive and stops as before, and trusts no comparison of before it was set', async () => {
  story = await startStory();
  const apartMs = story.clock.wall().getTime() - story.clock.monotonicMs();
  const now = () => new Date(story.clock.monotonicMs() + apartMs);
  const authority = await createCa();
  const urls = [await timeServer(authority, '127.0.0.2', now), await timeServer(authority, '127.0.0.3', now)];
  writeFileSync(join(story.dir, 'time-ca.pem'), authority.caPem);
  appendFileSync(story.sitePath, `time: { caFile: time-ca.pem, urls: ${JSON.stringify(urls)} }\n`);
  await story.startGateway();
  await story.until(isGateOpen, (open) => open);

  story.clock.setWall(new Date(story.clock.wall().getTime() - 3_600_000));
  const wrong = await story.until(clock, ({ status }) => status === 'wrong');
  expect(wrong.jumps).toBe(1);
  expect(Math.abs((wrong.behindMs ?? 0) - 3_600_000)).toBeLessThan(2_000);
  expect(await story.operator('/api/health')).toMatchObject({ status: 'degraded' });
  expect(await story.page('/service')).toContain('FALSCH: Zertifikate und Aufzeichnungen');
  expect(await isGateOpen()).toBe(true);
  expect(await story.operator('/api/stopp', { method: 'POST', body: {} })).toMatchObject({ stop: { latched: true } });

  story.clock.setWall(now());
  expect(await clock()).toMatchObject({ status: 'not-checked', behindMs: null, jumps: 2 });
});
