import { describe, expect, it } from 'vitest';
import { renderExportedIncident, renderIncident, renderIncidents } from '../../src/cli/render/incident.ts';
import { sampleBody, sampleHead } from '../incident/incidents.ts';
import { plain } from './shown.ts';

const summary = 'STOP on the operator surface (192.0.2.9)';
const sound = { recording: null, unreadable: 0, folderProblem: null, notKept: null };
const list = { incidents: [{ ...sampleHead, summary }], ...sound };
const shown = {
  ...{ path: null, sha256: 'ab', head: sampleHead, log: sampleBody.log, leftOut: sampleBody.leftOut, poses: 600 },
  maps: [{ uid: 'u-1', version: 1, title: 'hall', poses: 580 }],
  events: [{ atMs: 0, kind: 'cause' as const, text: summary }],
};

describe('gw incident', () => {
  it('lists the newest first, with the next command', () => {
    expect(plain(renderIncidents(list)).split('\n')).toEqual([
      '1 incident, newest first. Next: gw incident show 3',
      '',
      'no.  when (UTC)                what',
      `  3  2026-01-31T12:00:00.000Z  ${summary}`,
    ]);
    expect(plain(renderIncidents({ ...list, incidents: [] }))).toBe('No incident is kept.');
  });

  it('says at once what was lost', () => {
    const none = (change: object) => plain(renderIncidents({ ...list, incidents: [], ...change }));
    expect(none({ unreadable: 2, notKept: { count: 1, reason: 'full' } }).split('\n')).toEqual([
      'No incident is kept.',
      '1 incident NOT KEPT since the gateway started: full',
      '2 files of incidents cannot be read.',
    ]);
    expect(none({ folderProblem: 'EACCES' })).toBe('Earlier incidents cannot be read: EACCES');
    const incidents = [{ ...sampleHead, summary, isComplete: false, moreCauses: 4 }];
    expect(plain(renderIncidents({ ...list, incidents }))).toContain('and 4 more (cut short: the gateway ended)');
    expect(plain(renderIncidents({ ...list, incidents, recording: 3 }))).toContain('(being recorded)');
  });

  it('shows causes first, then events and log with their time', () => {
    const text = plain(renderIncident(shown));
    expect(text.split('\n')[0]).toBe(`Incident 3 of robot TEST-1, 2026-01-31T12:00:00.000Z: ${summary}.`);
    expect(text).toContain(`  +0.0 s  ${summary}`);
    expect(text).toContain('  +0.0 s warn  stop by=x');
    expect(text).toContain("600 poses (580 on 'hall', 20 on a map that is not known)");
    expect(plain(renderIncident({ ...shown, poses: 0, maps: [] }))).toContain('0 poses; ');
    const partial = { ...shown, head: { ...sampleHead, isComplete: false }, leftOut: { poses: 0, scenes: 3, log: 1 } };
    expect(plain(renderIncident(partial))).toMatch(/not complete[\s\S]*left out: 3 scenes, 1 log\./);
  });

  it('shows control characters of others as escapes', () => {
    const evil = '\u001b[2J';
    const text = renderIncident({ ...shown, events: [{ atMs: 0, kind: 'cause', text: evil }] });
    expect(text).not.toContain(evil);
  });

  it('names the command that verifies an exported file', () => {
    const text = plain(renderExportedIncident({ path: 'a.jsonl', bytes: 9, sha256: 'ab', head: sampleHead }));
    expect(text).toContain('head -n 2 a.jsonl | sha256sum gives ab');
  });
});
