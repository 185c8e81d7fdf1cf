import { describe, expect, it } from 'vitest';
import { renderNetworkCheck } from '../../src/cli/render/network.ts';
import type { NetworkCheck, NetworkLine } from '../../src/lib/toolkit/network/network.result.ts';
import { firstLine, linesOf, plain } from './shown.ts';

const line = (about: Partial<NetworkLine>): NetworkLine => ({
  ...{ id: 'storage.tcp', title: 'Object storage: TCP 443 connects', section: 'outward', seenFrom: 'gateway' },
  ...{ need: 'needed', tried: 'storage.example.com:443', spec: null, verdict: 'ok', detail: 'connected in 5 ms' },
  ...{ remedy: null, ask: null, ...about },
});

function result(lines: readonly NetworkLine[], about: Partial<NetworkCheck> = {}): NetworkCheck {
  const wrong = lines.filter(({ verdict }) => verdict === 'wrong');
  const optionalWrong = wrong.filter(({ need }) => need === 'optional').length;
  return {
    ...{ verdict: 'ok', sections: { outward: 'ok', inward: 'ok', segment: 'ok' }, lines: [...lines], paths: [] },
    counts: { ok: 0, wrong: wrong.length - optionalWrong, optionalWrong, notChecked: 0 },
    ...{ sockets: [], checks: [{ id: 'storage', tookMs: 400 }], tookMs: 600, ...about },
  };
}

const text = (data: NetworkCheck) => plain(renderNetworkCheck(data));

describe('the output of the network check', () => {
  it('states the verdict in its first line', () => {
    expect(firstLine(text(result([line({})])))).toBe('Network ok: 1 of 1 checks.');
    const open = result([line({ verdict: 'not-checked' })], { verdict: 'not-checked' });
    expect(firstLine(text(open))).toBe('Not decided: 1 of 1 network checks were not checked.');
    const blocked = result([line({ verdict: 'wrong', detail: 'blocked' })], { verdict: 'wrong' });
    expect(firstLine(text(blocked))).toMatch(/^FAILED: 1 of 1 network checks\. First: .*: TCP 443 connects: blocked$/);
  });

  it('does not count a failed optional line as a failure', () => {
    const shown = text(result([line({}), line({ verdict: 'wrong', need: 'optional', detail: 'blocked' })]));
    expect(firstLine(shown)).toBe('Network ok: 1 of 1 checks; 1 optional failed.');
    expect(shown).toContain('no   Object storage: TCP 443 connects (optional): blocked [storage.example.com:443]');
    expect(shown).not.toContain('FAIL');
  });

  it('lists each request to the IT department once', () => {
    const asking = line({ verdict: 'wrong', ask: 'Open it.' });
    const shown = text(result([asking, asking, line({ ask: 'Not this.' })]));
    expect(shown).toContain("Ask the customer's IT\n- Open it.\n");
    expect(shown.match(/Open it\./g)).toHaveLength(1);
    expect(shown).not.toContain('Not this.');
  });

  it('lists sockets with process and binding, and sanitizes process names', () => {
    const process = { pid: 7, name: '\u001b[31mevil' };
    const socket: NonNullable<NetworkCheck['sockets']>[number] = {
      ...{ protocol: 'tcp', address: '0.0.0.0', port: 9100, processes: [process], reach: 'other-machines' },
      ...{ allowedBy: null, why: 'not in the site file' },
    };
    const shown = renderNetworkCheck(result([line({})], { sockets: [socket] }));
    expect(shown).not.toContain('\u001b[31mevil');
    expect(plain(shown)).toMatch(/tcp +0\.0\.0\.0 +9100 +\uFFFD\[31mevil \(7\) +nothing +not in the site file/);
  });

  it('shows the total and the slowest check', () => {
    expect(linesOf(text(result([line({})])).trimEnd()).at(-1)).toBe('took 0.6 s; slowest check 0.4 s');
  });
});
