import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { subscribedFilters, topicsOf } from '../../src/lib/cloud/topics.ts';
import { topicKeys } from '../../src/lib/site/index.ts';
import { templates, topics } from './gate/context.ts';

const serial = fc.stringMatching(/^[A-Za-z0-9:_-]{1,128}$/);
const element = fc.stringMatching(/^[A-Za-z0-9$_.:-]{1,8}$/);
const template = fc
  .tuple(fc.array(element, { maxLength: 3 }), fc.array(fc.oneof(element, fc.constant('<serial>')), { maxLength: 2 }))
  .map(([before, after]) => [...before, '<serial>', ...after].join('/'));
const anyTemplates = fc.record({
  ...{ telemetry: template, faults: template, records: template, presence: template, stop: template },
  ...{ storage: template, jobs: template, shadow: template, tunnels: template },
});

describe('the topics of a robot', () => {
  it('are those of the page, and the stop is subscribed first', () => {
    expect(topics.stop).toBe('gw/SN0001/stop');
    expect(subscribedFilters(topics)).toEqual([
      'gw/SN0001/stop',
      'gw/SN0001/jobs/notify-next',
      'gw/SN0001/jobs/start-next/accepted',
      'gw/SN0001/jobs/start-next/rejected',
      'gw/SN0001/jobs/+/update/accepted',
      'gw/SN0001/jobs/+/update/rejected',
      'gw/SN0001/jobs/+/get/accepted',
      'gw/SN0001/jobs/+/get/rejected',
      'gw/SN0001/shadow/update/accepted',
      'gw/SN0001/shadow/update/rejected',
      'gw/SN0001/storage/answer',
      'gw/SN0001/tunnels/notify',
    ]);
  });

  it('have no wildcard and the serial of this robot where the template says so, and nowhere another one', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(anyTemplates, serial, (given, own) => {
        const resolved = topicsOf(given, own);
        for (const key of topicKeys) {
          const [from, to] = [given[key].split('/'), resolved[key].split('/')];
          expect(to).toEqual(from.map((each) => (each === '<serial>' ? own : each)));
          expect(resolved[key]).not.toMatch(/[+#<>]/);
        }
        for (const filter of subscribedFilters(resolved)) {
          expect(filter).not.toContain('#');
          // The wildcard is one path element of its own, below the serial.
          expect(filter.split('/').filter((each) => each.includes('+'))).toEqual(filter.includes('+') ? ['+'] : []);
          expect(filter.split('/').indexOf(own)).toBeGreaterThanOrEqual(0);
          if (filter.includes('+')) expect(filter.split('/').indexOf(own)).toBeLessThan(filter.split('/').indexOf('+'));
        }
      }),
    );
  });

  it('keep a serial that looks like a pattern of a replacement', () => {
    expect(topicsOf({ ...templates, stop: '$a/<serial>' }, '$&').stop).toBe('$a/$&');
  });
});
