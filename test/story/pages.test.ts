import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openStopPlace, stopTheRobot } from '../../src/lib/toolkit/motion/stop.ts';
import { context, type Story, startStory } from './story.ts';

let story: Story;

beforeAll(async () => {
  story = await startStory();
  await story.startGateway();
});
afterAll(() => story?.[Symbol.asyncDispose]());

async function state(): Promise<PageState> {
  const html = await story.page('/');
  return JSON.parse(/<script id="page-state"[^>]*>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '').state;
}

/** The headlines that people see while this time passes, each once. */
async function headlines(ms: number): Promise<string[]> {
  const seen = new Set<string>();
  for (let passed = 0; passed < ms; passed += 100) {
    const { headline } = await state();
    seen.add(`${headline.level} ${headline.code}`);
    await story.clock.advance(100);
  }
  return [...seen];
}

const order = (path: string, body: object) => story.operator(path, { method: 'POST', body });
const isReady = () => story.until(state, ({ headline }) => headline.code === 'ready');
const drives = () =>
  story.until(
    () => story.sim.state().speedMS,
    (speedMS) => speedMS > 0.3,
  );

describe('what people see of a robot that drives', () => {
  it('is calm from the order to the end of a normal drive', async () => {
    await isReady();
    await order('/api/fahrt', { station: 'A' });
    expect(await headlines(15_000)).toEqual(['good drives', 'good ready']);
  });

  it('comes to rest where a person ends or pauses it, which is no fault', async () => {
    await isReady();
    await order('/api/fahrt', { station: 'C' });
    await drives();
    await order('/api/fahrt/ende', {});
    expect(await headlines(10_000)).toEqual(['attention comes-to-rest', 'good ready']);
    await order('/api/touren/lauf', { tour: 'demo' });
    await drives();
    await order('/api/touren/lauf/pause', {});
    expect(await headlines(10_000)).toEqual(['attention comes-to-rest', 'attention paused']);
    await order('/api/fahrt/ende', {});
    await isReady();
  });

  it('is the failure of its drive until a person has seen it, with how far off it stands; so says its incident', async () => {
    await isReady();
    await story.fault('misses', true);
    await order('/api/fahrt', { station: 'C' });
    const failed = await story.until(state, ({ run }) => run?.state === 'failed');
    expect(failed.headline).toMatchObject({ level: 'attention', code: 'failed' });
    const { offM = null } = failed.run?.failure ?? {};
    expect(failed.failed?.failure).toMatchObject({ cause: 'missed', offM });
    expect(offM).toBeGreaterThan(0.3);
    expect(await headlines(60_000)).toEqual(['attention failed']);
    const { incidents } = (await story.operator('/api/vorfaelle')) as { incidents: { causes: object[] }[] };
    expect(incidents[0]?.causes[0]).toMatchObject({ code: 'move-failed', name: 'C', offM });
    await story.fault('misses', false);
    // A later drive that arrives, and a restart of the gateway, are no person who has seen it.
    await order('/api/fahrt', { station: 'A' });
    expect(await headlines(15_000)).toEqual(['attention drives', 'attention failed']);
    await story.stopGateway();
    await story.startGateway();
    const { failed: kept } = await story.until(state, ({ headline }) => headline.code === 'failed');
    expect(kept).toEqual(failed.failed);
    expect(await order('/api/fahrt/gesehen', { id: kept?.id ?? '' })).toEqual({ seen: true, saved: true });
    expect(await headlines(1_000)).toEqual(['good ready']);
  });

  it('is a failed drive where the gateway ended on the way', async () => {
    await isReady();
    await order('/api/fahrt', { station: 'B' });
    await drives();
    await story.stopGateway();
    await story.startGateway();
    const { failed } = await story.until(state, ({ headline }) => headline.code === 'failed');
    expect(failed).toMatchObject({ name: 'B', earlier: 0 });
    await order('/api/fahrt/gesehen', { id: failed?.id ?? '' });
    await isReady();
  });

  it('is stopped from STOPPED on, also with the noise of a real localisation', async () => {
    await story.fault('noisy-pose', true);
    await isReady();
    for (const station of ['C', 'B', 'A']) {
      await order('/api/fahrt', { station });
      await drives();
      const { place } = await openStopPlace({ sitePath: story.sitePath }, undefined);
      const stopped = await story.during(
        stopTheRobot({ ...place, clock: story.clock }, { reason: 'drill', timeoutMs: 10_000 }, context()),
      );
      expect(stopped.standstill).toBe('stands');
      const seen = await headlines(10_000);
      expect(seen).not.toContain('bad standing-not-known');
      expect(seen[0]).toBe('bad stopped');
      await story.during(clearStop(await story.toolkit(), {}, context()));
      // A stop that a person has cleared is no failure of the drive that it ended.
      expect(await headlines(3_000)).not.toContain('attention failed');
      await isReady();
    }
  });
});
