import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byHardware } from '../../src/lib/kiosk/index.ts';
import { parseNeighbourTable } from '../../src/lib/net/index.ts';

const MAC = '02:00:00:00:00:03';
const octet = fc.integer({ min: 1, max: 14 });
const address = octet.map((last) => `192.0.2.${last}`);
const stranger = fc
  .uint8Array({ minLength: 6, maxLength: 6 })
  .map((bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':'))
  .filter((mac) => mac !== MAC);
const line = (of: string, mac: string, flags = '0x2') => `${of} 0x1 ${flags} ${mac} * wlan0`;
const tableOf = (lines: readonly string[]) => parseNeighbourTable(['head', ...lines].join('\n'));

describe('the candidates for the tablet', () => {
  it('are those that answer, the one with its MAC address first', () => {
    const table = tableOf([line('192.0.2.4', '02:AA:00:00:00:01'), line('192.0.2.6', MAC.toUpperCase())]);
    const answers = [
      { address: '192.0.2.4', port: 'open' },
      { address: '192.0.2.5', port: 'silent' },
      { address: '192.0.2.6', port: 'closed' },
      { address: '192.0.2.7', port: 'open' },
    ] as const;
    expect(byHardware(answers, table, [MAC])).toEqual([
      { address: '192.0.2.6', port: 'closed', mac: MAC, hasMac: true },
      { address: '192.0.2.4', port: 'open', mac: '02:aa:00:00:00:01', hasMac: false },
      { address: '192.0.2.7', port: 'open', mac: null, hasMac: false },
    ]);
  });

  it('of a table of strangers have not its MAC address, and without one to look for none has', {
    tags: 'property',
  }, () => {
    const port = fc.constantFrom('open', 'closed', 'silent');
    const answers = fc.uniqueArray(fc.record({ address, port }), { selector: (answer) => answer.address });
    const strangers = fc.array(fc.tuple(address, stranger).map(([of, mac]) => line(of, mac)));
    const incomplete = fc.array(address.map((of) => line(of, MAC, '0x0')));
    fc.assert(
      fc.property(answers, strangers, incomplete, fc.array(fc.string()), (heard, lines, half, noise) => {
        const table = tableOf([...noise, ...lines, ...half]);
        for (const macs of [[MAC], []]) {
          const candidates = byHardware(heard, table, macs);
          expect(candidates.filter(({ hasMac }) => hasMac)).toEqual([]);
          expect(candidates.map((candidate) => candidate.address).sort()).toEqual(
            heard
              .filter((answer) => answer.port !== 'silent')
              .map((answer) => answer.address)
              .sort(),
          );
        }
      }),
    );
  });
});
