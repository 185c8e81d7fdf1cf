import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Modules that open files themselves, with the reason. All others go through `lifecycle/`: as root, in a folder of
 * another user, a link or a pipe in place of a file is a trap.
 */
const exceptions: Readonly<Record<string, string>> = {
  'src/cli/core-dump.ts': 'a file of the kernel about this process',
  'src/lib/cloud/outbox/store/database.ts': 'an empty file in the place of a lost one, in the folder that it has made',
  'src/lib/gateway/disk-watch.ts': 'keeps a folder open, so that no other one gets its inode, and reads nothing of it',
  'src/lib/gateway/output-sink.ts': 'its own stderr and stdout anew, without waiting for their reader',
  'src/lib/kiosk/setup/package-step.ts': 'reads a package that the person named',
  'src/lib/kiosk/adb/sync-send.ts': 'reads a package that the person named',
  'src/lib/net/ssh/login/identities.ts': 'reads keys of the person, without waiting for a pipe',
  'src/lib/net/ssh/host/known-hosts.ts': "the person's own list, which ssh itself writes through a link too",
  'src/lib/operator/media/media.ts': 'reads what it gives out, with O_NOFOLLOW',
  'src/lib/site/secret.ts': 'reads secrets, with O_NOFOLLOW, and looks whose they are',
  'src/lib/toolkit/own-check/file.ts':
    'reads a file that a list names, through a link too, without waiting for a pipe, up to a bound and a timeout',
  'src/lib/toolkit/release/installation.ts': 'copies its own installation into a folder that the demo has just made',
  'src/lib/tunnel/audit/lines.ts':
    'reads logs and copies that the person named, often through a link, and prints nothing of them',
  'src/lib/toolkit/demo/child-program.ts': 'a stream for a log, taken away first and made with O_EXCL',
};

const opening =
  /\b(open|openSync|writeFile\w*|appendFile\w*|copyFile\w*|cp|cpSync|truncate\w*|create(?:Read|Write)Stream)\b/;

/** Imported functions of the file system that open a file. */
function opensItself(source: string): boolean {
  return [...source.matchAll(/import\s*\{([^}]*)\}\s*from 'node:fs(?:\/promises)?'/g)].some(([, names = '']) =>
    opening.test(names.replaceAll(/type \w+/g, '')),
  );
}

describe('files are opened', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((path) => !path.startsWith('src/lib/lifecycle/'));

  it('by lifecycle, and by modules with a listed reason', () => {
    expect(sources.length).toBeGreaterThan(500);
    const found = sources.filter((path) => opensItself(readFileSync(`${root}${path}`, 'utf8')));
    expect(found.sort()).toEqual(Object.keys(exceptions).sort());
  });

  it('by no module that this test would miss', () => {
    const spellings = [
      "import { open } from 'node:fs/promises';",
      "import { type FileHandle, rm, writeFile as put } from 'node:fs/promises';",
      "import { createWriteStream } from 'node:fs';",
    ];
    expect(spellings.map(opensItself)).toEqual([true, true, true]);
    expect(opensItself("import { type FileHandle, rename } from 'node:fs/promises';")).toBe(false);
    // Other specifiers of the module are not used, so that none is missed.
    const others = sources.filter((path) =>
      /import (?:\* as )?\w+ from '(?:node:)?fs|require\(|from 'fs|import\('node:fs/.test(
        readFileSync(`${root}${path}`, 'utf8'),
      ),
    );
    expect(others).toEqual([]);
  });
});
