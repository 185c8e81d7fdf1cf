import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseListeningUnixSockets } from '../../src/lib/net/index.ts';

/** Read on Debian 12 (Linux 6.1), with names that a local user may choose. */
const table = `Num       RefCount Protocol Flags    Type St Inode Path
00000000b3b73da9: 00000003 00000000 00000000 0001 03 3282124
0000000000000000: 00000002 00000000 00010000 0001 01 16724 /run/systemd/private
0000000000000000: 00000002 00000000 00010000 0001 01  9724 /var/lib/gw/state/local/gw.sock
0000000000000000: 00000003 00000000 00000000 0001 03 16725 /var/lib/gw/state/local/gw.sock
0000000000000000: 00000002 00000000 00000000 0002 01 16726 /run/systemd/notify
0000000000000000: 00000002 00000000 00010000 0005 01 16727 /run/udev/control
0000000000000000: 00000002 00000000 00010000 0001 01 16728 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00010000 0001 01 16729 /tmp/with a  space
0000000000000000: 00000002 00000000 00010000 0001 01 16730 relative/gw.sock
`;

describe('the listening Unix sockets', () => {
  it('are the streams with a path that accept connections', () => {
    const expected = ['/run/systemd/private', '/var/lib/gw/state/local/gw.sock', '/tmp/with a  space'];
    expect(parseListeningUnixSockets(table)).toEqual(expected);
  });

  it('are parsed from any text without a throw, as absolute paths', { tags: 'property' }, () => {
    const part = fc.constantFrom(...'0000: |00000002 |00010000 |0001 |01 |17 |/a| |\n|@x|\0'.split('|'));
    const anyText = fc.oneof(fc.string(), fc.string({ unit: part }));
    fc.assert(
      fc.property(anyText, (text) => {
        for (const path of parseListeningUnixSockets(text)) expect(path).toMatch(/^\/[^\n]+$/);
      }),
    );
  });
});
