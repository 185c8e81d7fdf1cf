import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ATTACHMENT_MAX_BYTES } from '../../src/lib/checklist/journal/attachment.ts';
import { JOURNAL_MAX_BYTES } from '../../src/lib/checklist/journal/journal.ts';
import { MAX_KEPT as MAX_DAMAGED_OUTBOXES } from '../../src/lib/cloud/outbox/store/set-aside.ts';
import { packageLimits } from '../../src/lib/cloud/release/manifest.ts';
import { spoolLimits } from '../../src/lib/cloud/storage/spool.ts';
import { MAX_BYTES as MAX_EVIDENCE_BYTES } from '../../src/lib/evidence/record-file.ts';
import { MAX_INCIDENT_BYTES } from '../../src/lib/incident/incident-file.ts';
import { MAX_KEPT as MAX_INCIDENTS } from '../../src/lib/incident/store.ts';
import { MAX_MEDIA_BYTES } from '../../src/lib/operator/media/media.ts';
import { siteSchema } from '../../src/lib/site/index.ts';
import { MAX_ROTATED_FILES } from '../../src/lib/tunnel/records/files.ts';
import { DEFAULT_MAX_FILE_BYTES, MAX_UNSENT_FILES } from '../../src/lib/tunnel/records/records.ts';

const page = await readFile(new URL('../../docs/gateway.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('## What is written to the disk\n');
const mb = (bytes: number) => {
  const value = bytes / 1e6;
  return value < 10 ? String(Math.round(value * 10) / 10) : Math.round(value).toLocaleString('en-US');
};
/** The bound of a row. */
const boundOf = (what: string) => {
  const row = section.split('\n').find((line) => line.startsWith(`| ${what}`));
  return row?.split('|')[3]?.trim();
};

const { disk, cloud } = siteSchema.parse({
  name: 'Test',
  chassis: { host: '127.0.0.1', serial: 'SN0007' },
  cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' } },
});
const outboxMb = cloud?.outbox.maxMb ?? 0;

it('the table of what is written has the bounds of the code', () => {
  expect(boundOf('outbox of the cloud')).toBe(`${outboxMb} MB (\`cloud.outbox.maxMb\`)`);
  expect(boundOf('damaged outboxes')).toBe(`${MAX_DAMAGED_OUTBOXES} of them, each as large`);
  expect(boundOf('uploads')).toBe(`${mb(spoolLimits.maxBytes)} MB, ${spoolLimits.maxEntries} entries`);
  expect(boundOf('media')).toBe(`${mb(disk.mediaMb * 1e6)} MB (\`disk.mediaMb\`), ${mb(MAX_MEDIA_BYTES)} MB a file`);
  expect(boundOf('incidents')).toBe(`${MAX_INCIDENTS} of ${mb(MAX_INCIDENT_BYTES)} MB`);
  expect(boundOf('records of support sessions')).toBe(
    `${MAX_UNSENT_FILES + 1} files of ${mb(DEFAULT_MAX_FILE_BYTES)} MB while the cloud does not take them, else ${MAX_ROTATED_FILES + 1}`,
  );
  expect(boundOf('releases')).toContain(`its package of at most ${mb(packageLimits.packageBytes)} MB`);
  expect(boundOf('evidence')).toBe(`${mb(MAX_EVIDENCE_BYTES)} MB`);
  expect(boundOf('running checklists')).toBe(
    `${mb(JOURNAL_MAX_BYTES)} MB a journal; attachments of at most ${mb(ATTACHMENT_MAX_BYTES)} MB`,
  );
  expect(section).toContain(`leave \`disk.reserveMb\` (${disk.reserveMb} MB) free`);
});

it('the sums are those of the rows', () => {
  const records = (MAX_UNSENT_FILES + 1) * DEFAULT_MAX_FILE_BYTES;
  const always = (outboxMb + disk.mediaMb) * 1e6 + MAX_INCIDENTS * MAX_INCIDENT_BYTES + records + MAX_EVIDENCE_BYTES;
  // Two versions and the one being installed, of the size that docs/performance.md has.
  const usual = always + 3 * 34e6;
  const most =
    always +
    MAX_DAMAGED_OUTBOXES * outboxMb * 1e6 +
    spoolLimits.maxBytes +
    3 * packageLimits.totalBytes +
    packageLimits.packageBytes;
  const gb = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  expect(section.replaceAll('\n', ' ')).toContain(`that is ${gb(usual)} at most in everyday operation`);
  expect(section.replaceAll('\n', ' ')).toContain(`and ${gb(most)} with everything at its bound`);
});
