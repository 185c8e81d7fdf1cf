import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeliveryView } from '../../src/lib/delivery/index.ts';
import { listDeliveries } from '../../src/lib/toolkit/gateway/deliveries.ts';
import { context, type Story, startStory } from './story.ts';

let story: Story;
type Answer = { readonly delivery: DeliveryView; readonly error?: { readonly code: string } };
const post = (path: string, body: object = {}) => story.operator(path, { method: 'POST', body }) as Promise<Answer>;
const read = async () => ((await story.operator('/api/lieferung')) as Answer).delivery;
const drive = () =>
  story.operator('/api/fahrt') as Promise<{
    readonly run: { station: string | null; state: string; by?: string } | null;
  }>;
const moves = async () => ((await story.chassis('GET', '/chassis/moves')) as object[]).length;

/** Time passes, with a page that shows each countdown, until this holds. */
const shownUntil = (holds: (view: DeliveryView) => boolean) =>
  story.until(async () => {
    const view = await read();
    if (view.countdown !== null) await post('/api/lieferung/ansage', { id: view.countdown.id });
    return view;
  }, holds);

/** As by the `move` trial: what begins by itself relies on nothing that was measured elsewhere alone. */
async function verifyAngles(): Promise<void> {
  const path = join(story.dir, 'evidence.jsonl');
  const record = JSON.parse((await readFile(path, 'utf8')).split('\n')[0] ?? '') as object;
  for (const [fact, value] of Object.entries({
    'angles.tracked-pose-ori': 'degrees',
    'angles.target-ori': 'radians',
  })) {
    await appendFile(path, `${JSON.stringify({ ...record, fact, value })}\n`);
  }
}

beforeAll(async () => {
  story = await startStory();
  await verifyAngles();
  await appendFile(
    story.sitePath,
    'delivery:\n  nextAfterSeconds: 10\n  return: { afterMinutes: 1 }\n  idle: { afterMinutes: 1 }\n  countdownSeconds: 10\n',
  );
  await story.startGateway();
  await story.until(
    () =>
      story.operator('/api/touren') as Promise<{
        readonly gate: { readonly open: boolean; readonly reasons: readonly string[] };
      }>,
    ({ gate }) => gate.open,
  );
});
afterAll(() => story?.[Symbol.asyncDispose]());

it('a delivery arrives, the next one of the queue begins as announced, the robot returns, and a stop holds it', async () => {
  // A gateway that has just started moves nothing by itself.
  expect((await read()).hold?.cause).toBe('restart');
  expect((await post('/api/lieferung/warteschlange', { station: 'B' })).error?.code).toBe('QUEUE_CLOSED');
  await post('/api/lieferung/automatik');
  await post('/api/fahrt', { station: 'A' });
  expect((await post('/api/lieferung/warteschlange', { station: 'B' })).delivery.queue).toMatchObject([
    { station: 'B' },
  ]);
  await story.until(read, ({ arrival }) => arrival?.station === 'A');

  const announced = await shownUntil(({ countdown }) => countdown !== null);
  expect(announced.countdown).toMatchObject({ kind: 'next', station: 'B' });
  await shownUntil(({ arrival }) => arrival === null);
  expect((await drive()).run).toMatchObject({ station: 'B', by: 'itself', state: 'running' });
  await story.until(read, ({ arrival }) => arrival?.station === 'B');

  // Nobody takes it: the countdown of the return is ended by a touch, and nothing moves until a person says so.
  const before = await moves();
  const back = await shownUntil(({ countdown }) => countdown?.kind === 'return');
  expect(await post('/api/lieferung/ansage/ende', { id: back.countdown?.id })).toMatchObject({ ended: true });
  expect((await read()).hold?.cause).toBe('person');
  const heldFromMs = story.clock.monotonicMs();
  await shownUntil(() => story.clock.monotonicMs() - heldFromMs > 120_000);
  expect(await moves()).toBe(before);

  await post('/api/lieferung/automatik');
  await shownUntil(({ arrival }) => arrival === null);
  expect((await drive()).run).toMatchObject({ station: null, by: 'itself', state: 'running' });

  const listed = await story.during(listDeliveries(await story.toolkit(), { since: '1d' }, context()));
  expect(listed.deliveries.map(({ kind, name, by, result }) => [kind, name, by, result])).toEqual([
    ['dock', null, 'itself', 'running'],
    ['drive', 'B', 'itself', 'succeeded'],
    ['drive', 'A', 'page', 'succeeded'],
  ]);

  // STOP on the way: it is held, also when the stop is cleared.
  await post('/api/stopp', { reason: 'drill' });
  expect(await read()).toMatchObject({ hold: { cause: 'stop' }, queue: [], isOpen: false });
  expect((await post('/api/lieferung/automatik')).error?.code).toBe('MOTION_STOPPED');
});
