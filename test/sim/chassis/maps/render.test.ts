import { describe, expect, it } from 'vitest';
import { renderSimEvent, renderSimFault } from '../../../../src/cli/render/sim.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

describe('the text of gw sim', () => {
  it('is one line a part, and ready at the end', () => {
    expect(plain(renderSimEvent({ event: 'listening', part: 'voice', url: 'http://127.0.0.1:3001' }))).toBe(
      'voice     http://127.0.0.1:3001',
    );
    const ready = renderSimEvent({
      event: 'ready',
      dir: '/d',
      sitePath: '/d/site.yaml',
      chassis: { host: '127.0.0.1', port: 8090, serial: 'SIM-0001', software: 'x' },
      voiceUrl: null,
      buildingUrl: null,
      passwordPath: '/d/secrets/device-password.txt',
      codePath: '/d/secrets/enrolment-code.txt',
    });
    expect(plain(ready).split('\n')).toEqual([
      'robot     serial SIM-0001, software x',
      'password  in /d/secrets/device-password.txt',
      'code      in /d/secrets/enrolment-code.txt',
      'site      /d/site.yaml',
      'ready',
    ]);
    expect(plain(renderSimEvent({ event: 'fault', name: 'cut', on: true }))).toBe('fault     cut on');
    expect(plain(renderSimEvent({ event: 'boot', state: 'booting' }))).toContain('503');
    expect(plain(renderSimEvent({ event: 'note', text: 'taken' }))).toBe('note      taken');
    expect(renderSimEvent({ event: 'ended' })).toBe('ended');
  });
});

describe('the text of gw sim fault', () => {
  const faults = [
    { name: 'cut', on: true, effect: 'The cable is cut.' },
    { name: 'slow', on: false, effect: 'Late.' },
  ];

  it('starts with the change, or with the faults that are on', () => {
    expect(renderSimFault({ dir: '/d', changed: { name: 'cut', on: true }, faults })).toBe(
      'cut is on in /d.\nThe cable is cut.',
    );
    expect(renderSimFault({ dir: '/d', changed: { name: 'slow', on: false }, faults })).toBe('slow is off in /d.');
    const list = plain(renderSimFault({ dir: '/d', changed: null, faults }));
    expect(list.split('\n')[0]).toBe('On in /d: cut.');
    expect(list).toMatch(/slow +off +Late\./);
  });

  it('shows an unknown state as not checked', () => {
    const unknown = faults.map((fault) => ({ ...fault, on: null }));
    const list = plain(renderSimFault({ dir: null, changed: null, faults: unknown }));
    expect(list.split('\n')[0]).toBe('No simulator is running; the states are unknown.');
    expect(list).toMatch(/cut +-- +The cable/);
    expect(list).not.toMatch(/ off /);
  });
});
