import { describe, expect, it } from 'vitest';
import type { CloudView } from '../../src/lib/cloud/index.ts';
import { noCloud, watchCloud } from '../../src/lib/gateway/cloud.ts';
import { connectedView, lostView } from '../cloud/views.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

function watching(first: CloudView) {
  const clock = createFakeClock();
  let view = first;
  const health = watchCloud(() => view, clock);
  const set = (next: CloudView) => {
    view = next;
  };
  return { clock, health, set };
}

describe('the cloud in the health of the gateway', () => {
  it.each<[string, CloudView]>([
    ['without a cloud in the site file', noCloud],
    ['before the enrolment', { ...noCloud, status: 'not-enrolled' }],
    ['while it is connected', connectedView],
  ])('is not down %s, however long', async (_what, view) => {
    const { clock, health } = watching(view);
    await clock.advance(600_000);
    expect(health.isDown()).toBe(false);
    expect(health.view()).toEqual({ status: view.status, detail: view.detail });
  });

  it.each<[string, CloudView]>([
    ['not connected', lostView],
    ['not checked', { ...lostView, status: 'not-checked' }],
  ])('is down after it was %s for a minute, also without a read meanwhile', async (_what, view) => {
    const { clock, health } = watching(view);
    await clock.advance(59_000);
    expect(health.isDown()).toBe(false);
    await clock.advance(1_000);
    expect(health.isDown()).toBe(true);
  });

  it('counts anew after a connection between two questions', async () => {
    const { clock, health, set } = watching(lostView);
    await clock.advance(50_000);
    set(connectedView);
    await clock.advance(5_000);
    set(lostView);
    await clock.advance(30_000);
    expect(health.isDown()).toBe(false);
    await clock.advance(35_000);
    expect(health.isDown()).toBe(true);
    set(connectedView);
    expect(health.isDown()).toBe(false);
  });

  it('is down at once while a stop from there is not saved', () => {
    const { health, set } = watching(connectedView);
    set({ ...connectedView, received: connectedView.received && { ...connectedView.received, unsavedStops: 1 } });
    expect(health.isDown()).toBe(true);
    set(connectedView);
    expect(health.isDown()).toBe(false);
  });

  it('leaves no timer behind', () => {
    const { clock, health } = watching(lostView);
    health[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});
