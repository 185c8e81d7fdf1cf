import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChassisSnapshot, judgeCondition, type LiveValue } from '../../../src/lib/chassis/index.ts';
import type { CloudView } from '../../../src/lib/cloud/index.ts';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import type { GatewayHealth } from '../../../src/lib/operator/health.ts';
import { noSupport } from '../../../src/lib/operator/index.ts';
import { pageView } from '../../../src/lib/operator/pages/view.ts';
import type { SupportView } from '../../../src/lib/tunnel/index.ts';
import { connectedView } from '../../cloud/views.ts';
import { ask, startServer } from '../server.ts';
import { snapshotWith, standInHealth, tried } from '../stand-ins.ts';

const connected = snapshotWith({ kind: 'connected', tried });
const cloud = { view: noCloud, now: new Date(0) };
const health = standInHealth({ version: '1', upForMs: 1 });
const free: MotionStatus = {
  gate: { open: true, reasons: [] },
  stop: { latched: false, reason: null, by: null, since: null, saved: true, unsavedBecause: null, repeated: null },
  standstill: { verdict: 'stands', reason: 'it moved less than 0.02 m/s', isOwed: false },
  keepingTrouble: null,
  tour: null,
  drive: null,
  trial: null,
  unownedMove: null,
};
const closed: MotionStatus = { ...free, gate: { open: false, reasons: ['the gate has a reason'] } };
const viewOf = (change: Partial<ChassisSnapshot> = {}, motion = free, of = health) =>
  pageView({ ...connected, ...change }, motion, of, cloud, noSupport);
const withValues = (values: Partial<ChassisSnapshot['values']>) => ({ values: { ...connected.values, ...values } });
const stale = <T>(value: LiveValue<T>): LiveValue<T> =>
  value.status === 'received' ? { ...value, stale: true, staleReason: 'no-connection' } : value;

/** The content of the elements of a live text, by key. */
const place = (data: string, key: string) => new RegExp(`data-live="${key}">([^<]*)<`).exec(data)?.[1];

