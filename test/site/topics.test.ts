import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Problem } from '../../src/lib/document/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { canMatch } from '../../src/lib/site/rules.ts';
import { defaultTemplates, topicKeys, topicUses } from '../../src/lib/site/topic-uses.ts';

function siteWith(topics: Readonly<Record<string, unknown>>, serial = 'SN0001'): string {
  return stringify({
    name: 'Lobby',
    chassis: { host: '127.0.0.1', serial },
    cloud: { mqtt: { host: 'mqtt.example.com', alpn: 'x-example-mqtt-ca' }, topics },
  });
}

function problemsOf(topics: Readonly<Record<string, unknown>>, serial?: string) {
  try {
    parseSite(siteWith(topics, serial), 'site.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    expect(error.code).toBe('SITE_FILE_INVALID');
    const problems = error.details?.problems as readonly Problem[];
    return problems.map(({ path, expected, suggestion }) => ({ path, expected, suggestion }));
  }
}

describe('the topics of the site file', () => {
  it('need not be given, and may have the shapes of a common service', () => {
    expect(problemsOf({})).toEqual([]);
    const start = '$aws/things/<serial>';
    expect(
      problemsOf({ jobs: `${start}/jobs`, shadow: `${start}/shadow`, tunnels: `${start}/tunnels/notify` }),
    ).toEqual([]);
  });

  it('of one key differ from those of every other key', () => {
    expect(problemsOf({ telemetry: 'a/<serial>', faults: 'a/<serial>' })).toEqual([
      {
        path: 'cloud.topics.faults',
        expected: 'topics of its own: a/SN0001 belongs to cloud.topics.telemetry too',
        suggestion: null,
      },
    ]);
    expect(problemsOf({ records: defaultTemplates.faults })).toMatchObject([{ path: 'cloud.topics.records' }]);
  });

  it('of one key differ from those of every other key with the serial of this robot', () => {
    // The templates differ, the topics do not.
    expect(problemsOf({ telemetry: '<serial>/SN0001', faults: 'SN0001/<serial>' })).toMatchObject([
      { path: 'cloud.topics.faults' },
    ]);
    expect(problemsOf({ telemetry: '<serial>/SN0001', faults: 'SN0001/<serial>' }, 'SN0002')).toEqual([]);
  });

  it.each([
    [
      'a published topic below the job service',
      { telemetry: 'gw/<serial>/jobs/j1/get/accepted' },
      'jobs/+/get/accepted',
    ],
    ['the stop as a topic of the job service', { stop: 'gw/<serial>/jobs/notify-next' }, 'jobs/notify-next'],
    ['telemetry on the stop topic', { telemetry: 'gw/<serial>/stop' }, 'gw/SN0001/stop'],
    ['the shadow as a job', { shadow: 'gw/<serial>/jobs/shadow' }, 'jobs/+/update'],
    ['records on the answers of the storage', { records: 'gw/<serial>/storage/answer' }, 'storage/answer'],
  ])('are refused with %s', (_, topics, topic) => {
    const [problem, ...more] = problemsOf(topics);
    expect(problem?.path).toBe(`cloud.topics.${Object.keys(topics)[0]}`);
    expect(problem?.expected).toContain(topic);
    expect(more).toEqual([]);
  });

  it.each([
    ['gw/SN0001/telemetry', 'gw/<serial>/telemetry'],
    ['gw/{serial}/telemetry', 'gw/<serial>/telemetry'],
    ['gw/<Serial>/telemetry', 'gw/<serial>/telemetry'],
    ['gw/<thing-name>/telemetry', 'gw/<serial>/telemetry'],
    ['gw/+/telemetry', 'gw/<serial>/telemetry'],
    ['gw/telemetry', null],
    ['gw/robot-<serial>/telemetry', null],
  ])('need the serial as a path element: %s (meant: %s)', (template, suggestion) => {
    expect(problemsOf({ telemetry: template })).toEqual([
      { path: 'cloud.topics.telemetry', expected: 'a topic with <serial> as one path element', suggestion },
    ]);
  });

  it.each(['$share/group/<serial>/stop', '$SYS/<serial>'])(
    'do not start with a name that brokers reserve: %s',
    (stop) => {
      expect(problemsOf({ stop })).toMatchObject([
        { path: 'cloud.topics.stop', expected: expect.stringContaining('which brokers reserve') },
      ]);
    },
  );

  it.each(['gw/<serial>/#', 'gw/<serial>/+', 'gw//<serial>', '/<serial>', 'gw/<serial>/a b', 'gw/<serial>/ü'])(
    'hold no wildcard, no empty element and no other characters: %s',
    (telemetry) => {
      expect(problemsOf({ telemetry })).toHaveLength(1);
    },
  );

  it('have at most 256 bytes with the serial and what gw appends', () => {
    const serial = 's'.repeat(128);
    // 128 of the serial, 64 of the longest job id, 18 of /…/update/accepted, 1 slash.
    const fits = `${'x'.repeat(256 - 128 - 64 - '//update/accepted'.length - 1)}/<serial>`;
    expect(problemsOf({ jobs: fits }, serial)).toEqual([]);
    expect(problemsOf({ jobs: `x${fits}` }, serial)).toEqual([
      {
        path: 'cloud.topics.jobs',
        expected:
          'a shorter template: with the serial number and what gw appends it has 257 bytes, at most 256 are allowed',
        suggestion: null,
      },
    ]);
    expect(problemsOf({ jobs: `x${fits}` })).toEqual([]);
  });
});

describe('the topics that gw appends', () => {
  it('never bring its own messages back', () => {
    const published = topicKeys.flatMap((key) =>
      topicUses[key].published.map((end) => `${defaultTemplates[key]}${end}`),
    );
    const subscribed = topicKeys.flatMap((key) =>
      topicUses[key].subscribed.map((end) => `${defaultTemplates[key]}${end}`),
    );
    expect(published.length).toBeGreaterThan(6);
    for (const topic of published) {
      for (const filter of subscribed) expect(canMatch(topic, filter), `${topic} ${filter}`).toBe(false);
    }
  });
});
