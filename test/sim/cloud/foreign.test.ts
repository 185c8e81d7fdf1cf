import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerUploadRequest } from '../../../src/lib/sim/cloud/cloud.ts';
import { createJobs } from '../../../src/lib/sim/cloud/services/jobs.ts';
import { readPackageVersion, releaseDocument } from '../../../src/lib/sim/cloud/services/release.ts';
import { createShadows } from '../../../src/lib/sim/cloud/services/shadow.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

// Requests of any content: each has exactly one answer, and a wrong one changes nothing.

const field = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('IN_PROGRESS', 'SUCCEEDED', 1, -1, true, {}));
const names = 'status statusDetails expectedVersion clientToken state version method name __proto__ constructor';
const key = fc.oneof(fc.constantFrom(...names.split(' ')), fc.string());
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.dictionary(key, field, { maxKeys: 5 }).map((body) => Buffer.from(JSON.stringify(body))),
);
const suffix = fc.oneof(
  fc.constantFrom('start-next', 'j/update', 'j/get', '$next/get', 'other/update'),
  fc.stringMatching(/^[a-z$/-]{0,12}$/),
);

/** What services need, with the topics that they send to. */
function context() {
  const sent: string[] = [];
  const send = (_serial: string, topic: string) => void sent.push(topic);
  return { sent, about: { now: () => 0, isFailing: () => false, send } };
}

describe('requests of any content', () => {
  it('have one answer of the job service, and a rejected one changes no job', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(suffix, payload), { maxLength: 6 }), (requests) => {
        const { sent, about } = context();
        const jobs = createJobs({ ...about, presign: () => 'url' });
        jobs.create('SN0007', 'j', {});
        for (const [name, body] of requests) {
          sent.length = 0;
          const before = jobs.views();
          jobs.receive('SN0007', name, body);
          const answers = sent.filter((topic) => topic !== 'notify-next');
          if (answers.length === 0) expect(name).toMatch(/(^|\/)(accepted|rejected|notify|notify-next)$/);
          else expect(answers).toHaveLength(1);
          if (answers[0]?.endsWith('/rejected')) expect(jobs.views()).toEqual(before);
          const statuses = ['QUEUED', 'IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED'];
          expect(statuses).toContain(jobs.views()[0]?.status);
        }
      }),
    );
  });

  it('have one answer of the shadow, and a rejected one changes nothing; and get an upload URL only when complete', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(payload, (body) => {
        const { sent, about } = context();
        const shadows = createShadows({ ...about, clock: createFakeClock(), answerMs: () => 0 });
        shadows.receive('SN0007', 'update', body);
        expect(sent.filter((topic) => topic !== 'update/delta')).toHaveLength(1);
        expect(shadows.view('SN0007').version).toBe(sent.includes('update/accepted') ? 1 : 0);
        const answer = answerUploadRequest('SN0007', body, { uploadUrl: () => ({ url: 'url', headers: {} as never }) });
        expect(answer?.url).toBeUndefined();
      }),
    );
  });
});

describe('a package', () => {
  it('of any content has no version where it has no manifest', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_500 }), fc.boolean(), (bytes, isManifest) => {
        const file = Buffer.from(bytes);
        if (isManifest) file.write('manifest.json\0'.slice(0, file.length));
        expect(readPackageVersion(file)).toBeNull();
      }),
    );
  });

  it('has a document whose fields a test can change or remove', () => {
    const changes = { package: { sha256: 'wrong' }, version: undefined, more: 1 };
    const changed = releaseDocument({ bytes: Buffer.from('x'), key: 'k', version: '1.0.0', changes });
    expect(JSON.parse(JSON.stringify(changed))).toEqual({
      schema: 'gw/release-job/1',
      package: { url: '${' + 'sim:presigned-url:k}', bytes: 1, sha256: 'wrong' },
      more: 1,
    });
  });
});
