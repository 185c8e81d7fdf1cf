import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { signInPage, unknownPage, type Viewer } from '../../src/lib/pages/index.ts';
import { Service } from '../../src/lib/pages/service/service.tsx';
import { NotStopped } from '../../src/lib/pages/stop/not-stopped.tsx';
import { createStopIntent, type KeptStop, type StopAnswer } from '../../src/lib/pages/stop/stop-intent.ts';
import { Surface } from '../../src/lib/pages/surface/surface.tsx';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { type Interaction, type StopProgress, still } from '../../src/lib/pages/ui.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { latched, ready } from './states.ts';

const acknowledged: StopAnswer = { latched: true, saved: true, robot: 'SN-1' };

/** A page whose gateway answers as the test says: null as a refused connection does, 'hangs' for two seconds. */
function pageWith(answer: () => StopAnswer | null | 'hangs') {
  const clock = createFakeClock();
  const attempts: number[] = [];
  const shown: (StopProgress | null)[] = [];
  let kept: KeptStop | null = null;
  const beganMs = clock.monotonicMs();
  const intent = createStopIntent({
    async send() {
      attempts.push(clock.monotonicMs() - beganMs);
      const given = answer();
      if (given !== 'hangs') return given;
      await clock.sleep(2_000);
      return null;
    },
    nowMs: clock.monotonicMs,
    after(ms, fn) {
      const timer = clock.after(ms, fn);
      return () => timer[Symbol.dispose]();
    },
    keep: (value) => {
      kept = value;
    },
    show: (progress) => void shown.push(progress),
  });
  return { clock, attempts, shown, intent, kept: () => kept, last: () => shown.at(-1) };
}

describe('a stop that was pressed on a page', () => {
  it('is sent at once, and sent again only without an answer', async () => {
    const page = pageWith(() => acknowledged);
    page.intent.press('SN-1');
    expect(page.last()).toMatchObject({ acknowledgedAfterMs: null, unansweredForMs: null });
    await page.clock.advance(60_000);
    expect(page.attempts).toEqual([0]);
    expect(page.last()).toMatchObject({ acknowledgedAfterMs: 0, saved: true, unansweredForMs: null });
    expect([page.kept(), page.clock.pending]).toEqual([null, 0]);
  });

  it.each([10_000, 40_000, 3_600_000])('is sent until the gateway is back, after %d ms too', async (awayMs) => {
    let isBack = false;
    const page = pageWith(() => (isBack ? acknowledged : null));
    page.intent.press('SN-1');
    await page.clock.advance(0);
    expect(page.last()?.unansweredForMs).toBe(0);
    await page.clock.advance(awayMs);
    // Twice a second, for all of the time, and it says each second that it was not answered.
    expect(page.attempts.length).toBe(awayMs / 500 + 1);
    const seconds = page.shown.map((progress) => Math.floor((progress?.unansweredForMs ?? Number.NaN) / 1_000));
    expect(new Set(seconds.filter(Number.isInteger)).size).toBe(awayMs / 1_000 + 1);
    expect(page.shown.slice(1).every((progress) => typeof progress?.unansweredForMs === 'number')).toBe(true);
    isBack = true;
    await page.clock.advance(500);
    expect(page.last()).toMatchObject({ acknowledgedAfterMs: awayMs + 500, unansweredForMs: null });
  });

  it('is said not to be carried out after a second without an answer', async () => {
    const page = pageWith(() => 'hangs');
    page.intent.press('SN-1');
    await page.clock.advance(999);
    expect(page.last()?.unansweredForMs).toBeNull();
    await page.clock.advance(1);
    expect(page.last()?.unansweredForMs).toBe(1_000);
    await page.clock.advance(9_000);
    expect(page.attempts).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000]);
  });

  it.each<[string, StopAnswer]>([
    ['that nothing is latched', { ...acknowledged, latched: false }],
    ['for another robot, which is at this address now', { ...acknowledged, robot: 'SN-2' }],
  ])('is not answered by one %s', async (_, answer) => {
    const page = pageWith(() => answer);
    page.intent.press('SN-1');
    await page.clock.advance(1_500);
    expect(page.attempts).toEqual([0, 500, 1_000, 1_500]);
    expect(page.last()).toMatchObject({ acknowledgedAfterMs: null, unansweredForMs: 1_500 });
  });

  it.each<[string, string | null, StopAnswer]>([
    ['any robot on a page that shows none', null, acknowledged],
    ['a gateway of an earlier version, which does not name its robot', 'SN-1', { ...acknowledged, robot: null }],
  ])('counts for %s', async (_, robot, answer) => {
    const page = pageWith(() => answer);
    page.intent.press(robot);
    await page.clock.advance(0);
    expect(page.last()?.acknowledgedAfterMs).toBe(0);
  });

  it('pressed again makes the next attempt at once, and stays one stop', async () => {
    const page = pageWith(() => null);
    page.intent.press('SN-1');
    await page.clock.advance(100);
    page.intent.press('SN-1');
    await page.clock.advance(0);
    expect(page.attempts).toEqual([0, 100]);
    await page.clock.advance(1_000);
    expect(page.attempts).toEqual([0, 100, 600, 1_100]);
    expect(page.last()?.unansweredForMs).toBe(1_100);
  });

  it('ends when a person gives up, also while an attempt is under way', async () => {
    const page = pageWith(() => 'hangs');
    page.intent.press('SN-1');
    await page.clock.advance(3_000);
    page.intent.giveUp();
    expect([page.last(), page.kept()]).toEqual([null, null]);
    const { length } = page.shown;
    await page.clock.advance(60_000);
    expect([page.attempts, page.shown.length, page.clock.pending]).toEqual([[0, 2_000], length, 0]);
  });

  it('is answered too late for a person who has given up: nothing is shown of it', async () => {
    const answer = Promise.withResolvers<StopAnswer>();
    const page = pageWith(() => answer.promise as never);
    page.intent.press('SN-1');
    await page.clock.advance(2_000);
    page.intent.giveUp();
    answer.resolve(acknowledged);
    await page.clock.advance(2_000);
    expect(page.last()).toBeNull();
  });

  it('outlives a reload, with its robot and since when', async () => {
    const before = pageWith(() => null);
    before.intent.press('SN-1');
    const kept = before.kept();
    expect(kept).toEqual({ pressedForMs: 0, robot: 'SN-1' });
    let robot = 'SN-2';
    const page = pageWith(() => ({ ...acknowledged, robot }));
    page.intent.resume({ pressedForMs: 7_000, robot: 'SN-1' });
    // At once: the page was loaded after the stop.
    expect(page.last()?.unansweredForMs).toBe(7_000);
    expect(page.kept()).toEqual({ pressedForMs: 7_000, robot: 'SN-1' });
    await page.clock.advance(1_000);
    expect(page.last()?.acknowledgedAfterMs).toBeNull();
    robot = 'SN-1';
    await page.clock.advance(500);
    expect(page.last()?.acknowledgedAfterMs).toBe(8_500);
    expect(page.kept()).toBeNull();
  });
});

