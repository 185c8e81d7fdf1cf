import { describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import {
  aborted,
  createSupervisor,
  type Service,
  type ServiceContext,
  type SupervisorEvent,
} from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from './fake-clock.ts';

const backoff = { firstMs: 1_000, maxMs: 8_000 };

interface Scripted extends Service {
  context: ServiceContext | undefined;
  /** Outcomes of the next starts: an error is thrown, 'hang' waits for the signal, 'deaf' never ends. */
  readonly starts: (unknown | 'hang' | 'deaf')[];
  stops: 'at once' | 'never' | 'throws';
}

function world(names: readonly string[], options: { stopDeadlineMs?: number; stopAllDeadlineMs?: number } = {}) {
  const clock = createFakeClock({ random: 1 });
  const emitted: string[] = [];
  const events: SupervisorEvent[] = [];
  const services = names.map((name): Scripted => {
    const service: Scripted = {
      name,
      context: undefined,
      starts: [],
      stops: 'at once',
      async start(context) {
        emitted.push(`${name} starts`);
        service.context = context;
        const [script] = service.starts.splice(0, 1);
        if (script === 'deaf') await new Promise(() => {});
        if (script === 'hang') {
          await aborted(context.signal);
          throw context.signal.reason;
        }
        if (script !== undefined) throw script;
      },
      async stop() {
        emitted.push(`${name} stops`);
        if (service.stops === 'never') await new Promise(() => {});
        if (service.stops === 'throws') throw new Error(`${name} cannot stop`);
      },
      describe: () => `${name} detail`,
    };
    return service;
  });
  const supervisor = createSupervisor(services, { clock, onEvent: (event) => events.push(event), backoff, ...options });
  const find = (name: string) => services.find((service) => service.name === name) as Scripted;
  const statusOf = (name: string) => supervisor.health().find((row) => row.name === name);
  const crash = (name: string, message = 'down') => find(name).context?.fail(new GwError('INTERNAL', message));
  /** Waits before each restart, in milliseconds. */
  const waits = () => events.flatMap((event) => (event.kind === 'failed' ? [event.retryInMs] : []));
  return { clock, emitted, events, supervisor, find, statusOf, crash, waits };
}

const never = new AbortController().signal;

/** All of them run. */
async function running(...about: Parameters<typeof world>) {
  const made = world(...about);
  await made.supervisor.start(never);
  made.emitted.length = 0;
  return made;
}

/** A start that is aborted while a service begins. */
async function abortedStart(supervisor: ReturnType<typeof world>['supervisor']) {
  const ending = new AbortController();
  const starting = supervisor.start(ending.signal);
  setImmediate(() => ending.abort(new GwError('INTERRUPTED', 'Interrupted.')));
  await starting;
}

/** A supervisor with one optional service. */
function worldWith(names: readonly string[], retried: string) {
  const made = world(names);
  Object.assign(made.find(retried), { failedStart: 'is-retried' });
  return made;
}

describe('an optional service', () => {
  it('fails alone: the others start, it is reported with reason and remedy, and restarted', async () => {
    const { supervisor, clock, events, find, statusOf } = worldWith(['a', 'b', 'c'], 'b');
    find('b').starts.push(new GwError('FILE_UNWRITABLE', 'the file is damaged.', { remedy: 'Move it away.' }));
    const starting = supervisor.start(never);
    await clock.advance(0);
    await starting;
    expect(supervisor.health().map(({ status }) => status)).toEqual(['running', 'restarting', 'running']);
    expect(statusOf('b')).toMatchObject({ restarts: 1, lastError: 'the file is damaged.', remedy: 'Move it away.' });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'failed', name: 'b', retryInMs: 1_000 }));
    await clock.advance(1_000);
    // The event stays in the list; its remedy is removed.
    expect(statusOf('b')).toMatchObject({ status: 'running', lastError: 'the file is damaged.', remedy: null });
    await supervisor.stop();
    expect(clock.pending).toBe(0);
  });

  it('whose start never completes delays the others by 1.5 s, and does not block the stop', async () => {
    const { supervisor, clock, emitted, find, statusOf } = worldWith(['a', 'b', 'c'], 'b');
    find('b').starts.push('deaf');
    const starting = supervisor.start(never);
    await clock.advance(1_400);
    expect(emitted).not.toContain('c starts');
    await clock.advance(100);
    await starting;
    expect([statusOf('b')?.status, statusOf('c')?.status]).toEqual(['starting', 'running']);
    const stopping = supervisor.stop();
    await clock.advance(4_500);
    await stopping;
    expect(emitted.slice(-3)).toEqual(['c stops', 'b stops', 'a stops']);
  });

  it('that fails repeatedly is retried without end, at growing intervals', async () => {
    const { supervisor, clock, find, statusOf } = worldWith(['a', 'b'], 'a');
    for (let nth = 0; nth < 40; nth += 1) find('a').starts.push(new Error(`failure ${nth}`));
    const starting = supervisor.start(never);
    await clock.advance(0);
    await starting;
    await clock.advance(15_000);
    expect(statusOf('a')).toMatchObject({ status: 'restarting', restarts: 5, lastError: 'failure 4' });
    await supervisor.stop();
    expect(clock.pending).toBe(0);
  });

  it('does not continue when the start is aborted', async () => {
    const { supervisor, emitted, find } = worldWith(['a', 'b', 'c'], 'b');
    find('b').starts.push('hang');
    await expect(abortedStart(supervisor)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(emitted).not.toContain('c starts');
  });
});

