import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNotification, type Expected } from '../../../src/lib/tunnel/session/check.ts';

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

describe('the checks (properties)', () => {
  it('name no text of the notification in the detail', { tags: 'property' }, () => {
    const text = fc.string({ minLength: 20, unit: fc.constantFrom(...'#%&§') });
    fc.assert(
      fc.property(text, fc.constantFrom('clientMode', 'region', 'services'), (foreign, field) => {
        const change = { [field]: field === 'services' ? [foreign] : foreign };
        expect(checkNotification({ ...valid, ...change }, expected)?.detail).not.toContain(foreign);
      }),
    );
  });
});
