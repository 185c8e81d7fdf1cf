import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderNetworkCheck } from '../../src/cli/render/network-check.ts';
import type { NetworkCheck, NetworkLine } from '../../src/lib/toolkit/network/check.result.ts';

const line = (about: Partial<NetworkLine>): NetworkLine => ({
  id: 'storage.tcp',
  title: 'Object storage: TCP 443 is open',
  section: 'outward',
  seenFrom: 'gateway',
  need: 'needed',
  tried: 'storage.example.com:443',
  spec: null,
  verdict: 'ok',
  detail: 'connected in 5 ms',
  remedy: null,
  ask: null,
  ...about,
});

function result(lines: readonly NetworkLine[], about: Partial<NetworkCheck> = {}): NetworkCheck {
  const wrong = lines.filter(({ verdict }) => verdict === 'wrong');
  const optionalWrong = wrong.filter(({ need }) => need === 'optional').length;
  return {
    verdict: 'ok',
    sections: { outward: 'ok', inward: 'ok', segment: 'ok' },
    lines: [...lines],
    paths: [],
    sockets: [],
    counts: { ok: 0, wrong: wrong.length - optionalWrong, optionalWrong, notChecked: 0 },
    checks: [{ id: 'storage', tookMs: 400 }],
    tookMs: 600,
    ...about,
  };
}

const text = (data: NetworkCheck) => stripVTControlCharacters(renderNetworkCheck(data));

describe('the text of the network check', () => {
  it('answers in its first line', () => {
    expect(text(result([line({})])).split('\n')[0]).toBe('The network is as it must be.');
    const open = result([line({ verdict: 'not-checked' })], { verdict: 'not-checked' });
    expect(text(open).split('\n')[0]).toBe(
      'Nothing needed is wrong, and not everything was looked at; 1 needed line was not checked.',
    );
    const blocked = result([line({ verdict: 'wrong', detail: 'blocked' })], { verdict: 'wrong' });
    expect(text(blocked).split('\n')[0]).toBe(
      '1 needed line is wrong. First: Object storage: TCP 443 is open: blocked',
    );
  });

  it('shows an optional line that is wrong as no failure', () => {
    const shown = text(result([line({ verdict: 'wrong', need: 'optional', detail: 'blocked' })]));
    expect(shown.split('\n')[0]).toBe('The network is as it must be; 1 optional line is wrong.');
    expect(shown).toContain('no   Object storage: TCP 443 is open (optional): blocked [storage.example.com:443]');
    expect(shown).not.toContain('FAIL');
  });

  it('collects what to ask the IT for, each thing once', () => {
    const shown = text(
      result([
        line({ verdict: 'wrong', ask: 'Open it.' }),
        line({ verdict: 'wrong', ask: 'Open it.' }),
        line({ ask: 'Not this.' }),
      ]),
    );
    expect(shown).toContain("Ask the customer's IT\n- Open it.\n");
    expect(shown.match(/Open it\./g)).toHaveLength(1);
    expect(shown).not.toContain('Not this.');
  });

  it('lists sockets with process and binding, and lets no name of a process reach the terminal as it came', () => {
    const process = { pid: 7, name: '\u001b[31mevil' };
    const shown = renderNetworkCheck(
      result([line({})], {
        sockets: [
          {
            protocol: 'tcp',
            address: '0.0.0.0',
            port: 9100,
            processes: [process],
            reach: 'other-machines',
            allowedBy: null,
            why: 'nobody named it',
          },
        ],
      }),
    );
    expect(shown).not.toContain('\u001b[31mevil');
    expect(stripVTControlCharacters(shown)).toMatch(
      /tcp +0\.0\.0\.0 +9100 +\uFFFD\[31mevil \(7\) +nothing +nobody named it/,
    );
  });

  it('says how long it took beside its slowest single check', () => {
    expect(
      text(result([line({})]))
        .trimEnd()
        .split('\n')
        .at(-1),
    ).toBe('took 0.6 s; the slowest single check 0.4 s');
  });
});
