import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { encodeRequest } from '../../src/lib/enrolment/wire.ts';
import { errorTable } from '../../src/lib/error/index.ts';
import { http, startRawEndpoint } from './raw-endpoint.ts';
import { failureOf, it } from './world.ts';

const page = await readFile(new URL('../../docs/enrolment.md', import.meta.url), 'utf8');
const section = (title: string) => page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';

describe('docs/enrolment.md', () => {
  it('shows the body of a request as it is sent', () => {
    const shown = encodeRequest({
      serial: 'SN0001',
      certificateRequest: '-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n',
      oneTimeCode: 'ABCD-EFGH',
      renewal: false,
      device: { model: 'model-x', software: '2.12.3' },
    });
    expect(section('On the wire')).toContain(`\n${shown}\n`);
  });

  it('lists every error of the enrolment, and no other', () => {
    const listed = [...section('What can go wrong').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
    const own = Object.keys(errorTable).filter((code) => /^(ENROLMENT|IDENTITY|CERTIFICATE|ALREADY|NOT_EN)/.test(code));
    expect(listed.toSorted()).toEqual(own.toSorted());
  });

  it('describes every status as the command does', async ({ world }) => {
    let status = 0;
    await using raw = await startRawEndpoint(world.authority, (socket) => socket.end(http(status, '')));
    const rows = [...section('On the wire').matchAll(/^\| (\d{3}) \| (.+) \|$/gm)];
    expect(rows.length).toBe(7);
    for (const [, code, text = ''] of rows) {
      status = Number(code);
      const { message } = await failureOf(world.enrol({ url: raw.url }));
      expect(message).toContain(`refused: ${text} (status ${status})`);
    }
  });
});
