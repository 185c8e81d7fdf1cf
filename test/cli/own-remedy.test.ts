import { describe, expect, it } from 'vitest';
import { ownRemedies, withOwnRemedy } from '../../src/cli/own-remedy.ts';
import { type ErrorCode, type ErrorRow, errorTable, GwError } from '../../src/lib/error/index.ts';
import { listedCommands } from './printed-commands.ts';

const rows = Object.entries(errorTable as Readonly<Record<string, ErrorRow>>) as [ErrorCode, ErrorRow][];
const ids = Object.keys(listedCommands).map((id) => id.replaceAll(':', ' '));

/** Commands that a remedy names as they are, without a flag that makes another call of them. */
function namedIn(remedy: string): string[] {
  const lines = [...remedy.matchAll(/`gw ([^`]*)`/g)].map(([, line = '']) => line);
  return lines.flatMap((line) => {
    if (line.includes('--')) return [];
    return ids
      .filter((id) => line === id || line.startsWith(`${id} `))
      .sort((a, b) => b.length - a.length)
      .slice(0, 1);
  });
}

/** Commands of remedies that never end with their error, with the reason. */
const impossible: Readonly<Record<string, string>> = {
  'SITE_FILE_NOT_FOUND site init': 'it writes the file',
  'SITE_FILE_INVALID site check': 'the problems are its result',
  'EVIDENCE_UNKNOWN evidence list': 'it takes no id',
  'CHECKLIST_UNKNOWN checklist list': 'it takes no name',
  'ANSWERS_INVALID checklist show': 'it reads no answers',
  'STEP_UNKNOWN checklist show': 'it takes no step',
  'RECORD_INVALID checklist run': 'it writes the record',
  'INCIDENT_UNKNOWN incident list': 'it takes no number',
  'MAP_UNKNOWN map list': 'it takes no map',
  'OPERATOR_NOT_REACHABLE serve': 'it is the server',
  'SIM_NOT_RUNNING sim': 'it is the simulator',
  'MOTION_STOPPED motion clear': 'it clears the stop',
  'ARCHIVE_FOREIGN map backup': 'it reads no backup',
  'BACKUP_OUTDATED map backup': 'it makes the backup',
  'NOT_ENROLLED enrol': 'it enrols',
  'ALREADY_ENROLLED enrol status': 'it shows the identity',
  'ENROLMENT_RUNNING enrol status': 'it reads only',
};

describe('a remedy', () => {
  it('never names the command that printed it, over the whole table of errors', () => {
    const pairs = rows.flatMap(([code, { remedy }]) => namedIn(remedy).map((id) => [code, id] as const));
    expect(pairs.length).toBeGreaterThan(20);
    const open = pairs.filter(
      ([code, id]) => ownRemedies[id]?.[code] === undefined && !(`${code} ${id}` in impossible),
    );
    expect(open).toEqual([]);
    for (const [code, id] of pairs) {
      if (`${code} ${id}` in impossible) continue;
      const { remedy } = withOwnRemedy(new GwError(code, 'what happened'), id);
      expect([code, id, namedIn(remedy)]).toEqual([code, id, expect.not.arrayContaining([id])]);
    }
    const known = new Set(pairs.map(([code, id]) => `${code} ${id}`));
    expect(Object.keys(impossible).filter((pair) => !known.has(pair))).toEqual([]);
  });

  it('has its own text only where the one of the table names the command, or sends to a longer way', () => {
    for (const [id, own] of Object.entries(ownRemedies)) {
      expect(ids).toContain(id);
      for (const code of Object.keys(own) as ErrorCode[]) expect(namedIn(errorTable[code].remedy)).toContain(id);
    }
  });

  it('that is specific to what happened stays, and so does the error', () => {
    const specific = new GwError('RELEASE_INVALID', 'wrong key', { remedy: 'Use the other key.' });
    expect(withOwnRemedy(specific, 'release verify')).toBe(specific);
    const cause = new Error('why');
    const error = new GwError('RELEASE_INVALID', 'bad', { details: { problems: ['a'] }, cause });
    expect(withOwnRemedy(error, 'map verify')).toBe(error);
    const own = withOwnRemedy(error, 'release verify');
    expect([own.code, own.message, own.details, own.cause]).toEqual([error.code, 'bad', error.details, cause]);
  });
});
