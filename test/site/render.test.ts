import { describe, expect, it } from 'vitest';
import { renderSiteCheck } from '../../src/cli/render/site.ts';
import { describeSiteSchema } from '../../src/lib/site/index.ts';
import { type SiteCheck, siteCheckSchema } from '../../src/lib/toolkit/site/site.result.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

const bad: SiteCheck = siteCheckSchema.parse({
  path: 'site.yaml',
  valid: false,
  passwordId: null,
  verdict: 'wrong',
  errors: 2,
  problems: [
    {
      line: 3,
      column: 5,
      key: 'chassis.prot',
      found: "the unknown key 'prot'",
      expected: 'one of host, port',
      suggestion: 'port',
    },
    { line: null, column: null, key: '', found: 'an empty file', expected: 'keys and values', suggestion: null },
  ],
  findings: [
    { id: 'state-folder', title: 'state folder', verdict: 'not-checked', detail: 'not\u001b[31m now', remedy: null },
  ],
  completeFor: [],
});

describe('the output of a check', () => {
  it('states the verdict in its first line', () => {
    expect(plain(renderSiteCheck(bad)).split('\n')[0]).toBe('2 errors in site.yaml');
    expect(renderSiteCheck({ ...bad, errors: 1 }).split('\n')[0]).toBe('1 error in site.yaml');
    expect(renderSiteCheck({ ...bad, valid: true, errors: 0, problems: [] }).split('\n')[0]).toBe('site.yaml is valid');
  });

  it('shows every problem with position, found and expected value', () => {
    expect(plain(renderSiteCheck(bad))).toContain(
      "FAIL site.yaml:3:5  chassis.prot\n     found the unknown key 'prot'\n     expected one of host, port\n     did you mean 'port'?\nFAIL site.yaml\n",
    );
  });

  it('passes no escape sequence', () => {
    expect(plain(renderSiteCheck(bad))).not.toContain('\u001b');
  });
});

describe('the table of keys', () => {
  const rows = describeSiteSchema().split('\n');

  it.each([
    '| `chassis.host` | host | required | Host name or address of the chassis, from its DHCP reservation. |',
    '| `chassis.port` | whole number, 1 to 65535 | `8090` | TCP port of the chassis interface. |',
    '| `operator.names` | list of host | `[]` | Further host names of this gateway in URLs of tablets (addresses and localhost always work). |',
    '| `stations.<name>.yawDeg` | number, -360 to 360 | none | Heading in degrees, counter-clockwise, 0 along +x. |',
  ])('has the row %s', (row) => {
    expect(rows).toContain(row);
  });

  it('has a description for every key', () => {
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows.slice(2)) expect(row).toMatch(/^\| `[^`]+` \| [^|]+ \| [^|]+ \| [^|]+\. \|$/);
    const meant = rows.slice(2).filter((row) => !row.endsWith('|  |'));
    expect(meant).toHaveLength(rows.length - 2);
  });
});
