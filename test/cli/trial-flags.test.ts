import { describe, expect, it } from 'vitest';
import { confirmedBy } from '../../src/cli/trial-flags.ts';
import EvidenceVerify from '../../src/commands/evidence/verify.ts';
import { asGwError } from '../../src/lib/error/index.ts';

const all = { 'robot-will-move': true, 'space-free': true, 'emergency-stop-in-hand': true };
const refusal = (...of: Parameters<typeof confirmedBy>) => {
  try {
    return confirmedBy(...of);
  } catch (error) {
    const { code, exitCode, message, remedy } = asGwError(error);
    return { code, exitCode, message, remedy };
  }
};

describe('the conditions of a trial', () => {
  it('names every missing condition and the missing person in one usage error', () => {
    expect(refusal('stop', {})).toEqual({
      code: 'USAGE',
      exitCode: 2,
      message:
        'This drives the robot, and --who does not name the person beside it. Not confirmed by a person on site: ' +
        'the robot may move; no person and no object is within 1.5 m of the robot and its way; ' +
        'a hand is on its emergency stop.',
      remedy:
        'Stand beside the robot, check each condition, then add ' +
        '--who NAME --robot-will-move --space-free --emergency-stop-in-hand.',
    });
  });

  it('reports the missing person in this error, before the parser would name that flag alone', () => {
    expect(EvidenceVerify.flags.who.required ?? false).toBe(false);
  });

  it('names only missing conditions', () => {
    const { who: _who, ...rest } = { who: 'J. Doe', ...all, 'space-free': false };
    const refused = refusal('pose', { who: 'J. Doe', ...rest }) as { code: string; message: string; remedy: string };
    expect(refused.code).toBe('RISK_NOT_ACCEPTED');
    expect(refused.message).toMatch(/^This sets another pose of the robot\. Not confirmed .*: no person and no object/);
    expect(refused.remedy).toBe('Stand beside the robot, check each condition, then add --space-free.');
    expect(refusal('dock', all)).toMatchObject({ code: 'USAGE', remedy: 'Add --who NAME.' });
    expect(refusal('move', { unattended: true })).toMatchObject({ code: 'USAGE', remedy: 'Add --who NAME.' });
  });

  it('accepts a confirmation only as true', () => {
    for (const name of Object.keys(all)) {
      expect(refusal('stop', { who: 'J. Doe', ...all, [name]: false })).toMatchObject({ code: 'RISK_NOT_ACCEPTED' });
    }
    expect(refusal('stop', { who: 'J. Doe', ...all })).toBe('J. Doe');
    expect(refusal('stop', { who: 'demo', unattended: true })).toBe('demo');
  });
});
