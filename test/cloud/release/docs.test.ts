import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/lib/cloud/release/job/document.ts';
import { releasePhases } from '../../../src/lib/cloud/release/model.ts';

const page = readFileSync(new URL('../../../docs/cloud.md', import.meta.url), 'utf8');
const boot = readFileSync(new URL('../../../packaging/boot.js', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('## Releases'), page.indexOf('## Object storage'));

/** First cells of the table below a heading. */
const firstCells = (heading: string) => {
  const [, part = ''] = section.split(`### ${heading}\n`);
  const rows = (part.split('\n### ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split('|')[1]?.trim() ?? '');
};

describe('docs/cloud.md, Releases', () => {
  it('lists every phase', () => {
    expect(firstCells('Phases')).toEqual(releasePhases.map((phase) => `\`${phase}\``));
  });

  it('lists every field of the job document', () => {
    const names = firstCells('Job document').flatMap((cell) => cell.replaceAll('`', '').split(', '));
    expect(names).toEqual([
      ...['schema', 'version', 'package.url', 'package.bytes', 'package.sha256'],
      ...['allowDowngrade', 'stage', 'documentParameters'],
    ]);
    const all = {
      schema: 'gw/release-job/1',
      version: '1.0.0',
      package: { url: 'https://a.example/', bytes: 1, sha256: 'ab'.repeat(32) },
      allowDowngrade: true,
      stage: 1,
      documentParameters: { site: 'A' },
    };
    expect(readDocument(all).ok).toBe(true);
  });

  it('gives the limits of boot.js', () => {
    expect(boot).toContain('MAX_STARTS = 3;');
    expect(section).toContain('after three it restores the version');
    expect(boot).toContain('HANG_MARGIN_S = 60;');
    expect(section).toMatch(/plus 60\s+seconds/);
  });
});