describe('the headline', () => {
  it('is green for a robot without faults', () => {
    const { flags, texts } = viewOf();
    expect(flags).toMatchObject({ headline: 'good', go: 'yes' });
    expect(texts).toMatchObject({
      headline: 'Verbunden – fahrbereit',
      'headline.why': '',
      overall: 'in Ordnung',
      complaints: 'keine',
    });
  });

  it.each<[string, CloudView, SupportView, GatewayHealth, string]>([
    ['the cloud', { ...connectedView, remedy: 'Enrol it.' }, noSupport, health, 'Cloud'],
    [
      'its link',
      { ...connectedView, link: connectedView.link && { ...connectedView.link, remedy: 'Ask the IT.' } },
      noSupport,
      health,
      'Cloud',
    ],
    [
      'the outbox',
      { ...connectedView, outbox: connectedView.outbox && { ...connectedView.outbox, remedy: 'Check it.' } },
      noSupport,
      health,
      'Cloud',
    ],
    [
      'remote support',
      connectedView,
      { ...noSupport, status: 'not-checked', remedy: 'See the log.' },
      health,
      'Fernwartung',
    ],
    [
      'a service',
      connectedView,
      noSupport,
      {
        ...health,
        services: [{ name: 'cloud', status: 'running', restarts: 0, detail: '', lastError: null, remedy: 'Check it.' }],
      },
      'Dienste',
    ],
    [
      'a folder',
      connectedView,
      noSupport,
      { ...health, disk: { ...health.disk, media: { ...health.disk.media, remedy: 'Free some.' } } },
      'Ordner',
    ],
  ])('does not call the whole in order beside a remedy of %s', (_part, view, support, of, named) => {
    const { flags, texts } = pageView(connected, free, of, { ...cloud, view }, support);
    expect(flags.headline).toBe('good');
    expect(texts.overall).toBe(`beeinträchtigt: Abhilfe nötig bei ${named}`);
  });

  it('calls the whole in order with a connected cloud that needs no remedy', () => {
    expect(pageView(connected, free, health, { ...cloud, view: connectedView }, noSupport).texts.overall).toBe(
      'in Ordnung',
    );
  });

  it.each<[string, ReturnType<typeof viewOf>, string, RegExp]>([
    ['radians', viewOf({ unitContradicted: true }, closed), 'bad', /Bogenmaß statt in Grad/],
    [
      'a doubted unit',
      viewOf({ poseUnit: { ...connected.poseUnit, doubt: 'it turns faster than its wheels' } }),
      'attention',
      /zweifelhaft/,
    ],
    [
      'a heading that fits no course',
      viewOf({ poseUnit: { ...connected.poseUnit, doubt: 'x', misfit: true } }),
      'attention',
      /passt nicht zur Fahrt: Einheit, Drehsinn oder Nullrichtung/,
    ],
    ['a closed gate alone', viewOf({}, closed), 'bad', /the gate has a reason/],
    ['a latched stop', viewOf({}, { ...free, stop: { ...free.stop, latched: true } }), 'bad', /^/],
    [
      'the emergency stop',
      viewOf(withValues({ wheels: known({ controlMode: 'auto', emergencyStopPressed: true }) })),
      'attention',
      /Not-Halt ist gedrückt/,
    ],
    [
      'a lost position',
      viewOf(withValues({ positioning: known({ state: 'positioning', reliable: false }) })),
      'attention',
      /Position verloren/,
    ],
    [
      'a message that cannot be read',
      viewOf(withValues({ wheels: { status: 'not-received', rejected: 'x' } })),
      'attention',
      /^Der Roboter meldet etwas Unlesbares zu Not-Halt und Betriebsart/,
    ],
    [
      'a pressed emergency stop in a message that is otherwise unreadable',
      viewOf(
        withValues({
          wheels: {
            ...known({ controlMode: 'auto', emergencyStopPressed: true }),
            ...{ stale: true, staleReason: 'newer-rejected', rejected: 'x' },
          },
        }),
      ),
      'attention',
      /^Der Not-Halt ist gedrückt/,
    ],
    [
      'a low battery',
      viewOf(withValues({ battery: known({ percent: 6, status: 'discharging' }) })),
      'attention',
      /fast leer: 6 %/,
    ],
    [
      'an alert',
      viewOf(withValues({ alerts: known([{ code: 7005, level: 'error', message: 'x' }]) })),
      'attention',
      /7005 Fehler: x/,
    ],
    [
      'a value that was not received',
      viewOf(withValues({ wheels: { status: 'not-received' } })),
      'attention',
      /Nicht geprüft: Not-Halt/,
    ],
    ['a stale alert', viewOf(withValues({ alerts: stale(connected.values.alerts) })), 'attention', /Störmeldungen/],
    ['complaints', viewOf({ complaints: [{ what: 'x', count: 1, ageMs: 10 }] }), 'attention', /Beanstandungen/],
    [
      'a service that is down',
      viewOf({}, free, {
        ...health,
        status: 'degraded',
        services: [{ name: 'fleet', status: 'restarting', restarts: 1, lastError: 'x', remedy: 'y', detail: '' }],
      }),
      'attention',
      /^Ein Dienst des Gateways läuft nicht/,
    ],
    [
      'a disk without free space',
      viewOf({}, free, {
        ...health,
        status: 'degraded',
        disk: { ...health.disk, media: { ...health.disk.media, status: 'low' } },
      }),
      'attention',
      /^Dem Gateway fehlt Speicherplatz/,
    ],
    [
      'revoked evidence',
      viewOf({}, free, { ...health, status: 'degraded' }),
      'attention',
      /^Das Gateway ist beeinträchtigt/,
    ],
  ])('is not green with %s, and states the reason', (_what, { flags, texts }, level, why) => {
    expect(flags.headline).toBe(level);
    expect(texts.headline).not.toContain('fahrbereit');
    expect(texts['headline.why']).toMatch(why);
    expect(texts.overall).toMatch(/^beeinträchtigt/);
    expect(flags.go).toBe(level === 'bad' ? 'no' : 'yes');
    if (level === 'bad') expect(texts['tour.why']).not.toBe('');
  });

  it('is green only when every condition is met', () => {
    const live = <T>(value: T) =>
      fc.constantFrom<LiveValue<T>>({ status: 'not-received' }, known(value), stale(known(value)));
    const world = fc.record({
      link: fc.constantFrom(
        { kind: 'connected', tried } as const,
        { kind: 'connecting', tried } as const,
        { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const,
      ),
      unitContradicted: fc.boolean(),
      doubt: fc.option(fc.string()),
      complaints: fc.array(fc.record({ what: fc.string(), count: fc.nat(), ageMs: fc.nat(600_000) }), { maxLength: 2 }),
      open: fc.boolean(),
      latched: fc.boolean(),
      running: fc.boolean(),
      degraded: fc.boolean(),
      pose: live({
        xM: 1,
        yM: 1,
        yawDeg: connected.values.pose.status === 'received' ? connected.values.pose.value.yawDeg : (0 as never),
      }),
      wheels: fc.boolean().chain((emergencyStopPressed) => live({ controlMode: 'auto', emergencyStopPressed })),
      positioning: fc.boolean().chain((reliable) => live({ state: 'positioning', reliable })),
      alerts: fc
        .array(fc.record({ code: fc.nat(), level: fc.string(), message: fc.string() }), { maxLength: 1 })
        .chain(live),
    });
    fc.assert(
      fc.property(
        world,
        ({ link, unitContradicted, doubt, complaints, open, latched, running, degraded, ...values }) => {
          const snapshot: ChassisSnapshot = {
            ...connected,
            link,
            unitContradicted,
            poseUnit: { ...connected.poseUnit, doubt },
            complaints,
            values: { ...connected.values, ...values },
          };
          const motion: MotionStatus = {
            ...free,
            gate: { open, reasons: open ? [] : ['x'] },
            stop: { ...free.stop, latched },
            keepingTrouble: null,
            tour: running
              ? { id: '1', tour: 't', stations: ['A'], state: 'running', at: 0, outcomes: [], reason: null }
              : null,
          };
          const of = { ...health, status: degraded ? ('degraded' as const) : ('ok' as const) };
          const { flags, texts } = pageView(snapshot, motion, of, cloud, noSupport);
          const mayGo = open && !latched && link.kind === 'connected';
          const inOrder =
            mayGo &&
            !unitContradicted &&
            doubt === null &&
            !degraded &&
            complaints.every(({ ageMs }) => ageMs >= 300_000) &&
            judgeCondition(snapshot.values).every(({ verdict }) => verdict === 'ok') &&
            values.pose.status === 'received' &&
            !values.pose.stale;
          expect(flags.headline === 'good').toBe(inOrder);
          expect(texts.overall === 'in Ordnung').toBe(inOrder);
          expect(flags.go).toBe(mayGo && !running ? 'yes' : 'no');
          expect(texts['tour.why'] === '').toBe(flags.go === 'yes');
          if (texts.complaints === 'keine')
            expect([link.kind, unitContradicted, doubt]).toEqual(['connected', false, null]);
          for (const key of ['pose', 'wheels', 'positioning', 'alerts'] as const) {
            const value = snapshot.values[key];
            if (value.status === 'received' && value.stale) expect(texts[`${key}.doubt`]).toContain('veraltet');
          }
          if (values.pose.status === 'received' && (unitContradicted || doubt !== null)) {
            expect(texts['heading.doubt']).toMatch(/Bogenmaß|Winkeleinheit/);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a latched stop', () => {
  const latched: MotionStatus = {
    ...closed,
    stop: { ...free.stop, latched: true, reason: 'r', by: 'x', since: '2026-01-31T12:00:00.123Z' },
  };
  const planning = (moveState: string) =>
    known({
      actionId: 7,
      actionType: 'standard',
      moveState,
      failReason: 0,
      failReasonText: 'none',
      remainingDistanceM: 1,
      raw: {},
    });

  it.each([
    ['cancelled', planning('cancelled'), 'Verbunden – angehalten', 'Angehalten: r', /^$/],
    [
      'moving',
      planning('moving'),
      'Stopp gesetzt – Stillstand nicht bekannt',
      'Stopp gesetzt: r',
      /Not-Halt am Roboter/,
    ],
    [
      'oscillating',
      planning('oscillating'),
      'Stopp gesetzt – Stillstand nicht bekannt',
      'Stopp gesetzt: r',
      /Not-Halt/,
    ],
    [
      'what it said over an earlier connection',
      stale(planning('cancelled')),
      'Stopp gesetzt – Stillstand nicht bekannt',
      'Stopp gesetzt: r',
      /Not-Halt/,
    ],
    [
      'nothing',
      { status: 'not-received' } as const,
      'Stopp gesetzt – Stillstand nicht bekannt',
      'Stopp gesetzt: r',
      /Not-Halt/,
    ],
  ])('is shown as a standstill only where the chassis reports so: %s', (_word, value, headline, stop, why) => {
    const { flags, texts } = viewOf(withValues({ planning: value }), latched);
    expect(flags.headline).toBe('bad');
    expect([texts.headline, texts.stop]).toEqual([headline, stop]);
    expect(texts['headline.why']).toMatch(why);
    expect(texts['stop.by']).toBe('von x, 31.01.2026, 12:00:00 UTC');
  });

  it.each([
    [
      'moves',
      'Stopp gesetzt – Roboter bewegt sich noch',
      /bewegt sich noch\. Hält er nicht an: den Not-Halt am Roboter/,
    ],
    [
      'drives-on',
      'Stopp gesetzt – ROBOTER HÄLT NICHT AN',
      /hält trotz Abbruch nicht an\. Den Not-Halt am Roboter drücken\./,
    ],
    ['not-known', 'Stopp gesetzt – Stillstand nicht bekannt', /Ob der Roboter steht, ist nicht bekannt/],
  ] as const)(
    'is no standstill where the chassis reports the end of its move, and the poses say: %s',
    (verdict, headline, why) => {
      const motion = { ...latched, standstill: { verdict, reason: 'r', isOwed: true } };
      const { flags, texts } = viewOf(withValues({ planning: planning('cancelled') }), motion);
      expect(flags).toMatchObject({ headline: 'bad', go: 'no' });
      expect([texts.headline, texts.stop]).toEqual([headline, 'Stopp gesetzt: r']);
      expect(texts['headline.why']).toMatch(why);
      expect(texts.overall).not.toBe('in Ordnung');
    },
  );

  it.each([
    ['moves', /Der Roboter bewegt sich\. Erst wenn er steht/],
    ['drives-on', /hält trotz Abbruch nicht an\. Den Not-Halt am Roboter drücken\./],
    ['not-known', /Ob der Roboter seit dem letzten Abbruch steht, wird noch geprüft/],
  ] as const)('leaves a closed gate when it is cleared before the robot was seen to stand: %s', (verdict, why) => {
    const { flags, texts } = viewOf({}, { ...closed, standstill: { verdict, reason: 'r', isOwed: true } });
    expect(flags).toMatchObject({ headline: 'bad', go: 'no' });
    expect(texts.headline).toBe('Verbunden – Fahrt gesperrt');
    expect([texts['headline.why'], texts.gate]).toEqual([expect.stringMatching(why), expect.stringMatching(why)]);
  });

  it('says once that the robot does not stop, and when it stands that it drove on after the stop', () => {
    const stop = { ...free.stop, latched: true, reason: 'drill', by: 'tablet', disobeyed: 'it went 0.40 m further' };
    const standstill = { verdict: 'drives-on', reason: 'it went 0.40 m further', isOwed: true } as const;
    const driving = viewOf({}, { ...closed, stop, standstill }).texts;
    expect(driving.headline).toBe('Stopp gesetzt – ROBOTER HÄLT NICHT AN');
    expect(driving['headline.why']?.match(/hält trotz Abbruch nicht an/g)).toHaveLength(1);
    const standing = viewOf({}, { ...closed, stop }).texts;
    expect(standing['headline.why']).toMatch(/^Der Roboter ist nach dem Stopp weitergefahren\. .* Techniker/);
    expect(standing.gate).toContain('weitergefahren');
  });

  it('is not a standstill while the chassis is disconnected', () => {
    const link = { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const;
    const { texts } = viewOf({ link, ...withValues({ planning: planning('cancelled') }) }, latched);
    expect([texts.headline, texts.stop]).toEqual(['Nicht verbunden (not connected)', 'Stopp gesetzt: r']);
    expect(texts['headline.why']).toContain('Ob der Roboter steht, ist nicht bekannt');
  });
});

describe('a closed gate', () => {
  it('shows its own reason first, and not a hint', () => {
    const { texts } = viewOf({}, closed, {
      ...health,
      status: 'degraded',
      disk: { ...health.disk, media: { ...health.disk.media, status: 'low' } },
      evidence: { ...health.evidence, status: 'revoked' },
    });
    expect(texts['headline.why']?.split('\n')).toEqual([
      'the gate has a reason',
      expect.stringMatching(/^Nachweise wurden zurückgenommen/),
      expect.stringMatching(/^Dem Gateway fehlt Speicherplatz/),
    ]);
  });
});

it('a state that was never received is not shown as last known', () => {
  const link = { kind: 'not-connected', failure: 'refused', detail: 'x', tried } as const;
  const { texts } = viewOf({ link, identity: null });
  expect([texts.serial, texts.model, texts.software]).toEqual(Array(3).fill('noch nicht gelesen'));
  expect(viewOf({ link }).texts.model).toBe('m1 (letzter Stand)');
});

describe('the current run', () => {
  it('is shown beside the headline while it lasts: a trial, too, which disables tours', () => {
    expect(viewOf().flags.run).toBe('none');
    const { flags, texts } = viewOf({}, { ...free, trial: { kind: 'move' } });
    expect(flags).toMatchObject({ run: 'running', go: 'no' });
    expect(texts.tour).toBe('Begleiteter Versuch läuft (Fahrt)');
    expect(texts['tour.why']).toBe('Es läuft ein begleiteter Versuch.');
  });

  it('is shown in German where the state word of the chassis is known, and without a finished path', () => {
    const shownFor = (moveState: string, actionType: string) =>
      viewOf(
        withValues({
          planning: known({
            actionId: 7,
            actionType,
            moveState,
            failReason: 0,
            failReasonText: 'none',
            remainingDistanceM: 1,
            raw: {},
          }),
        }),
      ).texts.planning;
    expect(shownFor('none', 'none')).toBe('keiner');
    expect(shownFor('moving', 'standard')).toBe('standard: fährt, noch 1,00 m');
    expect(shownFor('cancelled', 'standard')).toBe('standard: abgebrochen');
    expect(shownFor('toString', 'standard')).toBe('standard: toString, noch 1,00 m');
  });

  it('has no sign where it rounds to zero', () => {
    const pose = connected.values.pose.status === 'received' ? connected.values.pose.value : (null as never);
    const { texts } = viewOf(withValues({ pose: known({ ...pose, xM: -0.004, yM: -0.006 }) }));
    expect(texts.pose).toBe('x 0,00 m, y -0,01 m');
  });
});

describe('folders and evidence', () => {
  it('are updated in place: an open page must not keep showing an outdated good state', () => {
    const { texts } = viewOf({}, free, {
      ...health,
      status: 'degraded',
      disk: {
        ...health.disk,
        state: { ...health.disk.state, status: 'unusable', detail: 'Full.', remedy: 'Free disk space.' },
      },
      evidence: { ...health.evidence, status: 'revoked', detail: 'vendor.x was revoked.' },
    });
    expect(texts.folders).toMatch(/^Zustand \/state, NICHT VERWENDBAR.*: Full\. Free disk space\.\nMedien/);
    expect(texts.evidence).toBe('ZURÜCKGENOMMEN seit dem Start (vendor.x was revoked.)');
  });
});

describe('a pose that is wrong or not known', () => {
  it('closes the drive on the page, with what must be done first', () => {
    const poseAlarm = { reason: 'another one is reported', since: null };
    const { texts, flags } = viewOf({}, { ...closed, poseAlarm });
    expect([texts.headline, flags.go, flags.headline]).toEqual(['Verbunden – Fahrt gesperrt', 'no', 'bad']);
    expect(texts['tour.why']).toContain('Die Position des Roboters ist falsch oder nicht bekannt. Bis sie gesetzt ist');
  });
});

describe('a page under radians, as rendered by the server', () => {
  it('strikes out the heading with its reason in text before it, and disables tours but not STOPP', async () => {
    await using server = await startServer();
    server.link.override({ unitContradicted: true, poseUnit: { ...connected.poseUnit, verdict: 'radians' } });
    server.motion.set({ gate: { open: false, reasons: ['angles.tracked-pose-ori is contradicted'] } });
    const { data } = await ask(server.full, '/');
    expect(data).toMatch(/<body[^>]* data-headline="bad"/);
    expect(place(data, 'headline')).toBe('Verbunden – Fahrt gesperrt');
    expect(data).toContain(
      '<span class="doubt" data-live="heading.doubt">ungültig, Bogenmaß statt Grad:</span> <span class="value" data-live="heading">90,0°</span>',
    );
    expect(place(data, 'pose.doubt')).toBe('');
    expect(data).toMatch(/<button name="tour" value="breakfast"[^>]* aria-describedby="tour-why" disabled>/);
    expect(data).toMatch(
      /<p id="tour-why"[^>]*><span data-live="tour.why">Der Roboter meldet seine Ausrichtung im Bogenmaß/,
    );
    expect(data).toContain('<button class="stop-button">STOPP</button>');
    const service = (await ask(server.full, '/service')).data;
    expect(place(service, 'complaints')).toContain('Bogenmaß');
    expect(place(service, 'overall')).toBe('beeinträchtigt: Verbunden – Fahrt gesperrt');
    expect(place(service, 'pose-unit')).toContain('WIDERSPRUCH');
    expect(place(service, 'heading.mark')).toBe('widersprochen: BELEGT sind Grad, siehe Einheit');
  });

  it.each([
    [0, 'nicht entschieden (0 Werte): keine Pose empfangen.'],
    [36, 'nicht entschieden (36 Werte): bisher keine Drehung, die nur in einer Einheit möglich ist.'],
  ])('names the reason of an undecided unit after %i poses, in German', (samples, text) => {
    const poseUnit = { ...connected.poseUnit, verdict: 'not-decided' as const, samples, reason: 'an English sentence' };
    expect(viewOf({ poseUnit }).texts['pose-unit']).toBe(text);
    const proven = viewOf({ poseUnit, unitContradicted: true }).texts['pose-unit'];
    expect(proven).toContain('WIDERSPRUCH');
    expect(viewOf({ poseUnit: { ...poseUnit, doubt: 'it turns' } }).texts['pose-unit']).toContain('zweifelhaft');
  });

  it.each([
    [{ state: 'positioning', reliable: true, quality: 10 }, 'sicher (positioning)', ''],
    [{ state: 'positioning', reliable: true, quality: 3 }, 'ungenau (positioning)', 'unsicher, Ortung ungenau:'],
    [{ state: 'positioning', reliable: true, quality: 1 }, 'verloren (positioning)', 'ungültig, Position verloren:'],
    [{ state: 'positioning', reliable: false }, 'verloren (positioning)', 'ungültig, Position verloren:'],
    [{ state: 'relocating', reliable: true }, 'nicht geprüft (relocating)', ''],
  ])('shows the localisation quality of the robot: %o', (positioning, text, doubt) => {
    const { texts } = viewOf(withValues({ positioning: known(positioning) }));
    expect([texts.positioning, texts['pose.doubt'], texts['heading.doubt']]).toEqual([text, doubt, doubt]);
  });

  it('updates the services in place as well', () => {
    const motion = {
      name: 'motion',
      status: 'restarting',
      restarts: 2,
      detail: 'gate closed',
      lastError: 'x',
      remedy: 'Do this.',
    } as const;
    const { texts, flags } = viewOf({}, free, { ...health, status: 'degraded', services: [motion] });
    expect(texts['service.motion.status']).toBe('wird neu gestartet');
    expect(texts['service.motion.detail']).toBe('gate closed; zuletzt: x; Do this.');
    expect(texts.gateway).toContain('nicht aktiv: motion');
    expect(flags.headline).toBe('attention');
  });

  it('states under a cut cable that values were not checked, not that there are none', async () => {
    await using server = await startServer();
    server.link.setState({ kind: 'not-connected', failure: 'cut', detail: 'connection closed unexpectedly', tried });
    server.link.override({
      values: withValues({ pose: stale(connected.values.pose), alerts: stale(connected.values.alerts) }).values,
    });
    server.motion.set({ gate: { open: false, reasons: ['not connected: connection closed unexpectedly'] } });
    const { data } = await ask(server.full, '/service');
    expect(data).toMatch(/<body[^>]* data-headline="bad"/);
    expect(place(data, 'overall')).toBe('beeinträchtigt: Nicht verbunden (not connected)');
    expect(place(data, 'complaints')).toBe('Nicht geprüft: keine Verbindung zum Roboter.');
    for (const key of ['pose', 'heading', 'alerts']) {
      expect(place(data, `${key}.doubt`)).toBe('veraltet, keine Verbindung zum Roboter:');
    }
    expect(place((await ask(server.full, '/')).data, 'tour.why')).toContain('Nicht verbunden');
  });
});

function known<T>(value: T): LiveValue<T> {
  return { status: 'received', value, mark: 'HINWEIS', basis: 'vendor', source: 'test', ageMs: 100, stale: false };
}
