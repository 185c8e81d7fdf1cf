import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GwError } from '../../src/lib/error/index.ts';
import { parseNeighbourTable, readNeighbourTable } from '../../src/lib/net/index.ts';
import { anyCharacter } from '../text/units.ts';

const head = 'IP address       HW type     Flags       HW address            Mask     Device\n';
const table = `${head}192.0.2.7        0x1         0x2         AA:bb:cc:00:11:22     *        wlan0
192.0.2.8        0x1         0x0         00:00:00:00:00:00     *        eth0
192.0.2.9        0x1         0x6         02:00:00:00:00:01     *        br-1
`;

describe('the ARP table', () => {
  it('has complete and incomplete entries', () => {
    expect(parseNeighbourTable(table)).toEqual([
      { address: '192.0.2.7', mac: 'aa:bb:cc:00:11:22', device: 'wlan0' },
      { address: '192.0.2.8', mac: null, device: 'eth0' },
      { address: '192.0.2.9', mac: '02:00:00:00:00:01', device: 'br-1' },
    ]);
  });

  it('is empty without entries, and skips invalid lines', () => {
    const lines = ['', '\n\n', 'garbage\n', '192.0.2.7 0x1 yes aa:bb:cc:00:11:22 * eth0'];
    for (const text of ['', ...lines.map((line) => head + line)]) expect(parseNeighbourTable(text)).toEqual([]);
  });

  it('is parsed from any text without a throw', { tags: 'property' }, () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('192.0.2.7', '0x2', '0x', 'aa:bb:cc:00:11:22', '*'));
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(fc.array(word).map((words) => words.join(' '))).map((lines) => `${head}${lines.join('\n')}`),
    );
    fc.assert(
      fc.property(text, (input) => {
        for (const { address, mac } of parseNeighbourTable(input)) {
          expect(address).toMatch(/^[\d.]+$/);
          if (mac !== null) expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
        }
      }),
    );
  });

  it.runIf(process.platform === 'linux')('of this machine can be read', async () => {
    expect(Array.isArray(await readNeighbourTable())).toBe(true);
  });

  it('that is missing is an error with its path', async () => {
    const error = (await readNeighbourTable('/proc/net/none').catch((reason: unknown) => reason)) as GwError;
    expect(error.code).toBe('FILE_UNREADABLE');
    expect(error.message).toContain('/proc/net/none');
  });
});
