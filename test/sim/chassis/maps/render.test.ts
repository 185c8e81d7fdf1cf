import { describe, expect, it } from 'vitest';
import { renderSimEvent, renderSimFault } from '../../../../src/cli/render/sim.ts';
import type { SimEvent } from '../../../../src/lib/sim/sim.result.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

const ready: SimEvent = {
  event: 'ready',
  dir: '/d',
  sitePath: '/d/site.yaml',
  chassis: { host: '127.0.0.1', port: 8090, serial: 'SIM-0001', software: 'x' },
  voiceUrl: null,
  buildingUrl: null,
  passwordPath: '/d/secrets/device-password.txt',
  codePath: '/d/secrets/enrolment-code.txt',
};

describe('the text of gw sim', () => {
  it.each<[SimEvent, RegExp]>([
    [{ event: 'listening', part: 'voice', url: 'http://127.0.0.1:3001' }, /^voice {5}http:\/\/127\.0\.0\.1:3001$/],
    [ready, /^robot {5}serial SIM-0001, software x\npassword {2}in \/d\/secrets\/device-password\.txt\n/],
    [ready, /\ncode {6}in \/d\/secrets\/enrolment-code\.txt\nsite {6}\/d\/site\.yaml\nready$/],
    [{ event: 'fault', name: 'cut', on: true }, /^fault {5}cut on$/],
    [{ event: 'boot', state: 'booting' }, /503/],
    [{ event: 'note', text: 'taken' }, /^note {6}taken$/],
    [{ event: 'ended' }, /^ended$/],
  ])('%o', (event, text) => {
    expect(plain(renderSimEvent(event))).toMatch(text);
  });
});

describe('the text of gw sim fault', () => {
  const faults = [
    { name: 'cut', on: true, effect: 'The cable is cut.' },
    { name: 'slow', on: false, effect: 'Late.' },
  ];

  it.each([
    ['the change that switches on', '/d', { name: 'cut', on: true }, /^cut is on in \/d\.\nThe cable is cut\.$/],
    ['the change that switches off', '/d', { name: 'slow', on: false }, /^slow is off in \/d\.$/],
    ['the faults that are on', '/d', null, /^On in \/d: cut\.\n[\s\S]*slow +off +Late\./],
    [
      'an unknown state as not checked',
      null,
      null,
      /^No simulator is running;.*\n(?!.* off )[\s\S]*cut +-- +The cable/,
    ],
  ])('has %s', (_, dir, changed, text) => {
    const shown = dir === null ? faults.map((fault) => ({ ...fault, on: null })) : faults;
    expect(plain(renderSimFault({ dir, changed, faults: shown }))).toMatch(text);
  });
});
