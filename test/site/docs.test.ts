import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findFact } from '../../src/lib/evidence/index.ts';
import { parseEvidenceFile } from '../../src/lib/evidence/record.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { describeSiteSchema } from '../../src/lib/site/write.ts';

const page = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const siteKeys = new Set([...describeSiteSchema().matchAll(/^\| `([\w.]+)`/gm)].map((match) => match[1]));
const block = (text: string, language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)?.[1] ?? '';

describe('examples of the docs pages', () => {
  it('the site file of docs/site-file.md is valid', async () => {
    const site = parseSite(block(await page('site-file.md'), 'yaml'), 'site.yaml');
    expect(site.tours.lunch?.stations).toEqual(['A', 'B']);
  });

  it('the error of docs/site-file.md is the one that gw prints', async () => {
    const shown = /site\.yaml:7:3: .*/.exec(await page('site-file.md'))?.[0];
    const text = block(await page('site-file.md'), 'yaml').replace('passwordFile: secrets/password', 'prot: 5175');
    expect(() => parseSite(text, 'site.yaml')).toThrow(expect.objectContaining({ message: shown }));
  });

  it('the record of docs/evidence.md is valid and names a fact', async () => {
    const [record] = parseEvidenceFile(block(await page('evidence.md'), 'json'), 'evidence.jsonl');
    expect(findFact(record?.fact ?? '')?.mark).toBe('HINWEIS');
  });

  it('every fact that docs/decisions.md refers to is in the ledger', async () => {
    const ids = [
      ...(await page('decisions.md')).matchAll(/`((?:operator|errors|chassis|network|vendor)\.[a-z0-9.-]+)`/g),
    ]
      .map((match) => match[1] ?? '')
      .filter((id) => !siteKeys.has(id));
    expect(ids.length).toBeGreaterThan(5);
    for (const id of ids) expect(findFact(id), id).toBeDefined();
  });
});