describe('the start', () => {
  it('runs in the given order and emits an event for each service', async () => {
    const { supervisor, emitted, events } = world(['a', 'b', 'c']);
    await supervisor.start(never);
    expect(emitted).toEqual(['a starts', 'b starts', 'c starts']);
    expect(events.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['started a', 'started b', 'started c']);
    expect(events[0]).toMatchObject({ detail: 'a detail' });
    expect(supervisor.health().map(({ status }) => status)).toEqual(['running', 'running', 'running']);
  });

  it('fails as a whole with the first error, and stops running services in reverse', async () => {
    const { supervisor, emitted, find } = world(['a', 'b', 'c', 'd']);
    const error = new GwError('PORT_IN_USE', 'taken');
    find('c').starts.push(error);
    await expect(supervisor.start(never)).rejects.toBe(error);
    expect(emitted).toEqual(['a starts', 'b starts', 'c starts', 'c stops', 'b stops', 'a stops']);
    expect(supervisor.health().map(({ status }) => status)).toEqual(['stopped', 'stopped', 'stopped', 'waiting']);
  });

  it('counts a service that reports its crash while it is starting as failed', async () => {
    const { supervisor, find } = world(['a']);
    const a = find('a');
    const begin = a.start;
    a.start = async (context) => {
      await begin(context);
      context.fail(new Error('crashed during its start'));
    };
    await expect(supervisor.start(never)).rejects.toThrow('crashed during its start');
  });

  it('ends when it is aborted, and starts nothing more', async () => {
    const { supervisor, emitted, find } = world(['a', 'b', 'c']);
    find('b').starts.push('hang');
    await expect(abortedStart(supervisor)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(emitted).toEqual(['a starts', 'b starts', 'b stops', 'a stops']);
  });

  it('leaves nothing running when it is stopped in the middle', async () => {
    const { supervisor, emitted, find } = world(['a', 'b', 'c']);
    find('b').starts.push('hang');
    const starting = supervisor.start(never);
    await new Promise((resolve) => setImmediate(resolve));
    const stopping = supervisor.stop();
    await expect(starting).rejects.toBeDefined();
    await stopping;
    expect(emitted).not.toContain('c starts');
    expect(supervisor.health().map(({ status }) => status)).toEqual(['stopped', 'stopped', 'waiting']);
  });
});

it('a start that ignores the abort is stopped once it completes', async () => {
  const { supervisor, clock, emitted, find, statusOf } = world(['a', 'b']);
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  find('b').start = async () => {
    await slow;
    emitted.push('b runs');
  };
  const starting = supervisor.start(never);
  await new Promise((tick) => setImmediate(tick));
  const stopping = supervisor.stop();
  await clock.advance(2_000);
  await stopping;
  resolve();
  await expect(starting).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect(emitted.slice(emitted.indexOf('b runs'))).toEqual(['b runs', 'b stops']);
  expect(statusOf('b')?.status).not.toBe('running');
});

describe('a crash of one service', () => {
  it('restarts that one after the backoff and leaves the others alone', async () => {
    const { clock, emitted, events, statusOf, crash } = await running(['a', 'b', 'c']);
    crash('b', 'b broke');
    await clock.advance(999);
    expect(emitted).toEqual(['b stops']);
    expect(statusOf('b')).toMatchObject({ status: 'restarting', restarts: 1, lastError: 'b broke' });
    expect(statusOf('a')).toMatchObject({ status: 'running', restarts: 0, lastError: null });
    await clock.advance(1);
    expect(emitted).toEqual(['b stops', 'b starts']);
    expect(statusOf('b')).toMatchObject({ status: 'running', restarts: 1, lastError: 'b broke' });
    expect(events.at(-2)).toMatchObject({ kind: 'failed', name: 'b', retryInMs: 1_000 });
  });

  it('backs off while it does not start, up to the bound', async () => {
    const { supervisor, clock, find, crash, waits } = await running(['a']);
    find('a').starts.push(...Array.from({ length: 5 }, (_, i) => new Error(`still down ${i}`)));
    crash('a');
    await clock.advance(60_000);
    expect(waits()).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(supervisor.health()[0]).toMatchObject({ status: 'running', restarts: 6, lastError: 'still down 4' });
  });

  it('continues to back off when it crashes right after each restart', async () => {
    const { clock, crash, waits } = await running(['a']);
    for (let i = 0; i < 3; i += 1) {
      crash('a');
      await clock.advance(8_000);
    }
    expect(waits()).toEqual([1_000, 2_000, 4_000]);
  });

  it('resets the backoff after it has run for long', async () => {
    const { clock, crash, waits } = await running(['a']);
    crash('a');
    await clock.advance(60_000);
    crash('a');
    await clock.advance(60_000);
    expect(waits()).toEqual([1_000, 1_000]);
  });

  it('is counted once, however often it is reported, and not for an earlier run', async () => {
    const { clock, find, statusOf } = await running(['a']);
    const first = find('a').context;
    first?.fail(new Error('one'));
    first?.fail(new Error('two'));
    await clock.advance(5_000);
    first?.fail(new Error('late event of the earlier run'));
    await clock.advance(5_000);
    expect(statusOf('a')).toMatchObject({ status: 'running', restarts: 1, lastError: 'one' });
  });

  it('is handled also when the crashed service does not stop', async () => {
    const { clock, events, find, statusOf, crash } = await running(['a']);
    find('a').stops = 'never';
    crash('a', 'stuck');
    await clock.advance(10_000);
    expect(statusOf('a')).toMatchObject({ status: 'running', restarts: 1 });
    expect(events.map(({ kind }) => kind)).toContain('stop-failed');
  });
});

describe('the stop', () => {
  it('runs in reverse, emits an event for each, leaves no timer, and may be called twice', async () => {
    const { supervisor, clock, emitted, events } = await running(['a', 'b']);
    await Promise.all([supervisor.stop(), supervisor.stop()]);
    expect(emitted).toEqual(['b stops', 'a stops']);
    expect(events.slice(2).map(({ kind, name }) => `${kind} ${name}`)).toEqual(['stopped b', 'stopped a']);
    expect(clock.pending).toBe(0);
  });

  it('does nothing before a start', async () => {
    const { supervisor, emitted } = world(['a']);
    await supervisor.stop();
    expect(emitted).toEqual([]);
  });

  it('continues after the deadline of one service, and after one that throws', async () => {
    const { supervisor, clock, emitted, events, find } = await running(['a', 'b', 'c'], { stopDeadlineMs: 500 });
    find('c').stops = 'never';
    find('b').stops = 'throws';
    const stopping = supervisor.stop();
    await clock.advance(500);
    await stopping;
    expect(emitted).toEqual(['c stops', 'b stops', 'a stops']);
    expect(events.filter(({ kind }) => kind === 'stop-failed').map(({ name }) => name)).toEqual(['c', 'b']);
    expect(clock.pending).toBe(0);
  });

  it('stays within its total deadline, however many services do not stop', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { supervisor, clock, find } = await running(names, { stopDeadlineMs: 1_500, stopAllDeadlineMs: 4_000 });
    for (const name of names) find(name).stops = 'never';
    const stopping = supervisor.stop();
    await clock.advance(4_300);
    // Nothing moves the clock any more.
    await stopping;
  });

  it('ends a pending restart, and one under way', async () => {
    for (const waitMs of [10, 1_000]) {
      const { supervisor, clock, find, statusOf, crash } = world(['a', 'b']);
      await supervisor.start(never);
      find('b').starts.push('hang');
      crash('b');
      await clock.advance(waitMs);
      await supervisor.stop();
      expect(statusOf('b')).toMatchObject({ status: 'stopped' });
      expect(clock.pending).toBe(0);
    }
  });

  it('does not wait indefinitely for a restart that ignores the abort', async () => {
    const { supervisor, clock, find, crash } = await running(['a', 'b']);
    find('b').starts.push('deaf');
    crash('b');
    await clock.advance(1_000);
    const stopping = supervisor.stop();
    await clock.advance(4_000);
    await stopping;
  });
});
