import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNotification, type Expected } from '../../../src/lib/tunnel/session/check.ts';
import { runs } from '../../properties.ts';

const expected: Expected = { region: 'eu-central-1', services: ['web', 'status', 'api', 'more'], isSeen: false };
const valid = { clientMode: 'destination', region: 'eu-central-1', services: ['web'] };

const reasonOf = (change: Partial<typeof valid>, other: Partial<Expected> = {}) =>
  checkNotification({ ...valid, ...change }, { ...expected, ...other })?.reason ?? 'ok';

describe('a notification', () => {
  it.each([
    [{}, 'ok'],
    [{ services: ['api', 'web', 'status'] }, 'ok'],
    [{ clientMode: 'source' }, 'not-destination'],
    [{ clientMode: 'Destination' }, 'not-destination'],
    [{ clientMode: '' }, 'not-destination'],
    [{ region: 'eu-central-2' }, 'other-region'],
    [{ region: 'EU-CENTRAL-1' }, 'other-region'],
    [{ region: 'eu-central-1 ' }, 'other-region'],
    [{ region: 'eu-central-1.example.com' }, 'other-region'],
    [{ services: [] }, 'services-count'],
    [{ services: ['web', 'status', 'api', 'more'] }, 'services-count'],
    [{ services: ['web', 'web'] }, 'service-repeated'],
    [{ services: ['web', 'SSH'] }, 'service-not-in-list'],
    [{ services: ['Web'] }, 'service-not-in-list'],
    [{ services: ['constructor'] }, 'service-not-in-list'],
  ])('with %j: %s', (change, reason) => void expect(reasonOf(change)).toBe(reason));

  it('is refused without cloud.tunnel, whatever it says', () => {
    expect(reasonOf({}, { services: null })).toBe('not-configured');
  });

  it('is refused when its token was received before', () => {
    expect(reasonOf({}, { isSeen: true })).toBe('seen-before');
  });

  it('is compared with the region of the site file', () => {
    expect(reasonOf({}, { region: 'eu-west-1' })).toBe('other-region');
    expect(reasonOf({ region: 'eu-west-1' }, { region: 'eu-west-1' })).toBe('ok');
  });
});

const name = fc.constantFrom('web', 'status', 'api', 'more', 'ssh', 'WEB', '__proto__', '127.0.0.1:22');
const anyNotification = fc.record({
  clientMode: fc.oneof(fc.constant('destination'), fc.string()),
  region: fc.oneof(fc.constant('eu-central-1'), fc.string()),
  services: fc.array(fc.oneof(name, fc.string()), { maxLength: 6 }),
});
const anyExpected = fc.record({
  region: fc.constantFrom('eu-central-1', 'eu-west-1'),
  services: fc.option(fc.uniqueArray(name, { minLength: 1, maxLength: 4 })),
  isSeen: fc.boolean(),
});

describe('the checks (properties)', () => {
  it('pass exactly what meets every condition', () => {
    fc.assert(
      fc.property(anyNotification, anyExpected, (notification, other) => {
        const own: readonly string[] = other.services ?? [];
        const isValid =
          notification.clientMode === 'destination' &&
          notification.region === other.region &&
          notification.services.length >= 1 &&
          notification.services.length <= 3 &&
          notification.services.every((one, at) => own.includes(one) && notification.services.indexOf(one) === at) &&
          !other.isSeen;
        expect(checkNotification(notification, other) === null).toBe(isValid);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('name no text of the notification in the detail', () => {
    const text = fc.string({ minLength: 20, unit: fc.constantFrom(...'#%&§') });
    fc.assert(
      fc.property(text, fc.constantFrom('clientMode', 'region', 'services'), (foreign, field) => {
        const change = { [field]: field === 'services' ? [foreign] : foreign };
        expect(checkNotification({ ...valid, ...change }, expected)?.detail).not.toContain(foreign);
      }),
    );
  });
});