describe('the states after a stop', () => {
  const moving = { ...latched, stop: { ...latched.stop, state: 'moves', saved: 'pending' } } as const;

  it('show nothing of one that is not answered', () => {
    const page = pageWith(() => null);
    page.intent.press('SN-1');
    const { length } = page.shown;
    page.intent.onState(ready);
    page.intent.onState(latched);
    expect(page.shown).toHaveLength(length);
  });

  it('prove it: saved, and standing when the poses show it', async () => {
    const page = pageWith(() => acknowledged);
    page.intent.press('SN-1');
    await page.clock.advance(300);
    page.intent.onState(moving);
    expect(page.last()).toMatchObject({ saved: 'pending', standingAfterMs: null });
    await page.clock.advance(1_200);
    page.intent.onState(latched);
    await page.clock.advance(1_000);
    page.intent.onState(latched);
    expect(page.last()).toMatchObject({ acknowledgedAfterMs: 0, saved: true, standingAfterMs: 1_500 });
    page.intent.onState(moving);
    expect(page.last()?.standingAfterMs).toBeNull();
    page.intent.onState(ready);
    expect(page.last()).toBeNull();
  });

  it('that come from before it do not hide it', async () => {
    const page = pageWith(() => acknowledged);
    page.intent.press('SN-1');
    await page.clock.advance(100);
    page.intent.onState(ready);
    expect(page.last()?.acknowledgedAfterMs).toBe(0);
    // Cleared at once by somebody else.
    await page.clock.advance(2_000);
    page.intent.onState(ready);
    expect(page.last()).toBeNull();
  });
});

describe.each(['de', 'en'] as const)('a page in %s whose stop is not answered', (language) => {
  const viewer: Viewer = { language, readOnly: false, signedIn: false };
  const { t, f } = textsOf(language, 'UTC');
  const stop: StopProgress = {
    ...{ acknowledgedAfterMs: null, saved: 'pending', standingAfterMs: null, unansweredForMs: 12_300 },
  };
  const words = { de: 'Ihr STOPP wurde NICHT ausgeführt', en: 'Your STOP was NOT carried out' }[language];

  it.each([Surface, Service])('says so in its headline, is not green, and drives nowhere', (Page) => {
    const ui: Interaction = { ...still, stop, choice: { kind: 'station', name: 'A' } };
    // The gateway is back, and its robot is ready.
    const html = renderToString(h(Page, { state: ready, viewer, ui, t, f }));
    expect(/<div class="headline"[^>]*>/.exec(html)?.[0]).toContain('data-level="bad"');
    expect(/<h1[^>]*>([^<]*)/.exec(html)?.[1]).toBe(words);
    expect(html).not.toContain(`>${t.headline.ready(ready, f)}<`);
    if (Page === Surface) {
      expect(html.match(/class="target(?!s)[^"]*"/g)?.every((target) => target.includes('waiting'))).toBe(true);
      expect(html).toMatch(/<button type="submit" class="go confirms" disabled/);
    }
  });

  it('is covered by what to do, since when, and after a while a way to give up', () => {
    const cover = (unansweredForMs: number | null) =>
      renderToString(h(NotStopped, { stop: { ...stop, unansweredForMs }, giveUp() {}, t, f }));
    expect(cover(null)).toBe('');
    expect(cover(12_300)).toContain(words);
    expect(cover(12_300)).toContain(
      language === 'de' ? 'Den Not-Halt am Roboter drücken.' : 'Press the emergency stop',
    );
    expect(cover(12_300)).toContain('12\u00a0s');
    expect([cover(2_999).includes('<button'), cover(3_000).includes('<button')]).toEqual([false, true]);
  });
});

describe('a page with STOPP and nothing else', () => {
  it('has the script that tries a stop until it is answered, and is not reloaded while a person types', () => {
    const viewer: Viewer = { language: 'de', readOnly: false, signedIn: false };
    for (const page of [
      signInPage({ site: 'x', viewer, isConfigured: true, problem: null }),
      unknownPage({ site: 'x', viewer }),
    ]) {
      expect(page).toContain('<script type="module" src="/assets/main.js">');
      expect(page).toContain('"kind":"plain"');
      expect(page).not.toContain('http-equiv="refresh"');
    }
  });
});
